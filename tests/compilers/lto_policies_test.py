"""Policies in links with -flto: clang's driver passes their switches on, and what cannot be met is one sentence."""

import pathlib
import re
import shlex
import subprocess
import tempfile
import unittest

from mlgo.problems.problem import load_problem
from mlgo.run.locate import runfile
from tests.compilers.calls import calls_of_helpers

CLANG, WITHOUT_POLICIES = "tests/compilers/cpp_clang", "tests/compilers/clang_without_policies"
KINDS = ("-flto", "-flto=thin")
INLINING = load_problem("inlining_for_size").release_flags()
EVICTION = load_problem("regalloc_eviction").release_flags()
_SHARED = ("-shared", "-nostdlib", "-o", "image")
_EXPLICIT = ("-fuse-ld=lld", "-Wl,-mllvm,-enable-ml-inliner=release")


def of_another_major(bitcode: bytes) -> bytes:
    """Bitcode whose epoch is 1; that of all LLVM so far is 0, and a reader accepts its own only.

    Layout (llvm.org/docs/BitCodeFormat.html): magic, the head of the identification block, its length in words, its
    content. The epoch is its last field, of 6 bits, behind an abbreviation 5 of 5 bits, and everything after it is 0.
    """
    start = 12
    end = start + 4 * int.from_bytes(bitcode[8:start], "little")
    content = int.from_bytes(bitcode[start:end], "little")
    epoch = content.bit_length() + 2
    return bitcode[:start] + (content | 1 << epoch).to_bytes(end - start, "little") + bitcode[end:]


class LtoPoliciesTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        for name in ("one", "two"):
            (self.folder / f"{name}.c").write_text(calls_of_helpers(name), encoding="utf-8")

    def run_tool(self, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [runfile(program), *arguments], cwd=self.folder, capture_output=True, text=True, timeout=300, check=False
        )

    def said(self, program: str, *arguments: str) -> str:
        """What a program that must succeed says."""
        done = self.run_tool(program, *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stderr

    def compile(self, kind: str, name: str = "one", clang: str = CLANG) -> None:
        # No call is inlined before the link.
        self.assertEqual(
            self.said(clang, "-Oz", "-fPIC", *kind.split(), "-Xclang", "-disable-llvm-passes", "-c", f"{name}.c"), ""
        )

    def image(self, *words: str) -> bytes:
        self.assertEqual(self.said(CLANG, "-Oz", "-Werror", "one.o", *_SHARED, *words), "")
        return (self.folder / "image").read_bytes()

    def link_command(self, *words: str) -> list[str]:
        """The command of the link that clang would run."""
        (self.folder / "one.o").touch()
        return shlex.split(self.said(CLANG, "-###", "one.o", *_SHARED, *words).splitlines()[-1])

    def test_the_switch_reaches_the_linker(self):
        for kind in KINDS:
            with self.subTest(kind):
                self.compile(kind)
                wanted = self.image(kind, *_EXPLICIT)
                self.assertIs(wanted == self.image(kind, "-fuse-ld=lld"), False)
                self.assertIs(self.image(kind, *INLINING) == wanted, True)
                self.assertIs(self.image(kind, "--config=mlgo-size.cfg") == wanted, True)
                self.assertIs(self.image(kind, "-mllvm=-enable-ml-inliner=release") == wanted, True)

    def test_one_command_compiles_and_links_with_a_configuration_file(self):
        for kind in KINDS:
            with self.subTest(kind):
                words = ["-Oz", "-Werror", kind, "--config=mlgo-size.cfg", "-fPIC", "one.c", "two.c", *_SHARED]
                self.assertEqual(self.said(CLANG, *words), "")

    def test_other_switches(self):
        for switch in (
            EVICTION[1],
            "-mlregalloc-max-eviction-count=10",
            "-regalloc-csr-first-time-cost=32768",
            "-mlgo-callee-saved-cost=32768",
            "-mlgo-policy-with-profile",
            "-regalloc-enable-priority-advisor=release",
            "-ml-inliner-model-selector=arm32-size",
        ):
            command = self.link_command("-flto", "-mllvm", switch)
            self.assertEqual(command[-2:], ["-mllvm", switch])
            self.assertEqual(pathlib.Path(command[0]).name, "ld.lld")

    def test_the_linker_s_own_switch_stands(self):
        for given in ("-Wl,-mllvm,-enable-ml-inliner=default", "-Wl,-plugin-opt=-enable-ml-inliner=default"):
            command = self.link_command("-flto", *INLINING, given)
            self.assertEqual([word for word in command if word.endswith("enable-ml-inliner=release")], [])

    def test_links_without_policies_are_those_of_llvm(self):
        unused = "argument unused during compilation: '-mllvm -enable-ml-inliner=release'"
        for words in ([], ["-flto"], INLINING, ["-flto", "-fno-lto", *INLINING]):
            with self.subTest(words):
                command = self.link_command(*words)
                self.assertNotEqual(pathlib.Path(command[0]).name, "ld.lld")
                self.assertNotIn("-mllvm", command)
        self.assertIn(unused, self.said(CLANG, "-###", "one.o", *INLINING))

    def test_decisions_of_a_file(self):
        for kind in KINDS:
            with self.subTest(kind):
                self.compile(kind)
                images = set()
                for bound in ("-10000", "10000"):
                    (self.folder / "given").write_text(f"mlgo-decisions 1\nmodule\t*\notherwise cost-below {bound}\n")
                    images.add(self.image(kind, "-mllvm", "-mlgo-decisions=given"))
                self.assertEqual(len(images), 2)
                done = self.run_tool(CLANG, "-Oz", kind, "one.o", *_SHARED, "-mllvm", "-mlgo-decisions=absent")
                self.check_sentence(done, "-mlgo-decisions: cannot read absent: ")

    def test_a_link_does_not_overwrite_the_decisions_of_the_compile(self):
        for option in ("-mlgo-decisions-taken", "-mlgo-decisions-replay"):
            with self.subTest(option):
                words = ["-flto", "-Oz", "-fPIC", "one.c", *_SHARED, "-mllvm", f"{option}=written"]
                said = self.said(CLANG, *words)
                sentence = (
                    f"warning: -mllvm {option}=written has no effect in this link with -flto: it would overwrite the"
                    f" file of the compile. Name another file for it with -Wl,-mllvm,{option}=FILE"
                )
                self.assertRegex(said, rf"\A\S+: {re.escape(sentence)}.*\n\Z")
                self.assertTrue((self.folder / "written").is_file())
                self.assertNotEqual(self.run_tool(CLANG, "-Werror", *words).returncode, 0)

    def test_another_linker(self):
        linker = self.folder / "other"
        linker.write_text("#!/bin/sh\n", encoding="utf-8")
        linker.chmod(0o755)
        words = ["-flto", f"--ld-path={linker}", "one.o", *INLINING]
        self.compile("-flto")
        said = self.said(CLANG, *words)
        sentence = (
            f"warning: -mllvm {INLINING[1]} has no effect in this link with -flto: {linker} is not the linker of this "
            "clang. Link with -fuse-ld=lld, or remove the option"
        )
        self.assertRegex(said, rf"\A\S+: {re.escape(sentence)}.*\n\Z")
        self.assertNotEqual(self.run_tool(CLANG, "-Werror", *words).returncode, 0)
        group = "unused-command-line-argument"
        self.assertIn(f"[-W{group}]", said)
        self.assertEqual(self.said(CLANG, *words, f"-Wno-{group}"), "")
        self.assertEqual(self.said(CLANG, *words, "-Werror", f"-Wno-error={group}"), said)
        self.assertNotEqual(self.run_tool(CLANG, f"-Werror={group}", *words).returncode, 0)
        # What the user gives to that linker is the user's.
        self.assertEqual(self.said(CLANG, *words, "-Wl,-mllvm,-enable-ml-inliner=release"), "")

    def check_sentence(self, done: subprocess.CompletedProcess[str], sentence: str) -> None:
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertRegex(done.stderr.splitlines()[0], sentence)
        for line in done.stderr.splitlines()[1:]:
            self.assertIn("linker command failed", line)

    def test_a_policy_that_is_not_inside(self):
        for switches, problem in ((INLINING, "inlining_for_size"), (EVICTION, "regalloc_eviction")):
            for kind in KINDS:
                with self.subTest(problem, kind=kind):
                    self.compile(kind, clang=WITHOUT_POLICIES)
                    sentence = re.escape(f"{switches[1]}: this program has no policy for {problem} inside; put one in")
                    done = self.run_tool(WITHOUT_POLICIES, "-Oz", kind, "one.o", *_SHARED, *switches)
                    self.check_sentence(done, sentence)

    def test_bitcode_of_another_major(self):
        for kind in KINDS:
            with self.subTest(kind):
                self.compile(kind)
                bitcode = self.folder / "one.o"
                bitcode.write_bytes(of_another_major(bitcode.read_bytes()))
                done = self.run_tool(CLANG, "-Oz", kind, "one.o", *_SHARED, *INLINING)
                self.check_sentence(
                    done,
                    r"\Ald.lld: error: one.o: Incompatible epoch: Bitcode '1' vs current: '0'; compile it with the"
                    r" clang of this linker\Z",
                )

    def test_bitcode_of_another_major_in_a_library(self):
        for kind in KINDS:
            with self.subTest(kind):
                self.compile(kind)
                self.compile(kind, "two")
                bitcode = self.folder / "two.o"
                bitcode.write_bytes(of_another_major(bitcode.read_bytes()))
                (self.folder / "libtwo.a").unlink(missing_ok=True)
                self.said_by_archiver("rc", "libtwo.a", "one.o", "two.o")
                words = ["-L.", "-Wl,--whole-archive", "-ltwo", "-Wl,--no-whole-archive", *_SHARED, *INLINING]
                done = self.run_tool(CLANG, "-Oz", kind, *words)
                self.check_sentence(
                    done, r"\Ald.lld: error: \./libtwo.a\(two.o\): Incompatible epoch: .*; compile it with"
                )

    def said_by_archiver(self, *words: str) -> None:
        archiver = runfile(CLANG).resolve().with_name("llvm-ar")
        subprocess.run([archiver, *words], cwd=self.folder, capture_output=True, timeout=300, check=True)

    def test_unified_and_other_bitcode(self):
        for name, more in (("one", ["-funified-lto"]), ("two", [])):
            self.assertEqual(self.said(CLANG, "-Oz", "-fPIC", "-flto", *more, "-c", f"{name}.c"), "")
        done = self.run_tool(CLANG, "-Oz", "-flto", "-fuse-ld=lld", "one.o", "two.o", *_SHARED)
        sentence = (
            r"\Ald.lld: error: one.o was compiled with -funified-lto and two.o was not: unified LTO compilation must"
            r" use compatible bitcode modules \(use -funified-lto\); compile both in the same way\Z"
        )
        self.check_sentence(done, sentence)

    def test_the_linker_s_version_names_the_policies(self):
        said = []
        for program in (CLANG, WITHOUT_POLICIES):
            with self.subTest(program):
                clang = runfile(program).resolve()
                of_clang, of_linker = (
                    subprocess.run([path, "--version"], capture_output=True, text=True, timeout=300, check=True).stdout
                    for path in (clang, clang.with_name("ld.lld"))
                )
                head, *policies = of_linker.splitlines()
                self.assertRegex(head, r"\ALLD [0-9.]+ \(compatible with GNU linkers\)\Z")
                self.assertEqual(policies, [line for line in of_clang.splitlines() if line.startswith("mlgo policy: ")])
                self.assertEqual(len(policies), 3)
                said.append(policies)
        self.assertNotEqual(*said)

    def test_a_mix_of_kinds(self):
        for first, second in (("-flto", "-flto=thin"), ("-flto", ""), ("-flto=thin", "")):
            with self.subTest(first=first, second=second):
                self.compile(first)
                self.compile(second, "two")
                without = self.image("two.o", first, "-fuse-ld=lld")
                self.assertIs(self.image("two.o", first, *INLINING) == without, False)


if __name__ == "__main__":
    unittest.main()
