"""The flags of the training commands need no TensorFlow, whose import takes seconds."""

import subprocess
import sys
import unittest

_CHECK = """
import sys
sys.path[:] = {path!r}
import mlgo.flags.training, mlgo.flags.measuring, mlgo.training.warm_start
print(sorted({{"tensorflow", "tf_agents", "ray"}} & set(sys.modules)))
"""


class ImportsTest(unittest.TestCase):
    def test_commands_start_without_large_libraries(self):
        program = [sys.executable, "-c", _CHECK.format(path=sys.path)]
        self.assertEqual(subprocess.run(program, check=True, capture_output=True, encoding="utf-8").stdout, "[]\n")
