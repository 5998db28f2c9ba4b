import threading
import unittest

from mlgo.cluster.gate import Gate
from mlgo.compiler.process import Cancelled


class GateTest(unittest.TestCase):
    def test_closed_gate_admits_no_thread(self):
        gate = Gate()
        with gate:
            self.assertFalse(gate.is_closing())
        gate.close_for_new()
        self.assertTrue(gate.is_closing())
        with self.assertRaises(Cancelled), gate:
            self.fail("inside")

    def test_those_inside_are_waited_for(self):
        gate, inside, left = Gate(), threading.Event(), []

        def enter():
            with gate:
                inside.set()
                gate.is_closing(30)
                left.append(True)

        thread = threading.Thread(target=enter)
        thread.start()
        self.assertTrue(inside.wait(30))
        gate.close_for_new()
        gate.wait_until_empty()
        self.assertEqual(left, [True])
        thread.join()


if __name__ == "__main__":
    unittest.main()
