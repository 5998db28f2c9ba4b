"""The verdict of a page: one line, no claim that the measures or the sample do not carry; equal counts everywhere."""

from mlgo.pages.change import Tone
from mlgo.pages.markdown import summary
from mlgo.pages.rendering import html as html_of
from mlgo.reporting.compose import compose
from mlgo.reporting.testing import made_up
from mlgo.reporting.testing.folder_case import FolderTestCase, verdict_of


class VerdictTest(FolderTestCase):
    def page(self, corpora, **more):
        made_up.write_scores(self.folder / "e", corpora, **more)
        return compose(self.read("e"))

    def test_a_mean_that_the_weighted_sum_contradicts_is_not_called_better(self):
        page = self.page({"jq": made_up.CONTRADICTORY})
        self.assertIs(verdict_of(page).tone, Tone.EQUAL)
        sum_and_mean = (
            r"the weighted sum of 30 functions says worse \(\+9\.93.*\), their geometric mean says better \(.*\)"
        )
        end = r"not a gain, 30 functions in 30 modules; code 0\.00.%\."
        self.assertRegex(verdict_of(page).text, f"^The measures disagree: {sum_and_mean}: {end}$")
        self.assertEqual([card.change.verdict for card in page.cards], ["the measures disagree"])
        self.assertIn("f29", html_of(page).decode())

    def test_one_number_one_interval_and_the_worst_corpus(self):
        """Corpora weigh the same: adding up would be a verdict on the large one."""
        small = [(10.0, 10.0 * (0.98 + index / 1000.0)) for index in range(10)]
        large = [(1e6 * (index + 1), 1e6 * (index + 1) * 0.9) for index in range(10)]
        page = self.page({"large": large, "small": small, "other": [(10.0, 9.7)] * 9})
        mean = r"score, weighted sum of 3 corpora of equal weight −4\.\d\d.% \(−.* … \+.*\)"
        self.assertRegex(verdict_of(page).text, rf"^Not known to differ: {mean}; worst small −1\.55.%\.$")
        alike = self.page({name: [(10.0, 9.7)] * 9 for name in ("a", "b", "c")})
        self.assertIs(verdict_of(alike).tone, Tone.BETTER)

    def test_counts_have_no_arrow(self):
        """59 better and 57 worse functions show nothing, and neither do 58 and 59."""
        for better, worse in ((59, 57), (58, 59)):
            page = self.page({"c": [(10.0, 9.0)] * better + [(10.0, 11.0)] * worse})
            (point,) = [each for each in page.points if f"{better} are better" in each.text]
            self.assertIs(point.tone, Tone.PLAIN)
            self.assertNotIn("✅", summary(page).decode())

    def test_two_modules_are_too_small_for_a_claim(self):
        page = self.page({"tiny": [(10.0, 8.0), (20.0, 17.0)]})
        self.assertIs(verdict_of(page).tone, Tone.EQUAL)
        expected = "Too small for a claim (only 2 modules were compared, and a claim needs 8)"
        self.assertIn(expected, verdict_of(page).text)
        self.assertEqual([card.change.tone for card in page.cards], [Tone.EQUAL])

    def test_a_corpus_without_a_function_to_compare_is_no_result(self):
        page = self.page({"empty": []})
        self.assertEqual(verdict_of(page).text, "There is no result on held-out code yet.")

    def test_older_results_without_sums_are_read(self):
        """The sum comes from the table; without a table a sentence says that it is missing."""
        verdict = self.page({"jq": made_up.CONTRADICTORY}).verdict
        with self.edited("e/result.json") as content:
            for name in ("weighted_sum", "modules"):
                del content["corpora"]["jq"][name]
        self.assertEqual(compose(self.read("e")).verdict, verdict)
        (self.folder / "e" / "modules.csv").unlink()
        page = compose(self.read("e"))
        self.assertTrue(verdict_of(page).text.startswith("Better: score, geometric mean over "), verdict_of(page).text)
        self.assertIn("The weighted sum is missing: this result does not record it", html_of(page).decode())

    def test_modules_are_counted_alike_everywhere(self):
        made_up.write_scores(self.folder / "e", {"c": [(10.0, 9.9)] * 9})
        with self.edited("e/result.json") as content:
            content["corpora"]["c"]["modules"] = 12  # Three modules have no function with a decision.
        page = compose(self.read("e"))
        self.assertIn("evaluated on 12 modules", page.lead)
        self.assertEqual([card.samples for card in page.cards], ["9 functions in 9 of 12 modules"])

    def test_a_small_corpus_has_as_many_validation_modules_as_were_validated(self):
        made_up.write_run(self.folder / "run")
        path = self.folder / "run" / "metrics.jsonl"
        path.write_text(path.read_text("utf-8").replace('"modules": 8', '"modules": 3'), "utf-8")
        said = html_of(compose(self.read("run"))).decode()
        self.assertIn("3 validation modules every 3 iterations", said)
        self.assertNotIn("8 validation modules", said)
