"""The development clang logs what mlgo/problems describes, and decides as the NumPy reference does."""

import json
import pathlib
import subprocess
import tempfile
import unittest
from typing import Any

import numpy as np

from mlgo.compiler.training_log import TrainingLog, read_training_log
from mlgo.policy.directory import load_policy
from mlgo.policy.reference import decide_many
from mlgo.problems.problem import Problem, load_problem
from mlgo.problems.tensor import LOG_TYPE_OF_NUMPY_NAME, TensorSpec
from mlgo.run.locate import runfile

#: Short name in tests/policies -> problem, the level at which it is compiled, the feature its fewer_features policy
#: lacks.
PROBLEMS = {
    "eviction": ("regalloc_eviction", "-O2", "progress"),
    "inlining": ("inlining_for_size", "-Oz", "callee_users"),
    "priority": ("regalloc_priority", "-O2", "stage"),
}
_LIVE = 30
_HELPERS = 24


def c_source() -> str:
    """Calls of functions of growing size, from loops in which more values are live than there are registers."""
    helpers = []
    for n in range(_HELPERS):
        body = " ".join(f"x += p[i + {k}] * {k + 3};" for k in range(n % 8))
        call = f"x += help{n // 2}(x & {n}, p);" if n else ""
        loop = f"for (int i = 0; i < x % {n + 2}; ++i) {{ {body} }}"
        helpers.append(f"static int help{n}(int x, const int *p) {{ {loop} {call} return x; }}")
    live = " ".join(f"long v{n} = p[{n}];" for n in range(_LIVE))
    steps = " ".join(f"v{n} = v{n} * v{(n + 7) % _LIVE} + p[i + {n}];" for n in range(_LIVE))
    total = " + ".join(f"v{n}" for n in range(_LIVE))
    mixes = [
        f"long mix{m}(const long *p, const int *q, int n) {{ {live} for (int i = 0; i < n; ++i) {{ {steps} "
        f"v{m} += help{3 * m}(i, q) + help{3 * m + 1}({m}, q) + help{3 * m + 2}(q[i], q); }} return {total}; }}"
        for m in range(_HELPERS // 3)
    ]
    return "\n".join(helpers + mixes) + "\n"


def described(spec: TensorSpec) -> dict:
    return {"name": spec.name, "type": LOG_TYPE_OF_NUMPY_NAME[spec.dtype], "port": 0, "shape": list(spec.shape)}


class DevelopmentClangTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        (self.folder / "source.c").write_text(c_source())

    def compile(self, level: str, flags: list[str]) -> bytes:
        """The object that the development clang makes of `c_source`; fails when it says anything."""
        target = ["-cc1", "-triple", "x86_64-unknown-linux-gnu", level, "-emit-obj", "source.c", "-o", "source.o"]
        command = [str(runfile("development/clang")), *target, *flags]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=300, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return (self.folder / "source.o").read_bytes()

    def log_of(self, problem: Problem, level: str, model: pathlib.Path | None) -> tuple[bytes, TrainingLog]:
        """(header line, log) of compiling `c_source` with `model` deciding, or the default heuristic."""
        log = self.folder / "training.log"
        self.compile(level, problem.development_flags(str(log), None if model is None else str(model)))
        content = log.read_bytes()
        return content.split(b"\n", 1)[0], read_training_log(log, problem)

    def test_header_is_what_the_problem_says(self):
        for name, level, _ in PROBLEMS.values():
            with self.subTest(name):
                problem = load_problem(name)
                header, log = self.log_of(problem, level, None)
                expected: dict[str, Any] = {"features": [described(spec) for spec in problem.logged_specs()]}
                if problem.logged_score_spec is not None:
                    expected["score"] = described(problem.logged_score_spec)
                self.assertEqual(json.loads(header), expected)
                assert problem.action_bounds is not None
                low, high = problem.action_bounds
                self.assertTrue(((log.actions >= low) & (log.actions <= high)).all())
                self.assertGreater(log.observation_count, 20)
                if problem.default_decision_spec is not None:
                    default = log.extra_outputs[problem.default_decision_spec.name]
                    np.testing.assert_array_equal(default.reshape(-1), log.actions)

    def check_policy(self, kind: str, short: str) -> TrainingLog:
        name, level, _ = PROBLEMS[short]
        problem = load_problem(name)
        network, _ = load_policy(runfile(f"tests/policies/{kind}_{short}_policy/policy.json").parent, problem)
        _, log = self.log_of(problem, level, runfile(f"tests/policies/{kind}_{short}_tflite/model.tflite").parent)
        expected = decide_many(network, problem, log.features)
        np.testing.assert_array_equal(log.actions, expected.reshape(-1))
        self.assertGreater(len(np.unique(log.actions)), 1, f"{kind} {short}: the policy always answers the same")
        return log

    def test_random_policies(self):
        for short in PROBLEMS:
            with self.subTest(short):
                self.check_policy("random", short)

    def test_policies_that_know_fewer_features(self):
        for short, (_, _, feature) in PROBLEMS.items():
            with self.subTest(short):
                log = self.check_policy("fewer_features", short)
                # The compiler computes and logs the feature all the same.
                self.assertGreater(len(np.unique(log.features[feature])), 1)

    def test_the_threshold_is_what_the_default_does_for_size(self):
        problem = load_problem("inlining_for_size")
        _, log = self.log_of(problem, "-Oz", None)
        np.testing.assert_array_equal(log.actions, log.features["cost_estimate"].reshape(-1) < 5)
        default = self.compile("-Oz", [])
        for kind, same in (("threshold", True), ("random", False)):
            model = runfile(f"tests/policies/{kind}_inlining_tflite/model.tflite").parent
            self.assertEqual(self.compile("-Oz", problem.development_flags(None, str(model))) == default, same, kind)


if __name__ == "__main__":
    unittest.main()
