"""Reading clang's time traces."""

import json
import unittest

import hypothesis
from hypothesis import strategies

from mlgo.evaluation.programs.cost import STAGES, TraceFailure, parse_time_trace

hypothesis.settings.register_profile("mlgo", deadline=None, database=None, derandomize=True)
hypothesis.settings.load_profile("mlgo")


def _event(name, microseconds, **arguments):
    return {"pid": 7, "tid": 7, "ph": "X", "ts": 0, "dur": microseconds, "name": name, "args": arguments}


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
        found = parse_time_trace(json.dumps({"traceEvents": events}).encode())
        self.assertEqual(
            found,
            {
                "front_end": 0.001,
                "optimiser": 0.002,
                "code_generation": 0.004,
                "inliner": 0.0,
                "register_allocator": 0.0005,
            },
        )
        self.assertEqual(tuple(found), STAGES)

    def test_a_trace_of_no_compile_is_refused(self):
        events = (b"", b"3", b'{"name": "Total Frontend"}', b'{"name": "Total Source", "dur": 3}')
        for content in (b"", b"{}", b"[]", *(b'{"traceEvents": [' + event + b"]}" for event in events)):
            with self.subTest(content), self.assertRaisesRegex(TraceFailure, "is not a time trace"):
                parse_time_trace(content)

    @hypothesis.given(strategies.binary())
    def test_bytes_that_are_no_trace_are_refused(self, content):
        with self.assertRaisesRegex(TraceFailure, "is not a time trace"):
            parse_time_trace(content)

    @hypothesis.given(
        strategies.recursive(
            strategies.none() | strategies.integers() | strategies.text(),
            lambda inner: (
                strategies.lists(inner)
                | strategies.dictionaries(strategies.sampled_from(["name", "dur", "args"]), inner)
            ),
        )
    )
    def test_events_of_any_other_form_are_refused(self, events):
        with self.assertRaisesRegex(TraceFailure, "is not a time trace"):
            parse_time_trace(json.dumps({"traceEvents": events}).encode())


if __name__ == "__main__":
    unittest.main()
