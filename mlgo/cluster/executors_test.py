"""Executors by name; Ray is not imported unless it is asked for."""

import sys
import unittest
from unittest import mock

from mlgo.cluster.executors import NAMES, executor_for
from mlgo.compiler.executor import LocalExecutor
from mlgo.run.exit_codes import RunError


class ExecutorsTest(unittest.TestCase):
    def test_local_needs_no_ray(self):
        self.assertIsInstance(executor_for("local", workers=2), LocalExecutor)
        self.assertNotIn("ray", sys.modules)

    def test_unknown(self):
        with self.assertRaisesRegex(RunError, r"--executor=slurm: is no executor\. Give one of local, ray"):
            executor_for("slurm")
        self.assertIn("ray", NAMES)

    def test_a_command_without_ray_says_so(self):
        with mock.patch.dict(sys.modules, {"mlgo.cluster.ray_executor": None}):
            with self.assertRaisesRegex(
                RunError, "built without Ray .* Start it as ./bazelw run --//mlgo/cluster:with_ray"
            ):
                executor_for("ray")


if __name__ == "__main__":
    unittest.main()
