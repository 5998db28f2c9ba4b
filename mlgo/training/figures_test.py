import os

from hypothesis import HealthCheck, given, settings, strategies

from mlgo.run.exit_codes import RunError
from mlgo.run.testing.folder_case import FolderCase
from mlgo.training import figures

_FIGURES = strategies.dictionaries(
    strategies.sampled_from(["kl", "loss"]), strategies.floats(allow_nan=False, allow_infinity=False)
)
_RECORDS = strategies.lists(_FIGURES, max_size=4)


class FiguresTest(FolderCase):
    @settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(_RECORDS, _RECORDS)
    def test_what_was_written_is_read(self, iterations, validations):
        both = iterations, validations
        written = tuple([{"iteration": number, **each} for number, each in enumerate(records)] for records in both)
        self.assertEqual(figures.parse_metrics(figures.metrics_lines(*written), "x"), written)

    def test_a_line_without_its_end_is_passed_over(self):
        content = figures.metrics_lines([{"iteration": 0, "kl": 1.0}], [])
        self.assertEqual(figures.parse_metrics(content + content[:-1], "x"), ([{"iteration": 0, "kl": 1.0}], []))

    def test_any_other_line_is_named(self):
        first = b'{"kind": "iteration", "iteration": 0}\n'
        unknown, untyped = b'{"kind": "other", "iteration": 1}', b'{"kind": "iteration", "iteration": "1"}'
        for line in (unknown, b'{"kind": "iteration"}', b"[]", b"3", untyped):
            with self.assertRaisesRegex(RunError, "x, line 2: is neither an iteration's nor a validation's figures"):
                figures.parse_metrics(first + line + b"\n", "x")
        with self.assertRaisesRegex(RunError, "x, line 1: is not JSON"):
            figures.parse_metrics(b"{\n", "x")

    def test_events_go_to_a_folder_with_any_bytes_in_its_name(self):
        folder = self.folder / os.fsdecode(b"\xff \xc3\xa4")
        figures.TensorBoard(folder).write("iteration", {"iteration": 1, "kl": 0.5})
        (events,) = folder.iterdir()
        self.assertIn(b"iteration/kl", events.read_bytes())
