"""Neither tests nor build actions have a network; one that is given it on purpose shows that the probe can tell."""

import pathlib
import unittest

from tests.hermeticity import network_probe

HERE = pathlib.Path(__file__).parent


class NetworkTest(unittest.TestCase):
    def test_a_test_has_none(self):
        self.assertEqual(network_probe.network(), "unreachable")

    def test_a_build_action_has_none(self):
        self.assertEqual((HERE / "action.txt").read_text(), "unreachable\n")

    def test_the_probe_can_tell(self):
        with_network = (HERE / "action_with_network.txt").read_text()
        if with_network == "unreachable\n":
            self.skipTest("this machine has no network at all, so nothing can be told apart")
        self.assertEqual(with_network, "reachable\n")


if __name__ == "__main__":
    unittest.main()
