"""The pages of searches."""

import html
import unittest

from mlgo.pages.markdown import summary
from mlgo.pages.rendering import html as html_of
from mlgo.reporting.compose import compose
from mlgo.reporting.provenance import tuning_command
from mlgo.reporting.records import Content, Record
from mlgo.reporting.testing import made_up_searches
from mlgo.reporting.testing.folder_case import FolderTestCase
from mlgo.run.exit_codes import RunError

_SPACE = "\N{NARROW NO-BREAK SPACE}"


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
        for write, key in ((made_up_searches.write_tuning, "curve"), (made_up_searches.write_eviction_tuning, "gains")):
            write(self.folder / "old")
            path = self.folder / "old" / "result.json"
            path.write_text(path.read_text(encoding="utf-8").replace(f'"{key}"', '"other"'), encoding="utf-8")
            with self.assertRaisesRegex(RunError, f"lacks '{key}'"):
                compose(self.read("old"))


class EvictionTuningTest(FolderTestCase):
    def page(self, **settings) -> str:
        made_up_searches.write_eviction_tuning(self.folder / "tuned", **settings)
        text = html.unescape(html_of(compose(self.read("tuned"))).decode())
        return text.partition("<main")[2]

    def test_a_search(self):
        content = self.page()
        for said in (
            "Better: cost against the compiler's default −5.7",
            "Better: sum of the costs against the compiler's default",
            "covers 20 of 22 modules: 180 live ranges in 60 functions. 1 modules have no live range",
            "1 modules are left to the compiler",
            "of 3 of 60 functions is among its last quarter of tries",
            f"−5.50{_SPACE}% in the geometric mean, −7.50{_SPACE}% in the sum",
            "geometric mean over functions after 24 tries",
            f"−50.00{_SPACE}%",
            "another module has this source",
        ):
            self.assertIn(said.lower(), content.lower())
        page = compose(self.read("tuned"))
        self.assertNotIn("<script>", html_of(page).decode())
        self.assertIn("against the compiler's default", summary(page).decode())

    def test_the_command(self):
        made_up_searches.write_eviction_tuning(self.folder / "tuned")
        self.assertEqual(
            _command(self.read("tuned")),
            './bazelw run //mlgo:tune -- --problem=regalloc_eviction --corpus="$CORPUS" --policy="$POLICY"'
            " --compiles=24 --seed=1",
        )

    def test_nothing_gained(self):
        content = self.page(gaining=False)
        self.assertNotIn("whose cost fell most", content)
        self.assertIn(f"Cost against the default after 24 tries of each function: 0.00{_SPACE}%", content)


if __name__ == "__main__":
    unittest.main()
