"""//mlgo:evaluate --program: score and executed instructions in one command, with the real compiler and Valgrind.

Arguments: clang, ld.lld, the sysroot's usr, valgrind.
"""

import json
import os
import pathlib
import sys
import tempfile
import unittest

from mlgo.learning.network import NetworkConfig, initial_network
from mlgo.learning.normalization import chosen_normalizer
from mlgo.policy.saved_model import save_policy
from mlgo.problems.regalloc_eviction.problem import PROBLEM
from mlgo.run.exit_codes import ExitCode
from tests.end_to_end import command, program_tools, real_modules

_CLANG, _LINKER, _USR, _VALGRIND = (pathlib.Path(path).absolute() for path in sys.argv[1:5])
del sys.argv[1:5]

# More values than registers, in a loop: some of them are evicted.
_VALUES = range(30)
_HOT = f"""#include <stdio.h>
__attribute__((noinline)) unsigned long Work(unsigned long* p) {{
  {" ".join(f"unsigned long v{i} = p[{i}];" for i in _VALUES)}
  for (int r = 0; r < 200; ++r) {{
    {" ".join(f"v{i} += v{(i * 7 + 3) % 30} * v{(i * 11 + 5) % 30} ^ p[(r + {i}) % 64];" for i in _VALUES)}
  }}
  return {" ^ ".join(f"v{i}" for i in _VALUES)};
}}
int main(void) {{
  unsigned long p[64];
  for (unsigned i = 0; i < 64; ++i) p[i] = i * 2654435761u + i;
  return !printf("%lu\\n", Work(p));
}}
"""


class EvaluateCountsTest(unittest.TestCase):
    folder: pathlib.Path
    flags: list[str]

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        real_modules.smallest("held_out", 3, cls.folder / "corpus")
        network = initial_network(chosen_normalizer({"nr_urgent": (0, 1, 2, 4)}, PROBLEM), 1, NetworkConfig((4,), (4,)))
        save_policy(network, PROBLEM, cls.folder / "random")
        (cls.folder / "hot.c").write_text(_HOT, encoding="utf-8")
        description = {"name": "hot", "root": ".", "sources": ["hot.c"], "runs": [{"name": "run", "arguments": []}]}
        (cls.folder / "hot.json").write_text(json.dumps(description), encoding="utf-8")
        tools = program_tools.flags(cls.folder, _CLANG, _LINKER, _USR, _VALGRIND)[1:]  # Without the release clang.
        cls.flags = [
            *tools,
            f"--clang={real_modules.development_clang()}",
            f"--policy=random={cls.folder / 'random'}",
            f"--corpus=few={cls.folder / 'corpus'}",
            f"--program={cls.folder / 'hot.json'}",
            f"--output_dir={cls.folder / 'out'}",
        ]

    def test_one_command_prints_score_and_counts(self):
        code, said = command.run("--problem=regalloc_eviction", *self.flags, program="evaluate")
        self.assertEqual(code, ExitCode.DONE, said)
        self.assertRegex(said, r"hot, random: instructions [+-]\d+\.\d\d %, data references [+-]\d+\.\d\d %")
        self.assertRegex(said, r"few, random: .*the count of instructions of hot")
        result = json.loads((self.folder / "out" / "result.json").read_text(encoding="utf-8"))
        counts = result["programs"]["run"]["hot"]
        self.assertNotEqual(counts["default"]["instructions"], counts["random"]["instructions"])
        self.assertIn("the count of instructions of hot", result["corpora"]["few"]["verdict"]["random"]["sentence"])


if __name__ == "__main__":
    os.environ["TF_USE_LEGACY_KERAS"] = "1"
    unittest.main()
