"""//mlgo:evaluate_programs with policies that are in no release clang: the development clang asks their models.
Arguments: clang, ld.lld, the sysroot's usr, valgrind.
"""

import json
import pathlib
import sys
import tempfile
import unittest

import numpy as np

from mlgo.learning.linear_network import linear_network
from mlgo.learning.network import NetworkConfig, initial_network
from mlgo.learning.normalization import chosen_normalizer
from mlgo.policy.saved_model import save_policy
from mlgo.problems.inlining_for_size.problem import PROBLEM as INLINING
from mlgo.run.exit_codes import ExitCode
from tests.end_to_end import command, program_tools, real_modules

_CLANG, _LINKER, _USR, _VALGRIND = (pathlib.Path(path).absolute() for path in sys.argv[1:5])
del sys.argv[1:5]

# The heuristic does not inline f at -Oz, whose calls cost more than 5 and less than 500.
_SOURCE = """
#include <stdio.h>
static __attribute__((used)) int f(int a, int b) {
  for (volatile int turn = 0; turn < 9; turn = turn + 1) a = a * b + (a >> 3) - (b << 2) + turn % 5;
  return a;
}
int main(int count, char** words) { return printf("%d %d\\n", f(count, 3), f(count, 5)) < 0 || words == 0; }
"""


class OwnPolicyTest(unittest.TestCase):
    folder: pathlib.Path

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        (cls.folder / "main.c").write_text(_SOURCE, encoding="utf-8")
        run = {"name": "go", "arguments": []}
        program = {"name": "small", "root": ".", "sources": ["main.c"], "runs": [run]}
        (cls.folder / "small.json").write_text(json.dumps(program), encoding="utf-8")
        # The stock decision, cost_estimate < 5, and one that inlines up to a cost of 500.
        normalizer = chosen_normalizer({"cost_estimate": (-1000, 0, 5, 500, 1000)}, INLINING)
        like = initial_network(normalizer, 1, NetworkConfig((4,), (4,)))
        for name, bias in (("stock", 2.4), ("eager", 4.2)):
            network = linear_network(like, np.array([-1.0 / 1.5] * 4 + [bias - 1.0]))
            save_policy(network, INLINING, cls.folder / name)

    def evaluate(self, *flags):
        tools = program_tools.flags(self.folder, _CLANG, _LINKER, _USR, _VALGRIND)
        return command.run(*tools, f"--program_file={self.folder / 'small.json'}", *flags, program="evaluate_programs")

    def test_a_policy_stands_beside_the_shipped_one(self):
        code, said = self.evaluate(
            "--problem=inlining_for_size",
            f"--development_clang={real_modules.development_clang()}",
            f"--policy={self.folder / 'stock'}",
            f"--policy=mine={self.folder / 'eager'}",
            "--inline_thresholds=",
            "--cost_sources=1",
            "--cost_turns=1",
            f"--output_dir={self.folder / 'out'}",
        )
        self.assertEqual(code, ExitCode.DONE, said)
        result = json.loads((self.folder / "out" / "result.json").read_text(encoding="utf-8"))
        sizes = result["size"]["small"]
        self.assertEqual(sizes["stock"], sizes["default"])
        self.assertNotEqual(sizes["mine"]["code_bytes"], sizes["default"]["code_bytes"])
        self.assertEqual(set(result["verdicts"]["size"]), {"policy", "stock", "mine"})
        self.assertIn("mine", result["executed"]["small"])
        # Asking a model takes other time than the code of a policy.
        self.assertEqual(set(result["cost"]["-Oz"]), {"release", "policy"})
        self.assertIn("- Size at -Oz, mine: ", (self.folder / "out" / "summary.md").read_text(encoding="utf-8"))

    def test_refusals(self):
        policy = f"--policy={self.folder / 'stock'}"
        for flags, message in (
            ([policy], "needs a problem. Give --problem=inlining_for_size or"),
            ([policy, "--problem=inlining_for_size", "--lto=thin"], "because the linker cannot ask a model"),
            ([f"--policy=threshold_5={self.folder}", "--problem=inlining_for_size"], "'threshold_5', which is taken"),
            ([policy, "--problem=regalloc_eviction"], "regalloc_eviction"),
        ):
            code, said = self.evaluate(*flags, f"--output_dir={self.folder / 'refused'}")
            self.assertEqual(code, ExitCode.USER_ERROR, said)
            self.assertIn(message, said)


if __name__ == "__main__":
    unittest.main()
