"""Unit tests of mlgo/cluster/suppliers.py."""

import contextlib
import threading
import unittest

from mlgo.cluster.suppliers import DRIVER_SENDS, NODE_SENDS, Suppliers


def wanted() -> bool:
    """The file is still wanted."""
    return False


class SuppliersTest(unittest.TestCase):
    def test_the_driver_sends_the_first_copy_and_a_node_the_next(self):
        suppliers = Suppliers()
        with suppliers.sender("compiler", wanted) as first:
            self.assertIsNone(first)
        suppliers.add("compiler", "a")
        with suppliers.sender("compiler", wanted) as second, suppliers.sender("policy", wanted) as other:
            self.assertEqual((second, other), ("a", None))

    def test_a_busy_sender_is_spared(self):
        suppliers = Suppliers()
        suppliers.add("compiler", "a")
        with contextlib.ExitStack() as busy:
            senders = [busy.enter_context(suppliers.sender("compiler", wanted)) for _ in range(NODE_SENDS)]
            suppliers.add("compiler", "b")
            senders.append(busy.enter_context(suppliers.sender("compiler", wanted)))
        self.assertEqual(senders, ["a"] * NODE_SENDS + ["b"])

    def test_who_finds_no_sender_waits_for_one(self):
        suppliers, found = Suppliers(), []

        def want() -> None:
            with suppliers.sender("compiler", wanted) as sender:
                found.append(sender)

        with contextlib.ExitStack() as busy:
            for _ in range(DRIVER_SENDS):
                busy.enter_context(suppliers.sender("compiler", wanted))
            waiting = threading.Thread(target=want)
            waiting.start()
            suppliers.add("compiler", "a")
            waiting.join(timeout=60)
        self.assertEqual(found, ["a"])

    def test_nobody_waits_for_a_run_that_ended(self):
        suppliers = Suppliers()
        with contextlib.ExitStack() as busy:
            for _ in range(DRIVER_SENDS):
                busy.enter_context(suppliers.sender("compiler", wanted))
            self.assertIsNone(busy.enter_context(suppliers.sender("compiler", lambda: True)))

    def test_a_lost_node_sends_nothing(self):
        suppliers = Suppliers()
        suppliers.add("compiler", "a")
        suppliers.add("policy", "a")
        suppliers.drop("a")
        with suppliers.sender("compiler", wanted) as compiler:
            self.assertIsNone(compiler)

    def test_a_hundred_nodes_take_few_copies_from_the_driver(self):
        """In rounds of one copy's time: each node that is free sends, and no other."""
        suppliers, having, from_driver, rounds = Suppliers(), 0, 0, 0
        while having < 100:
            rounds += 1
            with contextlib.ExitStack() as under_way:
                able = min(DRIVER_SENDS + NODE_SENDS * having, 100 - having)
                senders = [under_way.enter_context(suppliers.sender("compiler", wanted)) for _ in range(able)]
            for number in range(having, having + able):
                suppliers.add("compiler", number)
            having += able
            from_driver += senders.count(None)
        self.assertLessEqual((rounds, from_driver), (5, 5))


if __name__ == "__main__":
    unittest.main()
