"""Compilers take eviction decisions from a file (-mlgo-decisions), all of them the same ones."""

import pathlib
import re
import resource
import subprocess
import tempfile
import unittest

from mlgo.problems.problem import load_problem
from mlgo.run.locate import runfile
from tests.compilers import pressure

RELEASE, DEVELOPMENT = "release/clang", "development/clang"
COMPILERS = (RELEASE, DEVELOPMENT)
POLICY_ON = load_problem("regalloc_eviction").release_flags()
TARGET = pressure.SMALL[0]
SOURCE = pressure.loop("long", pressure.ARITHMETIC["integer"], 40, seed=1, arms=5)
HEAD = "mlgo-decisions 1\nevictions\tx.c\n"


class EvictionDecisionsTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        (self.folder / "x.c").write_text(SOURCE)

    def run_clang(self, program: str, *options: str) -> subprocess.CompletedProcess[str]:
        words = [
            word for option in options for word in (["-mllvm", option] if option.startswith("-mlgo") else [option])
        ]
        command = [str(runfile(program)), *TARGET.flags, "-O2", "-c", "x.c", "-o", "x.o", *words]
        return subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=300, check=False)

    def made(self, program: str, *options: str) -> bytes:
        """The object that a compiler makes, saying nothing."""
        done = self.run_clang(program, *options)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return (self.folder / "x.o").read_bytes()

    def taken(self, *options: str) -> tuple[str, bytes]:
        """What the release compiler decides, and its object."""
        made = self.made(RELEASE, "-mlgo-evictions-taken=taken", *options)
        return (self.folder / "taken").read_text(), made

    def given(self, content: str) -> str:
        (self.folder / "given").write_text(content)
        return "-mlgo-decisions=given"

    def test_writing_what_is_decided_changes_nothing(self):
        lines, made = self.taken()
        self.assertEqual(made, self.made(RELEASE))
        self.assertEqual(made, self.made(DEVELOPMENT, "-mlgo-evictions-taken=other"))
        self.assertEqual((self.folder / "other").read_text(), lines)
        self.assertTrue(lines.startswith(HEAD))
        for line in lines.removeprefix(HEAD).splitlines():
            self.assertRegex(line, r"^(evict\tf\t\d+\t[0-9a-f]{16}\t[A-Z0-9]+|spare\tf\t\d+\t[0-9a-f]{16})$")

    def test_the_decisions_of_the_policy_make_its_object(self):
        lines, by_policy = self.taken(*POLICY_ON)
        by_default = self.made(RELEASE)
        self.assertEqual(by_policy, self.made(RELEASE, *POLICY_ON))
        self.assertNotEqual(by_policy, by_default)
        for program in COMPILERS:
            with self.subTest(program):
                self.assertEqual(self.made(program, self.given(lines)), by_policy)
        default_lines, _ = self.taken()
        self.assertEqual(self.made(RELEASE, *POLICY_ON, self.given(default_lines)), by_default)

    def test_decisions_that_fit_nothing_change_nothing(self):
        lines, _ = self.taken(*POLICY_ON)
        by_default = self.made(RELEASE)
        other_look = re.sub(r"[0-9a-f]{16}", "0123456789abcdef", lines.splitlines()[2])
        no_register = re.sub("\t[A-Z0-9]+$", "\tXMM99", lines, flags=re.MULTILINE).replace("spare", "evict")
        no_register = re.sub(r"^(evict\t[^\t]+\t\d+\t[0-9a-f]{16})$", r"\1\tXMM99", no_register, flags=re.MULTILINE)
        for content in (
            HEAD,
            HEAD + other_look + "\n",
            no_register,
            lines.replace("\tf\t", "\tg\t"),
            lines.replace("\tx.c\n", "\ty.c\n"),
            "mlgo-decisions 1\nmodule\tx.c\notherwise default\n",
        ):
            for program in COMPILERS:
                with self.subTest(program, content=content[:80]):
                    self.assertEqual(self.made(program, self.given(content)), by_default)

    def test_without_a_section_the_asked_mode_decides(self):
        given = self.given(HEAD.replace("x.c", "another.c"))
        asked = {mode: ("-mllvm", f"-regalloc-enable-advisor={mode}") for mode in ("default", "release")}
        wanted = {mode: self.made(RELEASE, *flags) for mode, flags in asked.items()}
        self.assertNotEqual(wanted["default"], wanted["release"])
        for mode, flags in asked.items():
            self.assertEqual(self.made(RELEASE, given, *flags), wanted[mode], f"{mode} after the file")
            self.assertEqual(self.made(RELEASE, *flags, given), wanted[mode], f"{mode} before the file")

    def test_coverage(self):
        lines, _ = self.taken(*POLICY_ON)
        count = len(lines.splitlines()) - 2
        done = self.run_clang(RELEASE, self.given(lines), "-Rpass-analysis=mlgo-decisions")
        self.assertIn(
            f"{count} of {count} eviction decisions of given applied; 0 evictions asked that it does not name",
            done.stderr,
        )

    def test_wrong_files(self):
        for lines, number, what in (
            ("evict\tf\t0\t00ff\n", 3, "is no decision"),
            ("keep\tf\t0\t00ff\n", 3, "is no decision"),
            ("spare\tf\t0\t00ff\n" * 2, 4, "decides about a live range a second time"),
            ("evictions\tx.c\n", 3, "names a module a second time"),
        ):
            for program in COMPILERS:
                with self.subTest(program, lines=lines):
                    done = self.run_clang(program, self.given(HEAD + lines))
                    self.assertNotEqual(done.returncode, 0)
                    self.assertIn(f"-mlgo-decisions: given, line {number} {what}", done.stderr)

    def test_empty_lines_take_no_memory(self):
        # Room for a decision in each of them would take 1.3 GB.
        given = self.given(HEAD + "\n" * 25_000_000)
        limit = resource.getrlimit(resource.RLIMIT_AS)
        self.addCleanup(resource.setrlimit, resource.RLIMIT_AS, limit)
        resource.setrlimit(resource.RLIMIT_AS, (1 << 30, limit[1]))
        done = self.run_clang(RELEASE, given)
        self.assertIn("line 3 is no decision", done.stderr)


if __name__ == "__main__":
    unittest.main()
