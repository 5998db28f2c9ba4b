"""A whole training run on three nodes, one of which dies, leaves the files of a local run, weights included."""

import os
import pathlib
import signal
import tempfile
import unittest

from mlgo.run.exit_codes import ExitCode
from tests.cluster.local_cluster import LocalCluster
from tests.end_to_end import command


class SameWeightsTest(unittest.TestCase):
    def test_weights_are_those_of_a_local_run(self):
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch)
            flags = [*command.fake_inputs(folder, milliseconds=100), *command.TINY]
            code, said = command.run(*flags, f"--output_dir={folder / 'local'}", "--workers=2")
            self.assertEqual(code, ExitCode.DONE, said)
            with LocalCluster(folder / "cache") as cluster:
                nodes = [cluster.start_node(1) for _ in range(3)]
                output = folder / "ray"
                run = command.Command(
                    [*flags, f"--output_dir={output}", "--executor=ray", f"--ray_address={cluster.address}"]
                )
                run.wait_until(lambda: len(list(output.glob("trace/train/**/*.json"))) >= 2)
                os.kill(cluster.raylet_of(nodes[2]), signal.SIGKILL)
                code, said = run.end()
            self.assertEqual(code, ExitCode.DONE, said)
            self.assertRegex(said, r"cluster: lost node 127\.0\.0\.3")
            self.assertEqual(command.differing(folder / "local", output), [])


if __name__ == "__main__":
    unittest.main()
