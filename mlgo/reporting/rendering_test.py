import html
import html.parser
import pathlib
import re
import shutil
import tempfile
import unittest
import unittest.mock

from hypothesis import HealthCheck, given, settings, strategies

from mlgo.compiler.symbols import Demangler
from mlgo.pages.change import Tone
from mlgo.pages.markdown import document, summary
from mlgo.pages.page import COMMANDS, Cell, Details, Group, Page, Paragraph, Point, Section, Table
from mlgo.pages.rendering import html as html_of
from mlgo.reporting.compose import compose
from mlgo.reporting.readable_names import with_readable_names
from mlgo.reporting.reading import read_folder
from mlgo.reporting.records import Content, Kind
from mlgo.reporting.testing import made_up
from mlgo.reporting.testing.folder_case import FolderTestCase, verdict_of
from mlgo.run.exit_codes import RunError
from mlgo.run.tabular import markdown_text

# JSON of the names that results of programs and explanations have, in every wrong place.
_OUTER = "size run totals cost symbols left_out importance examples differs_from_heuristic decisions".split()
_INNER = (
    "size run default policy code_bytes instructions geometric_mean low high ratio worst symbol share changed_decisions"
    " features adds feature programs sources"
).split()
_SCALARS = strategies.none() | strategies.booleans() | strategies.integers(-3, 10**6)
_SCALARS |= strategies.floats(allow_nan=False) | strategies.just("<i>")
_VALUES = strategies.recursive(
    _SCALARS,
    lambda inner: (
        strategies.lists(inner, max_size=3)
        | strategies.dictionaries(strategies.sampled_from(_INNER), inner, max_size=4)
    ),
    max_leaves=12,
)
_CONTENT = strategies.dictionaries(strategies.sampled_from(_OUTER), _VALUES, max_size=4)


class _Outline(html.parser.HTMLParser):
    """Tags, attributes and whether everything that is opened is closed."""

    _VOID = {"meta", "link", "br"}

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.tags, self.attributes, self.open, self.text, self.faults = [], [], [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in self._VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag):
        if not self.open or self.open[-1] != tag:
            self.faults.append(f"</{tag}> ends {self.open[-1:] or 'nothing'}")
        else:
            self.open.pop()

    def handle_data(self, data):
        self.text.append(data)


def _outline(content: bytes) -> _Outline:
    outline = _Outline()
    outline.feed(content.decode("utf-8"))
    outline.close()
    return outline


class PageTest(unittest.TestCase):
    folder: pathlib.Path
    page: Page
    html: bytes
    outline: _Outline
    text: str

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()), "all")
        made_up.write_everything(cls.folder)
        cls.page = compose(read_folder(cls.folder, "mine", None))
        cls.html = html_of(cls.page)
        cls.outline = _outline(cls.html)
        cls.text = " ".join(" ".join(cls.outline.text).split())

    def test_it_is_well_formed_with_one_heading_of_the_first_level(self):
        self.assertEqual((self.outline.faults, self.outline.open), ([], []))
        self.assertEqual(self.outline.tags.count("h1"), 1)
        levels = [int(tag[1]) for tag in self.outline.tags if re.fullmatch("h[1-6]", tag)]
        self.assertTrue(all(after <= before + 1 for before, after in zip(levels, levels[1:])), levels)
        ids = [value for name, value in self.outline.attributes if name == "id"]
        self.assertEqual(len(ids), len(set(ids)))

    def test_it_has_every_part(self):
        anchors = " ".join(section.anchor for section in self.page.sections)
        self.assertEqual(anchors, "result regressions programs training learning explanation failures provenance")
        words = ["Better", "alpha", "-inline-threshold=15", "feature_0", "broken.cpp", "timeout", "PPO", "b1" * 32]
        words += ["KL divergence", "box2d", "123 times inline instead of keep", "callee_users 1 (+2.25)"]
        for expected in words:
            self.assertIn(expected, self.text)

    def test_names_are_text(self):
        self.assertNotIn(b"<script", self.html)
        self.assertIn(made_up.HOSTILE.replace(" ", ""), self.text.replace(" ", ""))
        self.assertNotIn("script", self.outline.tags)

    def test_it_loads_nothing_and_runs_nothing(self):
        names = ("src", "href", "xlink:href", "action", "data", "srcset")
        references = [value for name, value in self.outline.attributes if name in names]
        self.assertEqual([value for value in references if not value.startswith("#") and value != "data:,"], [])
        self.assertEqual([name for name, _ in self.outline.attributes if name.startswith("on") or name == "style"], [])
        self.assertNotRegex(self.html.decode(), r"url\(|@import|https?://")

    def test_drawings_say_what_they_show(self):
        content = self.html.decode()
        for tag in re.findall(r"<svg[^>]*role=\"img\"[^>]*>", content):
            self.assertRegex(tag, 'aria-label="[^"]{10,}"')
        self.assertGreater(content.count('role="img"'), 10)

    def test_no_folder_of_this_machine_is_in_it(self):
        self.assertNotIn(str(self.folder.parent), self.html.decode())

    def test_the_same_inputs_elsewhere_give_the_same_bytes(self):
        scratch = self.enterContext(tempfile.TemporaryDirectory())
        copy = pathlib.Path(shutil.copytree(self.folder, pathlib.Path(scratch, "all")))
        again = compose(read_folder(copy, "mine", None))
        self.assertEqual(html_of(again), self.html)
        self.assertEqual(summary(again), summary(self.page))

    def test_the_verdict_comes_first_with_interval_and_samples(self):
        self.assertIs(verdict_of(self.page).tone, Tone.BETTER)
        # Code and instructions of real programs, each with one number, one interval and the worst program.
        figures = "−2.00 % (−3.00 … −1.00), 2 programs; worst sqlite −0.30 %."
        measures = ("code", "instructions at -Oz", "instructions")
        expected = " ".join(f"Better: {measure} of real programs {figures}" for measure in measures)
        self.assertEqual(verdict_of(self.page).text.replace("\N{NARROW NO-BREAK SPACE}", " "), expected)

    def test_regressions_have_the_command_that_shows_them_again(self):
        section = next(section for section in self.page.sections if section.anchor == "regressions")
        table = section.blocks[0]
        assert isinstance(table, Table)
        self.assertIn("--problem=inlining_for_size", table.rows[0][-1].text)
        hostile = [row for row in table.rows if "script" in row[0].text]
        self.assertTrue(all("'--module=lib/_Z1f<script>" in row[-1].text for row in hostile))
        self.assertIn(r"'--module_filter=^lib/6\.cpp$'", table.rows[0][-1].text)


class OtherPagesTest(FolderTestCase):
    def page(self, name, better):
        made_up.write_evaluation(self.folder / name, {"p": better})
        return compose(self.read(name))

    def test_an_unfinished_run_is_reported_as_unfinished(self):
        made_up.write_run(self.folder / "young", ended=False)
        page = compose(self.read("young"))
        self.assertIn("no result on held-out code yet", verdict_of(page).text)
        self.assertIn("has not ended", " ".join(point.text for point in page.points))
        self.assertEqual(_outline(html_of(page)).faults, [])

    def test_a_worse_policy_is_called_worse(self):
        page = self.page("bad", -0.05)
        self.assertIs(verdict_of(page).tone, Tone.WORSE)
        self.assertTrue(verdict_of(page).text.startswith("Worse: "))
        self.assertTrue(summary(page).decode().splitlines()[2].startswith("❌ **Worse"))

    def test_the_default_itself_is_not_known_to_differ(self):
        page = self.page("same", 0.0)
        self.assertIs(verdict_of(page).tone, Tone.EQUAL)
        self.assertTrue(all(card.change.verdict == "not known to differ" for card in page.cards))
        self.assertIn("No regression.", html_of(page).decode())

    def test_several_policies_are_told_apart(self):
        made_up.write_evaluation(self.folder / "old", {"trained": 0.02})
        made_up.write_evaluation(self.folder / "new", {"trained": 0.04})
        page = compose([*self.read("old"), *self.read("new")])
        self.assertEqual([card.title for card in page.cards], ["old: alpha", "old: beta", "new: alpha", "new: beta"])
        self.assertEqual(_outline(html_of(page)).faults, [])

    def test_results_without_tables_have_no_sections_of_rows(self):
        made_up.write_evaluation(self.folder / "short", {"p": 0.02})
        (self.folder / "short" / "modules.csv").unlink()
        anchors = [section.anchor for section in compose(self.read("short")).sections]
        self.assertIn("result", anchors)
        self.assertNotIn("regressions", anchors)

    def test_parts_may_be_missing_and_those_of_unknown_shape_are_refused(self):
        self.file("odd/result.json", '{"kind": "programs", "totals": null}')
        self.assertEqual(_outline(html_of(compose(self.read("odd")))).faults, [])
        self.file("odd/result.json", '{"kind": "programs", "size": 3}')
        with self.assertRaisesRegex(RunError, r"results \(odd\): is not one that this version writes"):
            compose(self.read("odd"))

    @settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(_CONTENT)
    def test_foreign_content_is_shown_or_refused(self, content):
        for kind in (Kind.PROGRAMS, Kind.EXPLANATION):
            try:
                page = compose([Content(kind, "p", "p", content)])
            except RunError as error:
                self.assertIn("Run the command that wrote it again", str(error))
                continue
            self.assertEqual(_outline(html_of(page)).faults, [])
            summary(page)
            document(page)

    def test_markdown_escapes_names(self):
        text = summary(self.page("e", -0.05)).decode()
        self.assertEqual(markdown_text("<b>|`[a](b)*_"), "\\<b\\>\\|\\`\\[a\\](b)\\*\\_")
        worst = text[text.index("<details>") :].splitlines()[2:-4]
        self.assertIn("lib/_Z1f<script>", text)
        # As many columns in every row: a bar in a name is none.
        self.assertEqual({len(re.findall(r"(?<!\\)\|", line)) for line in worst if line.startswith("|")}, {6})
        # The name is code, in more backticks than it holds.
        self.assertRegex(text, r"`` lib/_Z1f<script>.*\.cpp ``")


class ReadableNamesTest(FolderTestCase):
    def setUp(self):
        super().setUp()
        script = "sed 's/_Z4longv/long<aaaaaaaaaa, '$(printf %0120d 0)'>()/; s/_Z1fv/f<\\&>()/'"
        self.demangler = Demangler(self.script("cxxfilt", script))

    def page(self, blocks) -> Page:
        verdict = Point(Tone.WORSE, "The worst regression is +3 % in _Z1fv.")
        section = Section("regressions", "R", "R", [Group("g", [*blocks, Details("d", blocks)])])
        return with_readable_names(Page("t", "l", verdict, [verdict], [], [section]), self.demangler)

    def test_names_are_demangled_where_people_read_them(self):
        reproduce = Cell("explain --function=_Z1fv", code=True, folded=COMMANDS)
        rows = [[Cell.of_name("_Z1fv"), reproduce], [Cell.of_name("_Z4longv"), Cell("main", code=True)]]
        page = self.page([Table("c", ("function", "to reproduce"), rows), Paragraph("_Z1fv")])
        text = html_of(page).decode()
        self.assertEqual(verdict_of(page).text, "The worst regression is +3 % in f<&>().")
        self.assertIn('<code title="f&lt;&amp;&gt;()\n_Z1fv">', text)
        self.assertIn('explain</span> <span class="word">--function=_Z1fv', text)
        # Shortened, with the full name as tooltip and when it is unfolded.
        full = f"long&lt;aaaaaaaaaa, {'0' * 120}&gt;()"
        self.assertIn(f'<summary title="{full}\n_Z4longv"><code>long&lt;…&gt;()</code></summary>', text)
        self.assertEqual(_outline(html_of(page)).faults, [])
        self.assertIn("| `long<…>()` |", summary(page).decode())

    def test_a_page_without_such_names_is_the_same(self):
        page = self.page([Table("c", ("function",), [[Cell.of_name("main")]])])
        self.assertIs(with_readable_names(page, Demangler(self.folder / "absent")), page)
