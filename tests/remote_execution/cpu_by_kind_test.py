import os
import pathlib
import tempfile
import unittest

from tests.remote_execution import cpu_by_kind

_TICKS = os.sysconf("SC_CLK_TCK")


def _stat(name: str, own: int, children: int) -> str:
    return f"7 ({name}) S 1 7 7 0 -1 0 0 0 0 0 {own * _TICKS} 0 {children * _TICKS} 0 35 15 1 0 100\n"


class CpuByKindTest(unittest.TestCase):
    def test_name_with_parentheses_and_spaces(self):
        self.assertEqual(cpu_by_kind.of_stat(_stat("a) (b", 3, 4)), ("a) (b", 3, 4))

    def test_processes_of_one_name_are_added_and_ended_ones_left_out(self):
        proc = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        for number, text in ((1, _stat("bgd", 5, 0)), (2, _stat("worker", 1, 9)), (3, _stat("worker", 2, 1))):
            (proc / str(number)).mkdir()
            (proc / str(number) / "stat").write_text(text, "utf-8")
        found = cpu_by_kind.by_kind([1, 2, 3, 4], proc)
        expected = {"bgd": 5, "ended children of bgd": 0, "worker": 3, "ended children of worker": 10}
        self.assertEqual(found, expected)

    def test_fields_of_this_kernel(self):
        name, own, _ = cpu_by_kind.of_stat(pathlib.Path("/proc/self/stat").read_text("utf-8"))
        self.assertTrue(name)
        self.assertAlmostEqual(own, sum(os.times()[:2]), delta=0.2)


if __name__ == "__main__":
    unittest.main()
