"""The switch that loses, delays and cuts: as a function of frames and times."""

import unittest

from tests.cluster.faults import Fault, Switch, phases

_ALL = b"\xff" * 6


def address(link: int) -> bytes:
    return bytes([2, 0, 0, 0, 0, link])


def frame(source: int, target: int | None = None, content: bytes = b"") -> bytes:
    return (_ALL if target is None else address(target)) + address(source) + content


class SwitchTest(unittest.TestCase):
    def setUp(self):
        self.switch = Switch(3)
        for link in range(3):  # As ARP does: everyone is heard once.
            self.switch.accept(link, frame(link), 0.0)
        self.switch.due(0.0)

    def test_broadcast_reaches_all_others(self):
        self.switch.accept(1, frame(1), 0.0)
        self.assertEqual([link for link, _ in self.switch.due(0.0)], [0, 2])

    def test_known_address_reaches_its_link_alone(self):
        self.switch.accept(0, frame(0, 2, b"x"), 0.0)
        self.assertEqual(self.switch.due(0.0), [(2, frame(0, 2, b"x"))])

    def test_unknown_address_reaches_all_others(self):
        self.switch.accept(0, frame(0, 9), 0.0)
        self.assertEqual([link for link, _ in self.switch.due(0.0)], [1, 2])

    def test_frames_of_a_delayed_link_arrive_later_and_in_order(self):
        self.switch.faults[0] = Fault(delay_seconds=0.1)
        self.switch.accept(0, frame(0, 1, b"first"), 1.0)
        self.switch.accept(0, frame(0, 1, b"second"), 1.0)
        self.switch.accept(2, frame(2, 1, b"undelayed"), 1.0)
        self.assertEqual(self.switch.due(1.05), [(1, frame(2, 1, b"undelayed"))])
        self.assertAlmostEqual(self.switch.next_arrival(), 1.1)
        self.assertEqual([content[12:] for _, content in self.switch.due(1.2)], [b"first", b"second"])
        self.assertIsNone(self.switch.next_arrival())

    def test_loss_has_its_probability_and_the_same_frames_each_time(self):
        def arrived(seed: int) -> list[bytes]:
            switch = Switch(2, seed)
            switch.faults[0] = Fault(loss=0.05)
            for number in range(10_000):
                switch.accept(0, frame(0, 1, number.to_bytes(2, "big")), 0.0)
            self.assertEqual(switch.counts[0].sent, 10_000)
            frames = [content for _, content in switch.due(0.0)]
            self.assertEqual(switch.counts[0].lost, 10_000 - len(frames))
            return frames

        self.assertAlmostEqual(len(arrived(1)) / 10_000, 0.95, delta=0.01)
        self.assertEqual(arrived(1), arrived(1))
        self.assertNotEqual(arrived(1), arrived(2))

    def test_cut_link_carries_nothing_in_either_direction(self):
        self.switch.faults[1] = Fault(cut=True)
        self.switch.accept(0, frame(0, 1), 0.0)
        self.switch.accept(1, frame(1, 0), 0.0)
        self.switch.accept(0, frame(0), 0.0)
        self.assertEqual(self.switch.due(1.0), [(2, frame(0))])
        self.assertEqual(self.switch.counts[1].cut, 3)
        self.switch.faults[1] = Fault()
        self.switch.accept(0, frame(0, 1), 2.0)
        self.assertEqual(self.switch.due(2.0), [(1, frame(0, 1))])

    def test_phases_of_a_trial(self):
        lossy, cut = phases(nodes=3, loss=0.05, delay_seconds=0.1, cut_nodes=1)
        self.assertEqual(lossy.faults, (Fault(loss=0.05, delay_seconds=0.1),) * 3)
        self.assertEqual(lossy.title, "links lose 5 % of the frames and delay them 100 ms")
        self.assertEqual(cut.faults, (Fault(), Fault(), Fault(cut=True)))

    def test_wrong_values(self):
        with self.assertRaisesRegex(ValueError, "loss=1.5: must lie in"):
            Fault(loss=1.5)
        with self.assertRaisesRegex(ValueError, "delay_seconds=-1: must be 0 or more"):
            Fault(delay_seconds=-1)


if __name__ == "__main__":
    unittest.main()
