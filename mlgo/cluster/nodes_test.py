"""What is said of nodes that come and go."""

import unittest

from mlgo.cluster.nodes import Nodes
from mlgo.run.exit_codes import RunError


def listed(*numbers: int, cpus: int = 2, dead: int | None = None) -> list[dict]:
    """Nodes as Ray lists them: `numbers` and a head that offers no CPU; `dead` is listed and does not live."""
    nodes = [(number, True) for number in numbers] + ([] if dead is None else [(dead, False)])
    found = [(f"{number}" * 10, alive, number, {"CPU": cpus}) for number, alive in nodes]
    return [
        {"NodeID": name, "Alive": alive, "NodeManagerAddress": f"10.0.0.{number}", "Resources": resources}
        for name, alive, number, resources in [*found, ("head", True, 0, {})]
    ]


class NodesTest(unittest.TestCase):
    def setUp(self):
        self.told: list[str] = []
        self.now = 0.0
        self.nodes = Nodes(self.told.append, lambda: self.now)

    def test_the_first_nodes_are_no_news(self):
        self.nodes.look(listed(1))
        self.nodes.look(listed(1, 2))
        self.assertEqual((self.told, self.nodes.cpus), ([], 4))

    def test_a_lost_node_and_its_return(self):
        self.nodes.look(listed(1, 2, 3))
        self.nodes.look(listed(1, 3, dead=2))
        self.nodes.look(listed(1, 2, 3))
        lost = "cluster: lost node 10.0.0.2 (22222222); its compiles under way are repeated on the 2 left"
        self.assertEqual(self.told, [lost, "cluster: node 10.0.0.2 (22222222) joined; there are 3 nodes"])

    def test_no_node_for_too_long(self):
        for self.now, numbers in ((0.0, ()), (100.0, (1,)), (1000.0, ()), (1119.0, ())):
            self.nodes.look(listed(*numbers))
        self.now = 1121.0
        with self.assertRaisesRegex(RunError, "for 120 s it has had no node that compiles. Start nodes as docs/"):
            self.nodes.look(listed())

    def test_workers_on_the_smallest_node(self):
        self.assertEqual(self.nodes.cpus_per_compile(4), 1)
        self.nodes.look([*listed(1, cpus=8), *listed(2, cpus=32)])
        for workers, wanted in ((None, 1), (1, 8), (3, 3), (4, 2), (8, 1), (20, 1)):
            self.assertEqual(self.nodes.cpus_per_compile(workers), wanted, workers)

    def test_missing_protections_are_told_once_for_each_node(self):
        self.nodes.look(listed(1, 2))
        for node, missing in (("1" * 10, "no walls"), ("2" * 10, None), ("1" * 10, "no walls")):
            self.nodes.count(node, missing)
        self.assertEqual(self.told, ["node 10.0.0.1 (11111111): no walls"])
        self.assertEqual(self.nodes.describe(), "3 compiles on 2 nodes: 10.0.0.1 (11111111) 2, 10.0.0.2 (22222222) 1")

    def test_many_nodes_are_not_listed(self):
        self.assertEqual(self.nodes.describe(), "0 compiles on 0 nodes")
        for number in range(17):
            for _ in range(number + 1):
                self.nodes.count(str(number), None)
        self.assertEqual(self.nodes.describe(), "153 compiles on 17 nodes, 1 to 17 on each")
