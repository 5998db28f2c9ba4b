"""The executor of a cluster; Ray is not imported unless it is asked for."""

import sys
import unittest
from unittest import mock

from mlgo.cluster.executors import ray_executor
from mlgo.run.exit_codes import RunError


class ExecutorsTest(unittest.TestCase):
    def test_other_executors_need_no_ray(self):
        self.assertNotIn("ray", sys.modules)

    def test_a_command_without_ray_says_so(self):
        message = "built without Ray .* Start it as ./bazelw run --//mlgo/cluster:with_ray"
        with mock.patch.dict(sys.modules, {"mlgo.cluster.ray_executor": None}):
            with self.assertRaisesRegex(RunError, message):
                ray_executor()
