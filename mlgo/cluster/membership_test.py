"""Nodes join, fail and join again. Whatever a cluster or a node raises, the search goes on."""

import unittest

from mlgo.cluster.gate import Gate
from mlgo.cluster.membership import Listed, Membership
from mlgo.cluster.scheduling import NodePool


class _Candidate:
    """A node whose steps raise what the test says."""

    def __init__(self, name, ready=None, gone=None):
        self.name, self.slots, self.given_up = name, 1, 0
        self._ready, self._gone = ready, gone

    def wait_until_ready(self):
        if self._ready is not None:
            raise self._ready

    def give_up(self):
        self.given_up += 1
        if self._gone is not None:
            raise self._gone


class MembershipTest(unittest.TestCase):
    def setUp(self):
        self.said, self.now = [], 0.0
        self.pool = NodePool(60.0, self.said.append)
        self.listed = [Listed("1", "one", 2)]
        self.made = []
        self.failures = []  # Of the next joins, first to last: an exception to raise, or a candidate.

    def membership(self, start=lambda function, name: function(), gate=None):
        def listed():
            if isinstance(self.listed, Exception):
                raise self.listed
            return self.listed

        def connect(node):
            found = self.failures.pop(0) if self.failures else _Candidate(node.name)
            if isinstance(found, Exception):
                raise found
            self.made.append(found)
            return found

        gate = gate or Gate()
        return Membership(listed, connect, self.pool, gate, self.said.append, start, lambda: self.now)

    def joined(self):
        return [node.name for node in self.pool.nodes]

    def test_a_node_joins_once(self):
        membership = self.membership()
        membership.look()
        membership.look()
        self.assertEqual((self.joined(), len(self.made)), (["one"], 1))

    def test_a_node_whose_connection_fails_is_tried_again(self):
        for error, said in (
            (RuntimeError("no actor"), "no actor"),
            (OSError(24, "too many files"), "[Errno 24] too many files"),
            (ValueError(), "ValueError"),
        ):
            with self.subTest(said):
                self.setUp()
                self.failures = [error]
                membership = self.membership()
                membership.look()
                self.assertEqual(self.joined(), [])
                self.assertIn(f"node one cannot be used: {said}", self.pool.last_loss)
                self.assertIn(f"cluster: node one cannot be used: {said}", self.said)
                membership.look()
                self.assertEqual(self.joined(), ["one"])

    def test_a_node_that_never_is_ready_is_given_up_and_tried_again(self):
        self.failures = [_Candidate("one", ready=RuntimeError("trace\n  back\nOSError: disk full\n"))]
        membership = self.membership()
        membership.look()
        self.assertIn("node one cannot be used: OSError: disk full", self.pool.last_loss)
        membership.look()
        self.assertEqual((self.joined(), self.made[0].given_up), (["one"], 1))

    def test_a_node_that_cannot_be_given_up_keeps_no_other_out(self):
        self.failures = [_Candidate("one", ready=RuntimeError("x"), gone=RuntimeError("no such actor"))]
        membership = self.membership()
        membership.look()
        self.listed = [*self.listed, Listed("2", "two", 2)]
        membership.look()
        self.assertEqual(self.joined(), ["two"])
        membership.look()
        self.assertEqual(self.joined(), ["two", "one"])

    def test_a_thread_that_cannot_be_started_leaves_no_node_on_its_way(self):
        def start(function, name):
            if not started:
                started.append(name)
                raise RuntimeError("can't start new thread")
            function()

        started = []
        membership = self.membership(start)
        membership.look()
        self.assertEqual(self.joined(), [])
        membership.look()
        self.assertEqual(self.joined(), ["one"])

    def test_a_cluster_that_does_not_answer_is_asked_again(self):
        nodes = self.listed
        for error in (RuntimeError("rpc failed"), ConnectionError("reset"), KeyError("NodeID")):
            self.listed = error
            membership = self.membership()
            membership.look()
            self.assertIn("the cluster does not list its nodes", self.pool.last_loss)
        self.listed = nodes
        membership.look()
        self.assertEqual(self.joined(), ["one"])

    def test_a_node_that_fails_often_rests_for_an_hour(self):
        self.failures = [RuntimeError(str(number)) for number in range(4)]
        membership = self.membership()
        for _ in range(10):
            membership.look()
        self.assertEqual(len(self.failures), 1)
        self.now += 3601.0
        membership.look()
        membership.look()
        self.assertEqual(self.joined(), ["one"])

    def test_a_lost_node_joins_again(self):
        membership = self.membership()
        membership.look()
        self.pool.drop(self.made[0], "it went down")
        membership.look()
        self.assertEqual((self.joined(), len(self.made), self.made[0].given_up), (["one"], 2, 1))

    def test_nothing_joins_once_the_executor_ends(self):
        gate = Gate()
        gate.close_for_new()
        self.membership(gate=gate).look()
        self.assertEqual((self.joined(), self.said), ([], []))


if __name__ == "__main__":
    unittest.main()
