import json
import unittest

import hypothesis
from hypothesis import strategies

from mlgo.evaluation.programs import cost
from mlgo.evaluation.programs.program import Program, ProgramRun
from mlgo.run.testing.folder_case import FolderCase

hypothesis.settings.register_profile("mlgo", deadline=None, database=None, derandomize=True)
hypothesis.settings.load_profile("mlgo")


_FIELDS = strategies.sampled_from(["name", "dur", "args"])


def _event(name, microseconds, **arguments):
    return {"pid": 7, "tid": 7, "ph": "X", "ts": 0, "dur": microseconds, "name": name, "args": arguments}


class SummarizeCostTest(unittest.TestCase):
    def test_equal_compilers_are_equal(self):
        one = {name: [2.0, 1.0, 9.0] for name in (*cost.MEASURES, *cost.STAGES)}
        found = cost.summarize_cost({name: {"default": one, "same": one} for name in "abc"}, "default", 1)["same"]
        sums = {"sum": 6.0, "base_sum": 6.0, "ratio": 1.0, "low": 1.0, "high": 1.0, "sources": 3}
        self.assertEqual(found["wall_seconds"], sums)
        self.assertEqual(found["memory_mb"], {"median": 2.0, "base_median": 2.0, "more": 0.0, "sources": 3})

    def test_medians_of_turns_are_summed(self):
        def one(*seconds):
            return {name: list(seconds) for name in (*cost.MEASURES, *cost.STAGES)}

        samples = {
            "a": {"default": one(1, 1, 50), "policy": one(2, 2, 2)},
            "b": {"default": one(3, 3, 3), "policy": one(1, 0, 99)},
        }
        found = cost.summarize_cost(samples, "default", 1)["policy"]["inliner"]
        self.assertEqual((found["sum"], found["base_sum"], found["ratio"]), (3, 4, 0.75))
        samples["a"]["default"]["inliner"] = samples["b"]["default"]["inliner"] = [0, 0, 0]
        self.assertNotIn("inliner", cost.summarize_cost(samples, "default", 1)["policy"])


class ChosenSourcesTest(FolderCase):
    def test_they_are_spread_over_sizes_with_the_largest_among_them(self):
        names = [f"{size}.c" for size in range(1, 9)]
        for size, name in enumerate([*names, "9.S"], 1):
            self.file(name, b"x" * size)
        run = ProgramRun("go", (), None, ())
        program = Program("p", "", self.folder, (*names, "9.S"), (), (), (), (), (), {}, (run,))
        self.assertEqual(cost.chosen_sources(program, 3), ["8.c", "6.c", "3.c"])
        self.assertEqual(cost.chosen_sources(program, 99), names[::-1])


class TimeTraceTest(unittest.TestCase):
    def test_stages_are_totals_and_the_allocator_a_sum_over_functions(self):
        events = [
            {"ph": "b", "name": "Source", "args": {"detail": "a.h"}},
            _event("RunPass", 300, detail="Greedy Register Allocator"),
            _event("RunPass", 200, detail="Greedy Register Allocator"),
            _event("RunPass", 999, detail="Machine Instruction Scheduler"),
            _event("Total Frontend", 1000),
            _event("Total Optimizer", 2000),
            _event("Total CodeGenPasses", 4000),
            _event("Total Backend", 6000),
            {"ph": "M", "name": "process_name", "args": {"name": "clang"}},
        ]
        found = cost.parse_time_trace(json.dumps({"traceEvents": events}).encode())
        stages = {"front_end": 0.001, "optimiser": 0.002, "code_generation": 0.004}
        self.assertEqual(found, {**stages, "inliner": 0.0, "register_allocator": 0.0005})
        self.assertEqual(tuple(found), cost.STAGES)

    def test_a_trace_of_no_compile_is_refused(self):
        events = (b"", b"3", b'{"name": "Total Frontend"}', b'{"name": "Total Source", "dur": 3}')
        for content in (b"", b"{}", b"[]", *(b'{"traceEvents": [' + event + b"]}" for event in events)):
            with self.subTest(content), self.assertRaisesRegex(cost.TraceFailure, "is not a time trace"):
                cost.parse_time_trace(content)

    @hypothesis.given(strategies.binary())
    def test_bytes_that_are_no_trace_are_refused(self, content):
        with self.assertRaisesRegex(cost.TraceFailure, "is not a time trace"):
            cost.parse_time_trace(content)

    @hypothesis.given(
        strategies.recursive(
            strategies.none() | strategies.integers() | strategies.text(),
            lambda inner: strategies.lists(inner) | strategies.dictionaries(_FIELDS, inner),
        )
    )
    def test_events_of_any_other_form_are_refused(self, events):
        with self.assertRaisesRegex(cost.TraceFailure, "is not a time trace"):
            cost.parse_time_trace(json.dumps({"traceEvents": events}).encode())
