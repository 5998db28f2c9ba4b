import unittest

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mlgo.run.exit_codes import RunError
from mlgo.search import decision_file

UNHURRIED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
SITE = "caller\tf%20g\torigin\t3\t1"
sites = st.lists(st.text("abc%_", min_size=1), min_size=5, max_size=5).map("\t".join)
sections = st.builds(
    decision_file.Section,
    source=st.text(min_size=1).filter(lambda text: text != decision_file.ANY_MODULE),
    otherwise=st.sampled_from(["default", "policy", decision_file.otherwise_below(-15)]),
    decisions=st.dictionaries(sites, st.booleans()),
)


class DecisionFileTest(unittest.TestCase):
    def test_the_format(self):
        content = decision_file.written(
            [
                decision_file.Section("src/a b.c", "default", {SITE: True}),
                decision_file.Section(decision_file.ANY_MODULE, decision_file.otherwise_below(5), {}),
            ]
        )
        first, second = f"src/a%20b.c\notherwise default\ninline\t{SITE}", "*\notherwise cost-below 5"
        self.assertEqual(content.decode(), f"mlgo-decisions 1\nmodule\t{first}\nmodule\t{second}\n")

    def test_fields(self):
        self.assertEqual((decision_file.caller_of(SITE), decision_file.callee_of(SITE)), ("caller", "f g"))
        self.assertEqual(decision_file.place_of(SITE), "caller\tf%20g\torigin\t3")

    @UNHURRIED
    @given(st.lists(sections, max_size=3, unique_by=lambda section: section.source))
    def test_what_is_written_is_read(self, given_sections):
        self.assertEqual(decision_file.read(decision_file.written(given_sections), "file"), given_sections)

    def test_what_is_refused(self):
        head = "mlgo-decisions 1\nmodule\ta.c\n"
        for content, named in (
            ("", "first line"),
            ("mlgo-decisions 2\n", "first line"),
            ("mlgo-decisions 1\ninline\t" + SITE, "line 2"),
            (head, "line 2"),
            (head + "otherwise nothing\n", "line 3"),
            (head + "otherwise cost-below 1x\n", "line 3"),
            (head + "otherwise default\ninline\ta\tb", "line 4"),
            (head + "otherwise default\nmaybe\t" + SITE, "line 4"),
            (head + f"otherwise default\nkeep\t{SITE}\ninline\t{SITE}\n", "call site a second time in line 5"),
            (head + "otherwise default\nmodule\ta.c\notherwise default\n", "module 'a.c' a second time in line 4"),
            (head + "otherwise default\nspare\tf\t0\t00\n", "line 4"),
        ):
            with self.assertRaisesRegex(RunError, named):
                decision_file.read(content.encode(), "file")

    @UNHURRIED
    @given(st.binary(max_size=80))
    def test_any_bytes_give_sections_or_an_error(self, content):
        first = b"mlgo-decisions 1\n"
        for bytes_read in (content, first + b"module\t" + content):
            try:
                decision_file.read(bytes_read, "file")
            except RunError:
                pass
