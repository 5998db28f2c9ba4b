"""//mlgo:tune on real modules, with the real compiler and linker. Argument: the linker."""

import csv
import json
import pathlib
import re
import shutil
import sys
import tempfile
import unittest
from typing import Any

from mlgo.run.exit_codes import ExitCode
from mlgo.search.decision_file import read
from tests.end_to_end import command, real_modules

_LINKER = pathlib.Path(sys.argv.pop()).absolute()


class TuneTest(unittest.TestCase):
    folder: pathlib.Path
    said: str
    result: dict[str, Any]

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        real_modules.smallest("oz_held_out", 3, cls.folder / "corpus")
        code, cls.said = cls.tune("out", cls.cache())
        if code != ExitCode.DONE:
            raise AssertionError(f"exit code {code}:\n{cls.said}")
        cls.result = json.loads((cls.folder / "out" / "result.json").read_text(encoding="utf-8"))

    @classmethod
    def cache(cls):
        return f"--cache_dir={cls.folder / 'cache'}"

    @classmethod
    def flags(cls, output, *more):
        return [
            f"--clang={real_modules.development_clang()}",
            f"--linker={_LINKER}",
            f"--corpus={cls.folder / 'corpus'}",
            f"--output_dir={cls.folder / output}",
            "--compiles=16",
            "--cache_dir=",
            *more,
        ]

    @classmethod
    def tune(cls, output, *more):
        return command.run(*cls.flags(output, *more), program="tune")

    def test_the_image_is_smaller(self):
        sizes = self.result["linked_code_bytes"]
        self.assertLess(sizes["tuned"], sizes["default"])
        self.assertIn("tuned.decisions", self.said)

    def test_no_module_is_larger(self):
        with open(self.folder / "out" / "modules.csv", encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertTrue(rows)
        for row in rows:
            self.assertLessEqual(float(row["best"]), float(row["default"]), row["module"])
            self.assertLessEqual(int(row["compiles"]), 16, row["module"])

    def test_every_module_has_a_section(self):
        sections = read((self.folder / "out" / "tuned.decisions").read_bytes(), "decisions")
        self.assertEqual(len({section.source for section in sections}), len(sections))
        self.assertTrue(any(section.decisions for section in sections))
        self.assertEqual(self.result["left_out"], [])

    def test_killed_and_resumed_it_finds_the_same(self):
        killed = command.Command(self.flags("resumed"), "tune")
        searched = self.folder / "resumed" / "search"
        killed.kill_when(lambda: any(searched.rglob("*.decisions")))
        code, said = self.tune("resumed")
        self.assertEqual(code, ExitCode.DONE, said)
        self.assertEqual(command.differing(self.folder / "out", self.folder / "resumed"), [])

    def test_a_module_that_did_not_change_is_not_searched_again(self):
        code, said = self.tune("second", self.cache())
        self.assertEqual(code, ExitCode.DONE, said)
        self.assertEqual(command.differing(self.folder / "out", self.folder / "second"), [])
        entries = list((self.folder / "cache").glob("??/*"))
        self.assertEqual(len(entries), 3)
        # A damaged entry is searched again, and what it says is not believed.
        for name in entries[0].iterdir():
            name.write_bytes(b"{}")
        code, said = self.tune("third", self.cache())
        self.assertEqual(code, ExitCode.DONE, said)
        self.assertEqual(command.differing(self.folder / "out", self.folder / "third"), [])

    def test_a_process_per_compile_finds_the_same(self):
        # Without the server, compiles share nothing.
        alone = self.folder / "clang"
        shutil.copy(real_modules.development_clang(), alone)
        code, said = self.tune("alone", f"--clang={alone}")
        self.assertEqual(code, ExitCode.DONE, said)
        first, second = (self.folder / name / "tuned.decisions" for name in ("out", "alone"))
        self.assertEqual(first.read_bytes(), second.read_bytes())

    def test_a_budget_of_cpu_seconds(self):
        code, said = self.tune("little", "--budget=1")
        self.assertEqual(code, ExitCode.USER_ERROR)
        found = re.search(r"--budget=1: is not enough.*Give at least (\d+)", said)
        assert found, said
        least = int(found[1])
        code, said = self.tune("enough", f"--budget={least}")
        self.assertEqual(code, ExitCode.DONE, said)
        self.assertRegex(said, f"CPU seconds of the compiles of this run: [0-9.]+ of --budget={least}")
        with open(self.folder / "enough" / "modules.csv", encoding="utf-8", newline="") as file:
            self.assertTrue(all(int(row["compiles"]) < 16 for row in csv.DictReader(file)))

    def test_other_problems_have_no_decisions_to_give(self):
        code, said = self.tune("other", "--problem=regalloc_priority")
        self.assertEqual(code, ExitCode.USER_ERROR)
        self.assertIn("Give inlining_for_size", said)


if __name__ == "__main__":
    unittest.main()
