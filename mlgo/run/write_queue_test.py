"""Writes in threads: all are done at the end of the block, few wait, and errors are raised."""

import functools
import threading
import unittest

from mlgo.run.write_queue import WriteQueue


class WriteQueueTest(unittest.TestCase):
    def test_all_writes_are_done_at_the_end(self):
        written: list[int] = []
        with WriteQueue() as queue:
            for number in range(100):
                queue.submit(functools.partial(written.append, number))
        self.assertEqual(sorted(written), list(range(100)))

    def test_few_writes_wait(self):
        begun: list[None] = []
        may_end = threading.Event()

        submitted: list[None] = []

        def write():
            begun.append(None)
            may_end.wait(60)

        def submit_all():
            with WriteQueue() as queue:
                for _ in range(100):
                    queue.submit(write)
                    submitted.append(None)

        caller = threading.Thread(target=submit_all)
        caller.start()
        # The caller is stopped by writes that do not end.
        caller.join(0.5)
        self.assertLess(len(submitted), 20)
        may_end.set()
        caller.join()
        self.assertEqual(len(begun), 100)

    def test_the_error_of_a_write_is_raised(self):
        def fail():
            raise OSError("full")

        with self.assertRaisesRegex(OSError, "full"), WriteQueue() as queue:
            queue.submit(fail)
        may_fail = threading.Event()

        def fail_later():
            may_fail.wait(60)
            fail()

        with self.assertRaisesRegex(KeyError, "own"), WriteQueue() as queue:
            queue.submit(fail_later)
            may_fail.set()
            raise KeyError("own")
