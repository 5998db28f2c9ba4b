"""Corpora that verify, and corpora that do not, for every reason. Arguments: clang, llvm-objcopy."""

import json
import os
import pathlib
import subprocess
import sys
import unittest

from mlgo.compiler.request import CompileLimits
from mlgo.compiler.verification.comparison import Comparer, Difference, Reason
from mlgo.compiler.verification.verify import Verification, report_lines, verify
from mlgo.corpus.corpus import Corpus, join_command
from mlgo.run.testing.folder_case import FolderCase

OBJCOPY = pathlib.Path(sys.argv.pop(2)).absolute()
CLANG = pathlib.Path(sys.argv.pop(1)).absolute()

COMMAND = ("-cc1", "-triple", "x86_64-pc-linux-gnu", "-O2", "-faddrsig", "-emit-obj")


class VerifyTest(FolderCase):
    def corpus(self, **commands: tuple[str, ...]) -> Corpus:
        """A corpus with one small function per module."""
        folder = self.folder / "corpus"
        for name, command in commands.items():
            source = self.file("m.c", f"int {name}(int a) {{ return a * 3; }}\n")
            flags = ["--target=x86_64-pc-linux-gnu", "-O2", "-emit-llvm", "-Xclang", "-disable-llvm-passes"]
            recorded = self.file(f"corpus/a b/{name}.cmd", join_command(command))
            subprocess.run([CLANG, *flags, "-c", source, "-o", recorded.with_suffix(".bc")], check=True)
        names = [f"a b/{name}" for name in commands]
        self.file("corpus/corpus_description.json", json.dumps({"modules": names, "has_thinlto": False}))
        return Corpus.load(folder)

    def reasons(self, corpus: Corpus, originals=None) -> dict[str, Reason]:
        found = verify(corpus, CLANG, Comparer(OBJCOPY), originals, workers=2)
        self.assertEqual(sorted([*found.same, *found.different]), [module.name for module in corpus.modules])
        return {name: difference.reason for name, difference in found.different.items()}

    def test_every_reason(self):
        corpus = self.corpus(
            broken=("-cc1", "-no-such-option"),
            elsewhere=(*COMMAND, "-fprofile-sample-use=/this/machine.prof"),
            good=COMMAND,
            text=(*COMMAND, "-fprofile-instrument-path=/data/%m.profraw"),
        )
        unmoved = {"a b/broken": Reason.COMPILE_FAILED, "a b/elsewhere": Reason.NOT_SELF_CONTAINED}
        self.assertEqual(self.reasons(corpus), unmoved)
        missing = {**unmoved, "a b/good": Reason.MISSING_ORIGINAL, "a b/text": Reason.SECTIONS_DIFFER}
        self.assertEqual(self.reasons(corpus, {"a b/text": b"something else"}.get), missing)

    def test_no_module_ends_the_work_on_others(self):
        names = ("lengthy", "empty", "cut_off", "pipe", "assembly", "good")
        corpus = self.corpus(**dict.fromkeys(names, COMMAND))
        folder = self.folder / "corpus" / "a b"
        (folder / "lengthy.cmd").write_bytes(b"-cc1\0" + b"-O2\0" * 200_000)
        (folder / "empty.cmd").write_bytes(b"")
        (folder / "cut_off.cmd").write_bytes(b"-mllvm\0")
        (folder / "pipe.bc").unlink()
        os.mkfifo(folder / "pipe.bc")
        # As text: a writer of bitcode would assemble it for the table of symbols.
        (folder / "assembly.bc").write_text(r'module asm ".rept 1000000000\0A.byte 1\0A.endr"')
        limits = CompileLimits(cpu_seconds=1, address_space_bytes=1 << 30)
        found = verify(corpus, CLANG, Comparer(OBJCOPY), workers=2, limits=limits)
        self.assertEqual(found.same, ("a b/good",))
        for name, message in (
            ("lengthy", "bad_flags: a module's command: has 200,0.. words"),
            ("empty", "^its command is empty$"),
            ("cut_off", "last option -mllvm lacks its argument"),
            ("pipe", "compile_error: .*module.bc is not a regular file"),
            ("assembly", "timeout: it used more than 1 CPU seconds|out_of_memory: "),
        ):
            difference = found.different[f"a b/{name}"]
            self.assertIs(difference.reason, Reason.COMPILE_FAILED)
            self.assertRegex(difference.detail, message)

    def test_links_in_the_corpus_s_folder_are_not_followed_in_circles(self):
        corpus = self.corpus(good=COMMAND)
        for name in ("one", "two"):
            (self.folder / "corpus" / name).symlink_to(".")
        self.assertEqual(self.reasons(corpus), {})

    def test_what_only_the_old_place_has_is_missed(self):
        corpus = self.corpus(profiled=(*COMMAND, "-fprofile-sample-use=../profile"))
        self.file("profile", "f:1:1\n")
        self.assertEqual(self.reasons(corpus), {"a b/profiled": Reason.COMPILE_FAILED})


class LinesTest(unittest.TestCase):
    def test_all_the_same(self):
        lines = list(report_lines(Verification(("a", "b"), {}), with_originals=False))
        self.assertEqual(lines, ["done 2 of 2 the same as themselves before the move"])

    def test_the_first_differences_and_counts_by_reason(self):
        different = {f"m{index}\n": Difference(Reason.COMPILE_FAILED, "crash") for index in range(21)}
        different["x"] = Difference(Reason.OTHER_COMPILER, "-")
        lines = list(report_lines(Verification(("a",), different), with_originals=True))
        self.assertEqual(lines[0], '"m0\\n": compile_failed: crash')
        self.assertEqual(lines[-2:-1], ["and 2 more; --json=FILE has them all"])
        counts = "different: 21 compile_failed, 1 other_compiler"
        self.assertEqual(lines[-1], f"done 1 of 23 the same as the original objects, {counts}")
