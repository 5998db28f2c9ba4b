"""Lost nodes, slow nodes, nodes that come, orders of completion: with nodes that are functions."""

import dataclasses
import threading
import unittest
from collections.abc import Callable

from mlgo.cluster.ordered import MAX_LOSSES, run_ordered
from mlgo.cluster.scheduling import NodeLost, NodePool, Run, compiles_by_node
from mlgo.compiler.process import Cancelled
from mlgo.compiler.request import CompileFailure, CompileResult, FailureKind
from mlgo.run.exit_codes import RunError


@dataclasses.dataclass(frozen=True)
class _Module:
    name: str


@dataclasses.dataclass(frozen=True)
class _Request:
    module: _Module


def requests(count: int) -> list[_Request]:
    return [_Request(_Module(f"m{number:03}")) for number in range(count)]


class FakeNode:
    """Answers with the module's name, or does what `before` does; complains of more compiles than it has slots."""

    def __init__(self, name: str, slots: int = 1, before: Callable[[Run, str], None] = lambda run, name: None):
        self.name, self.slots, self._before = name, slots, before
        self.compiled: list[str] = []
        self.ended: list[str] = []
        self._busy = 0
        self._lock = threading.Lock()

    def compile(self, run, request):
        with self._lock:
            self._busy += 1
            if self._busy > self.slots:
                raise AssertionError(f"{self.name} has {self.slots} slots and {self._busy} compiles")
        try:
            self._before(run, request.module.name)
            self.compiled.append(request.module.name)
            return CompileResult(request.module.name, None, request.module.name.encode(), 0.0)
        finally:
            with self._lock:
                self._busy -= 1

    def end(self, run):
        self.ended.append(run.name)


def dies_after(compiles: int) -> Callable[[Run, str], None]:
    """A node that does so many compiles, and is lost during the next, and ever after."""
    left = [compiles]

    def before(run, name):
        left[0] -= 1
        if left[0] < 0:
            raise NodeLost("it went down")

    return before


class SchedulingTest(unittest.TestCase):
    def setUp(self):
        self.told, self.now = [], 0.0

    def passes(self, seconds: float) -> None:
        self.now += seconds

    def pool(self, *nodes: FakeNode) -> NodePool:
        """A pool whose clock is self.now. Only how often it looks is real time, which changes no result."""
        pool = NodePool(30.0, self.told.append, lambda: self.now, look_seconds=0.01)
        for node in nodes:
            pool.add(node)
        return pool

    def names(self, count: int, pool: NodePool) -> list[str]:
        return [outcome.module_name for outcome in run_ordered(requests(count), Run("r"), pool)]

    def test_outcomes_come_in_order_from_nodes_of_different_speed(self):
        others_done = threading.Event()

        def after_thirty(run, name):
            if len(fast.compiled) >= 30:
                others_done.set()

        slow = FakeNode("slow", 1, lambda run, name: others_done.wait())
        fast = FakeNode("fast", 3, after_thirty)
        self.assertEqual(self.names(100, self.pool(slow, fast)), [request.module.name for request in requests(100)])
        self.assertEqual(sorted(slow.compiled + fast.compiled), [request.module.name for request in requests(100)])
        self.assertGreaterEqual(len(fast.compiled), 30)

    def test_a_lost_node_costs_only_what_it_was_compiling(self):
        lost, good = FakeNode("lost", 2, dies_after(5)), FakeNode("good", 1)
        self.assertEqual(self.names(60, self.pool(lost, good)), [request.module.name for request in requests(60)])
        # What the lost node had finished is not compiled again.
        self.assertEqual(len(lost.compiled) + len(good.compiled), 60)
        self.assertEqual(len(lost.compiled), 5)
        self.assertEqual(
            self.told, ["cluster: lost node lost (it went down); its compiles under way are repeated on the 1 left"]
        )

    def test_a_late_compile_is_repeated_on_an_idle_node(self):
        never, others_begun = threading.Event(), threading.Event()

        def silent(run, name):
            others_begun.wait()
            self.passes(100.0)
            while not run.cancelled:
                never.wait(0.01)
            raise NodeLost("it does not answer")

        def good(run, name):
            if len(good_node.compiled) == 3:  # Of the four others, this is the last.
                others_begun.set()

        good_node = FakeNode("good", 1, good)
        pool = self.pool(FakeNode("silent", 1, silent), good_node)
        self.assertEqual(self.names(5, pool), [request.module.name for request in requests(5)])
        self.assertEqual(pool.backups, 1)
        self.assertEqual(pool.compiled, {"good": 5})
        # At the end of the run the node still did not answer.
        self.assertEqual([node.name for node in pool.nodes], ["good"])

    def test_a_backup_on_a_lost_node_changes_nothing(self):
        backed_up = threading.Event()

        def slow(run, name):
            self.passes(100.0)
            backed_up.wait()

        def lost(run, name):
            backed_up.set()
            raise NodeLost("it went down")

        pool = self.pool(FakeNode("slow", 1, slow), FakeNode("lost", 1, lost))  # The pool gives "slow" first.
        self.assertEqual(self.names(1, pool), ["m000"])
        self.assertEqual((pool.backups, [node.name for node in pool.nodes]), (1, ["slow"]))

    def test_late_is_relative_to_other_compiles(self):
        run = Run("r")
        self.assertEqual(run.late_seconds(), 5.0)
        run.durations.extend([10.0, 20.0, 90.0])
        self.assertEqual(run.late_seconds(), 80.0)

    def test_idle_slots_are_those_that_no_caller_waits_for(self):
        first, second = FakeNode("a"), FakeNode("b")
        pool, run = self.pool(first, second), Run("r")
        self.assertIs(pool.acquire_idle(first), second)
        self.assertIsNone(pool.acquire_idle(first))
        self.assertIs(pool.acquire(run), first)
        pool.release(second)
        self.assertIs(pool.acquire_idle(None), second)

    def test_threads_are_as_many_as_slots(self):
        threads = set()
        node = FakeNode("n", 3, lambda run, name: threads.add(threading.get_ident()))
        before = threading.active_count()
        outcomes = run_ordered(requests(200), Run("r"), self.pool(node))
        next(outcomes)
        self.assertLessEqual(threading.active_count() - before, 3)
        outcomes.close()

    def test_compiles_of_each_node_are_counted(self):
        lost, good = FakeNode("lost", 2, dies_after(5)), FakeNode("good", 1)
        pool = self.pool(lost, good)
        self.names(60, pool)
        self.assertEqual(pool.compiled, {"lost": 5, "good": 55})
        self.assertEqual(compiles_by_node(pool.compiled), "60 compiles on 2 nodes: good 55, lost 5")

    def test_counts_of_many_nodes_are_a_range(self):
        compiled = {f"n{number}": 1000 + number for number in range(17)}
        self.assertEqual(compiles_by_node(compiled), "17,136 compiles on 17 nodes, 1,000 to 1,016 on each")
        self.assertEqual(compiles_by_node({}), "0 compiles on 0 nodes")

    def test_a_node_that_joins_after_a_loss_is_told(self):
        pool = self.pool(FakeNode("a"), FakeNode("b"))
        self.assertEqual(self.told, [])
        pool.drop(pool.nodes[0], "it went down")
        pool.add(FakeNode("c"))
        self.assertEqual(self.told[1:], ["cluster: node c joined; there are 2 nodes"])

    def test_a_failed_compile_is_an_outcome_and_not_repeated(self):
        class FailingNode(FakeNode):
            def compile(self, run, request):
                super().compile(run, request)
                return CompileFailure(request.module.name, FailureKind.CRASH, "SIGSEGV")

        node = FailingNode("n")
        outcomes = list(run_ordered(requests(3), Run("r"), self.pool(node)))
        self.assertEqual([outcome.kind for outcome in outcomes], [FailureKind.CRASH] * 3)
        self.assertEqual(len(node.compiled), 3)

    def test_a_module_that_takes_nodes_with_it_stops_the_run(self):
        pool = self.pool()
        for number in range(MAX_LOSSES + 1):

            def before(run, name):
                if name == "m001":
                    raise NodeLost("it went down")

            pool.add(FakeNode(f"n{number}", 1, before))
        outcomes = run_ordered(requests(3), Run("r"), pool)
        self.assertIsInstance(next(outcomes), CompileResult)
        with self.assertRaisesRegex(
            RunError,
            r"compile of m001: lost 4 nodes that it was under way on \(n\d: it went down\).*same command again",
        ):
            next(outcomes)

    def test_a_node_that_joins_later_helps(self):
        gate = threading.Event()

        def first(run, name):
            if not pool.nodes[1:]:
                pool.add(second)
            gate.wait()

        second = FakeNode("second", 1, lambda run, name: gate.set())
        pool = self.pool(FakeNode("first", 1, first))
        outcomes = run_ordered(requests(5), Run("r"), pool)
        self.assertEqual(len(list(outcomes)), 5)
        self.assertTrue(second.compiled)

    def test_without_nodes_the_run_says_why_and_ends(self):
        pool = self.pool(FakeNode("n", 1, dies_after(0)))
        pool.clock = lambda: self.passes(10.0) or self.now  # Every look at the clock takes ten seconds.
        with self.assertRaisesRegex(RunError, r"has had no node that compiles \(n: it went down\)\. Start nodes"):
            self.names(3, pool)

    def test_requests_are_taken_as_they_are_needed(self):
        taken = []

        def endless():
            while True:
                taken.append(threading.current_thread())
                yield requests(1)[0]

        outcomes = run_ordered(endless(), Run("r"), self.pool(FakeNode("n", 2)))
        next(outcomes)
        outcomes.close()
        self.assertLess(len(taken), 100)
        self.assertEqual(set(taken), {threading.current_thread()})

    def test_closing_ends_what_runs_and_what_waits(self):
        begun, given_up = threading.Event(), threading.Event()

        class HangingNode(FakeNode):
            def compile(self, run, request):
                if request.module.name == "m000":
                    return super().compile(run, request)
                begun.set()
                given_up.wait(30)
                raise Cancelled()

            def end(self, run):
                super().end(run)
                given_up.set()

        node = HangingNode("n")
        pool = self.pool(node)
        outcomes = run_ordered(requests(10), Run("r7"), pool)
        self.assertEqual(next(outcomes).module_name, "m000")
        self.assertTrue(begun.wait(30))
        outcomes.close()
        self.assertEqual(node.ended, ["r7"])
        # The pool is as good as new.
        self.assertEqual([outcome.module_name for outcome in run_ordered(requests(1), Run("r8"), pool)], ["m000"])

    def test_two_runs_share_the_nodes(self):
        pool = self.pool(FakeNode("n", 2))
        first, second = (run_ordered(requests(20), Run(name), pool) for name in ("a", "b"))
        for one, other in zip(first, second, strict=True):
            self.assertEqual(one.module_name, other.module_name)


if __name__ == "__main__":
    unittest.main()
