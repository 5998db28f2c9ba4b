import pathlib
import tempfile
import unittest

from tests.remote_cache import execution_log
from tests.remote_cache.execution_log import Spawn

LOG = """{
  "commandArgs": ["clang", "}{"],
  "inputs": [{
    "path": "x.cc"
  }],
  "listedOutputs": ["bazel-out/x.o", "bazel-out/x.d"],
  "mnemonic": "CppCompile",
  "targetLabel": "//x:x",
  "runner": "remote cache hit",
  "cacheHit": true
}{
  "mnemonic": "Genrule",
  "runner": "linux-sandbox"
}
"""


class ExecutionLogTest(unittest.TestCase):
    def read(self, text):
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            file.write(text)
            file.flush()
            return execution_log.read(pathlib.Path(file.name))

    def test_spawns(self):
        hit = Spawn("CppCompile", "//x:x", "bazel-out/x.o", "remote cache hit", True)
        self.assertEqual(self.read(LOG), [hit, Spawn("Genrule", "", "nothing", "linux-sandbox", False)])
        self.assertEqual(str(hit), "CppCompile //x:x -> bazel-out/x.o (remote cache hit)")
        self.assertEqual(self.read(""), [])

    def test_a_log_that_was_cut_off(self):
        with self.assertRaisesRegex(ValueError, "ends within an object"):
            self.read(LOG[:-3])


if __name__ == "__main__":
    unittest.main()
