"""The plugin counts what programs of another target execute: known numbers, and the same in every run.

Arguments: the target's emulator, the plugin, a program whose counts are known, a program in C.
"""

import pathlib
import subprocess
import sys
import tempfile
import unittest

_EMULATOR, _PLUGIN, _LOOP, _C = sys.argv[1:5]
_SECONDS = 60


def _run(*command: str) -> subprocess.CompletedProcess:
    return subprocess.run(command, capture_output=True, encoding="utf-8", timeout=_SECONDS, check=False)


class CountsTest(unittest.TestCase):
    def setUp(self):
        self.file = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()), "counts")

    def count(self, image: str, *words: str) -> tuple[str, dict[str, int]]:
        """(what the program prints, its counts)."""
        ended = _run(_EMULATOR, "-seed", "1", "-plugin", f"{_PLUGIN},out={self.file}", image, *words)
        self.assertEqual((ended.returncode, ended.stderr), (0, ""))
        counts = dict(line.split(" ") for line in self.file.read_text(encoding="ascii").splitlines())
        return ended.stdout, {name: int(count) for name, count in counts.items()}

    def test_known_counts(self):
        _, counts = self.count(_LOOP)
        self.assertEqual(counts, {"instructions": 6006, "loads": 1000, "stores": 2000, "threads": 1})

    def test_runs_give_the_same_counts_and_the_output_without_counter(self):
        first, second = self.count(_C, "word"), self.count(_C, "word")
        self.assertEqual(first, second)
        self.assertEqual(first[0], _run(_EMULATOR, _C, "word").stdout)
        self.assertGreater(first[1]["loads"], 1000)

    def test_more_work_is_counted(self):
        """A longer argument is copied to the output."""
        few, many = self.count(_C, "w"), self.count(_C, "w" * 500)
        self.assertGreater(many[1]["instructions"], few[1]["instructions"])

    def test_wrong_options_are_refused_before_the_program_starts(self):
        for options, message in (("", "Give out=FILE"), (",out=", "Give out=FILE"), (",to=x", "to=x is not an option")):
            with self.subTest(options):
                ended = _run(_EMULATOR, "-plugin", _PLUGIN + options, _C)
                self.assertNotEqual(ended.returncode, 0)
                self.assertIn(message, ended.stderr)
                self.assertEqual(ended.stdout, "")

    def test_a_file_that_cannot_be_written_is_named(self):
        absent = self.file / "absent"
        ended = _run(_EMULATOR, "-plugin", f"{_PLUGIN},out={absent}", _LOOP)
        self.assertIn(f"count_plugin: {absent} cannot be written", ended.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
