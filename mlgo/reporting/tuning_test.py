"""The pages of searches."""

import html
import unittest

from mlgo.pages.rendering import html as html_of
from mlgo.reporting.compose import compose
from mlgo.reporting.provenance import tuning_command
from mlgo.reporting.records import Content, Record
from mlgo.reporting.testing import made_up_searches
from mlgo.reporting.testing.folder_case import FolderTestCase
from mlgo.run.exit_codes import RunError


def _command(records: list[Record]) -> str:
    """The command of the search that these are."""
    (tuning,) = records
    assert isinstance(tuning, Content)
    return tuning_command(tuning)


class TuningTest(FolderTestCase):
    def page(self, **settings) -> str:
        made_up_searches.write_tuning(self.folder / "tuned", **settings)
        return html.unescape(html_of(compose(self.read("tuned"))).decode())

    def test_a_search(self):
        content = self.page()
        self.assertIn("Better: linked code against the compiler's default", content)
        self.assertIn("−3.50\N{NARROW NO-BREAK SPACE}% after 20 compiles of each module", content)
        self.assertIn("(--compiles=140), they would first try 12 changes, in 5 compiles", content)
        self.assertIn("all calls of g: inlined; the call of", content)
        again = _command(self.read("tuned"))
        self.assertEqual(
            again,
            './bazelw run //mlgo:tune -- --problem=inlining_for_size --corpus="$CORPUS" --policy="$POLICY"'
            " --compiles=70 --reward=comdat_weighted_code --seed=1",
        )
        self.assertNotIn("<script>", html_of(compose(self.read("tuned"))).decode())

    def test_a_budget_is_what_a_second_run_would_double(self):
        content = self.page(budget=1000.0)
        self.assertIn("(--budget=2000)", content)
        self.assertIn("--budget=1000 ", _command(self.read("tuned")))

    def test_a_search_that_ended(self):
        content = self.page(cut=False)
        self.assertIn("nothing was left to try", content)
        self.assertNotIn("for want of compiles", content)

    def test_a_search_of_another_version_is_refused(self):
        made_up_searches.write_tuning(self.folder / "old")
        path = self.folder / "old" / "result.json"
        path.write_text(path.read_text(encoding="utf-8").replace('"curve"', '"other"'), encoding="utf-8")
        with self.assertRaisesRegex(RunError, "lacks 'curve'"):
            compose(self.read("old"))


if __name__ == "__main__":
    unittest.main()
