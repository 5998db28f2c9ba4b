"""The simulated driver against what can be calculated by hand."""

import dataclasses
import unittest

from tests.benchmarks.driver_model import Collection, Costs, Driver, collect, saturated_at, slots_equal_to_learning

_FREE = Costs(0.0, 0.0, 0.0, 0.0, (1.0,))
_DRIVER = Driver(cores=9, network_bytes=1e9)


def changed(**costs) -> Costs:
    return dataclasses.replace(_FREE, **costs)


class DriverModelTest(unittest.TestCase):
    def test_a_driver_without_costs_keeps_all_slots_busy(self):
        self.assertEqual(
            collect(_FREE, _DRIVER, 100, 400), Collection(4.0, 1.0, {"Python": 0.0, "cores": 0.0, "network": 0.0}, 0.0)
        )

    def test_fewer_compiles_than_slots(self):
        found = collect(_FREE, _DRIVER, 100, 50)
        self.assertEqual((found.seconds, found.busy), (1.0, 0.5))

    def test_one_slot_adds_up_all_costs(self):
        costs = changed(python_seconds=0.1, core_seconds=0.2, message_bytes=3e8)
        self.assertAlmostEqual(collect(costs, _DRIVER, 1, 10).seconds, 16.0)

    def test_each_station_limits_the_rate(self):
        for station, cost, rate in (
            ("Python", {"python_seconds": 0.01}, 100.0),
            ("cores", {"core_seconds": 0.08}, 100.0),
            ("network", {"message_bytes": 1e7}, 100.0),
        ):
            with self.subTest(station):
                found = collect(changed(**cost), _DRIVER, 1000, 10_000)
                self.assertAlmostEqual(10_000 / found.seconds, rate, delta=rate / 50)
                self.assertGreater(found.stations[station], 0.97)

    def test_saturation_lies_where_the_slots_ask_for_more_than_the_station_gives(self):
        costs = changed(python_seconds=0.004)  # 250 a second
        self.assertEqual(saturated_at(costs, _DRIVER, [64, 128, 225, 320, 640]), 320)
        self.assertIsNone(saturated_at(costs, _DRIVER, [64, 128]))

    def test_slow_compiles_at_the_end_are_not_the_drivers_doing(self):
        self.assertIsNone(saturated_at(changed(compile_seconds=(0.1, 0.1, 0.1, 30.0)), _DRIVER, [7, 64]))

    def test_learning(self):
        costs = changed(learning_seconds=0.01)
        self.assertAlmostEqual(collect(costs, _DRIVER, 100, 100).learning, 0.5)
        self.assertAlmostEqual(slots_equal_to_learning(costs), 100.0)
        self.assertEqual(slots_equal_to_learning(_FREE), float("inf"))

    def test_equal_inputs_give_equal_results(self):
        costs = Costs(3e-4, 3e-3, 1e6, 0.01, (0.2, 0.9, 3.1))
        self.assertEqual(collect(costs, _DRIVER, 50, 500), collect(costs, _DRIVER, 50, 500))

    def test_wrong_values(self):
        with self.assertRaisesRegex(ValueError, "python_seconds=-1: must be 0 or more"):
            changed(python_seconds=-1)
        with self.assertRaisesRegex(ValueError, "must hold positive durations"):
            changed(compile_seconds=())
        with self.assertRaisesRegex(ValueError, "needs 2 cores or more"):
            Driver(1, 1e9)


if __name__ == "__main__":
    unittest.main()
