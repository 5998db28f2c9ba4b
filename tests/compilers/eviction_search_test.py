"""The development clang searches better eviction decisions, and the release clang applies them."""

import csv
import io
import math
import pathlib
import subprocess
import tempfile
import unittest

from mlgo.run.locate import runfile
from tests.compilers import pressure

DEVELOPMENT, RELEASE = "development/clang", "release/clang"
TARGET = pressure.SMALL[0]
LIVE, ARMS = 24, 3


class EvictionSearchTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        functions = [
            pressure.loop("long", pressure.ARITHMETIC["integer"], LIVE, seed, ARMS).replace(" f(", f" f{seed}(")
            for seed in (1, 2)
        ]
        (self.folder / "x.c").write_text("\n".join(functions).replace(pressure.VECTOR, "") + "int none;\n")

    def made(self, program: str, *options: str) -> bytes:
        """The object that a compiler makes, saying nothing. Args: options: of LLVM."""
        words = [word for option in options for word in ("-mllvm", option)]
        command = [str(runfile(program)), *TARGET.flags, "-O2", "-c", "x.c", "-o", "x.o", *words]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=300, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return (self.folder / "x.o").read_bytes()

    def searched(self, *options: str) -> tuple[bytes, dict[str, dict[str, str]], str]:
        """The object, the report by function, and the decisions."""
        made = self.made(DEVELOPMENT, "-mlgo-eviction-search=found", *options)
        rows = csv.DictReader(io.StringIO((self.folder / "found").read_text()), delimiter="\t")
        decisions = (self.folder / "found.decisions").read_text()
        return made, {row["function"]: row for row in rows}, decisions

    def test_the_search_finds_less_and_every_compiler_applies_it(self):
        made, report, decisions = self.searched("-mlgo-eviction-noisy-tries=16", "-mlgo-eviction-flips=24")
        self.assertEqual(list(report), ["f1", "f2"])
        for row in report.values():
            self.assertLess(float(row["best"]), float(row["default"]))
            self.assertEqual(int(row["tries"]), 1 + 16 + 24)
            costs = [float(step.split(":")[1]) for step in row["curve"].split(",")]
            self.assertEqual(costs, sorted(costs, reverse=True))
            self.assertEqual((costs[0], costs[-1]), (float(row["default"]), float(row["best"])))
        (self.folder / "given").write_text(decisions)
        for program in (DEVELOPMENT, RELEASE):
            with self.subTest(program):
                self.assertEqual(self.made(program, "-mlgo-decisions=given"), made)
        self.assertNotEqual(self.made(RELEASE), made)
        # A search can start from what another one found.
        _, again, _ = self.searched("-mlgo-decisions=given", "-mlgo-eviction-noisy-tries=0", "-mlgo-eviction-flips=0")
        for name, row in again.items():
            self.assertEqual((row["given"], row["best"]), (report[name]["best"], report[name]["best"]))

    def test_equal_searches_find_the_same(self):
        options = ("-mlgo-eviction-noisy-tries=8", "-mlgo-eviction-flips=4")
        first = self.searched(*options)
        self.assertEqual(first, self.searched(*options))
        self.assertNotEqual(first[2], self.searched(*options, "-mlgo-eviction-seed=2")[2])

    def test_flips_by_cost(self):
        few = ("-mlgo-eviction-noisy-tries=0", "-mlgo-eviction-flips=1")
        _, report, _ = self.searched(*few)
        roots = {name: math.sqrt(float(row["default"])) for name, row in report.items()}
        factor = 5.5 / roots["f1"]
        for most in (2, 100):
            options = (f"-mlgo-eviction-flips-per-root-cost={factor!r}", f"-mlgo-eviction-more-flips={most}")
            _, report, _ = self.searched(*few, *options)
            tries = {name: 1 + 1 + min(most, math.floor(factor * root)) for name, root in roots.items()}
            self.assertEqual({name: int(row["tries"]) for name, row in report.items()}, tries)
            self.assertEqual(tries["f1"], 2 + min(most, 5))

    def test_without_tries_the_default_stays(self):
        made, report, _ = self.searched("-mlgo-eviction-noisy-tries=0", "-mlgo-eviction-flips=0")
        self.assertEqual(made, self.made(DEVELOPMENT))
        self.assertEqual([row["tries"] for row in report.values()], ["1", "1"])


if __name__ == "__main__":
    unittest.main()
