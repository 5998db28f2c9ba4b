"""mlgo-size.cfg in all commands of builds: which compile it takes, what overrides it, and that it stays silent."""

import pathlib
import subprocess
import tempfile
import unittest

from mlgo.compiler.code_size import code_of_object
from mlgo.problems.problem import load_problem
from mlgo.run.locate import runfile
from tests.compilers.calls import calls_of_helpers

CLANG = "release/clang"
CONFIG = "--config=mlgo-size.cfg"
POLICY = load_problem("inlining_for_size").release_flags()
#: The default then inlines nothing, so that the policy's object is the smaller one.
KEEP_BY_DEFAULT = ("-mllvm", "-inline-threshold=-100")
_X86 = "--target=x86_64-linux-gnu"
#: Targets on which code is not taken over from the compile that was generated first.
OTHER_TARGETS = (
    "aarch64-linux-gnu",
    "thumbv7em-none-eabi",
    "riscv64-linux-gnu",
    "powerpc64le-linux-gnu",
    "wasm32-unknown-unknown",
    "x86_64-pc-windows-msvc",
    "arm64-apple-macos13",
)
_MODULE = "export module one;\nstatic int g(int x) { return x * 3; }\nexport int f(int x) { return g(x) + g(x + 1); }\n"


def search(compiles: int) -> tuple[str, str]:
    return ("-mllvm", f"-mlgo-search={compiles}")


class SizeConfigurationTest(unittest.TestCase):
    folder: pathlib.Path

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        helpers = calls_of_helpers("x")
        for name, text in {
            "calls.c": helpers,
            "recursive.c": "int f(int x) { return x ? f(x - 1) * 3 : 1; }\n",
            "data.c": "int data[100] = {1};\n",
            "one.cppm": _MODULE,
            "user.cpp": "import one;\nint user(int x) { return f(x); }\n",
            "calls.h": "#pragma once\n" + helpers,
            "header.c": "int h(int x) { return x_call0(x); }\n",
            "made.s": ".text\n.globl made\nmade:\n ret\n",
            "odd.c": helpers + 'int odd(int x) { __asm__("bogus %0" : "+r"(x)); return x; }\n',
        }.items():
            (cls.folder / name).write_text(text, encoding="utf-8")

    def output(self, *words: str, source: str = "calls.c", action: str = "-c", said: str = "") -> bytes:
        """What a compile that must succeed writes. Args: said: a part of what it says; empty: it says nothing."""
        made = self.folder / "made"
        command = [str(runfile(CLANG)), *words, action, source, "-o", str(made)]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=300, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        if said:
            self.assertIn(said, done.stderr)
        else:
            self.assertEqual(done.stderr, "", words)
        content = made.read_bytes()
        made.unlink()
        return content

    def test_the_smaller_one_of_default_and_policy(self):
        chosen = set()
        for more in (
            ["-Oz"],
            ["-Oz", *KEEP_BY_DEFAULT],
            ["-Os", *KEEP_BY_DEFAULT],
            ["-Oz", "-g", "-fPIC", *KEEP_BY_DEFAULT],
            ["-Oz", "-g", "-gsplit-dwarf"],
            ["-Oz", "-fprofile-generate"],
            ["-Oz", "-fsanitize=address", "-ffunction-sections"],
            ["-Oz", "-flto", "-ffat-lto-objects"],
        ):
            with self.subTest(more):
                default, policy, found = (self.output(_X86, *more, *words) for words in ([], POLICY, [CONFIG]))
                sizes = [code_of_object(content, "calls.o").code_bytes for content in (default, policy)]
                self.assertIs(found == (policy if sizes[1] < sizes[0] else default), True, sizes)
                chosen.add(sizes[1] < sizes[0])
        self.assertEqual(chosen, {False, True})

    def test_the_last_number_counts(self):
        for before in ([CONFIG], search(4)):
            policy = POLICY if before == [CONFIG] else []
            for last in (8, 2, 1):
                with self.subTest(before, last=last):
                    words = [*search(last), *KEEP_BY_DEFAULT]
                    found, wanted = (self.output(_X86, "-Oz", *first, *words) for first in (before, policy))
                    self.assertIs(found == wanted, True)
        words = [_X86, "-Oz", *KEEP_BY_DEFAULT]
        self.assertIs(self.output(*words, CONFIG, *search(1)) == self.output(*words, *POLICY), True)

    def test_a_module_without_a_call_is_the_default_s(self):
        for source in ("recursive.c", "data.c"):
            self.assertEqual(self.output(_X86, "-Oz", CONFIG, source=source), self.output(_X86, "-Oz", source=source))

    def test_given_decisions_win(self):
        taken = ["-mllvm", "-mlgo-decisions-taken=taken"]
        given = ["-mllvm", "-mlgo-decisions=taken"]
        searched = self.output(_X86, "-Oz", *search(8), *taken)
        self.assertNotEqual(searched, self.output(_X86, "-Oz", CONFIG))
        self.assertEqual(self.output(_X86, "-Oz", CONFIG, *given), searched)
        # Also those of a file that is for other modules.
        (self.folder / "taken").write_text("mlgo-decisions 1\nmodule\tother.c\notherwise default\n", encoding="utf-8")
        self.assertEqual(self.output(_X86, "-Oz", CONFIG, *given), self.output(_X86, "-Oz", *POLICY, *given))

    def test_the_decisions_of_both_are_written(self):
        for source in ("calls.c", "recursive.c"):
            found = self.output(_X86, "-Oz", CONFIG, "-mllvm", "-mlgo-decisions-taken=taken", source=source)
            self.assertEqual(found, self.output(_X86, "-Oz", CONFIG, source=source))
            self.assertEqual(self.output(_X86, "-Oz", "-mllvm", "-mlgo-decisions=taken", source=source), found)

    def test_bitcode_for_a_linker_is_the_policy_s(self):
        for kind in ("-flto", "-flto=thin"):
            words = [_X86, "-Oz", kind, *KEEP_BY_DEFAULT]
            default, policy, found = (self.output(*words, *more) for more in ([], POLICY, [CONFIG]))
            self.assertIs(found == policy, True)
            self.assertIs(found == default, False)
            self.assertIs(self.output(*words, *search(2)) == default, True)
            self.output(*words, CONFIG, *search(8), said="-mlgo-search: has no effect, because the linker makes")

    def test_the_linker_does_not_get_the_search(self):
        for kind in ("-flto", "-flto=thin"):
            command = [str(runfile(CLANG)), _X86, "-###", "-Oz", "-Werror", kind, CONFIG, "made.o", "-o", "image"]
            (self.folder / "made.o").touch()
            done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=60, check=True)
            self.assertIn('"-enable-ml-inliner=release"', done.stderr.splitlines()[-1])
            self.assertNotIn("mlgo-search", done.stderr)
            (self.folder / "made.o").unlink()

    def test_the_back_end_of_thinlto(self):
        (self.folder / "thin.o").write_bytes(self.output(_X86, "-Oz", "-fPIC", "-flto=thin", *KEEP_BY_DEFAULT))
        linker = str(runfile(CLANG).resolve().with_name("ld.lld"))
        command = [linker, "--thinlto-index-only", "-shared", "thin.o", "-o", "thin.so"]
        subprocess.run(command, cwd=self.folder, timeout=60, check=True)
        words = [_X86, "-Oz", "-fPIC", "-fthinlto-index=thin.o.thinlto.bc", "-xir", *KEEP_BY_DEFAULT]
        default, policy, found = (self.output(*words, *more, source="thin.o") for more in ([], POLICY, [CONFIG]))
        self.assertIs(default == policy, False)
        self.assertIs(found in (default, policy), True)

    def test_what_makes_no_object(self):
        for action in ("-E", "-fsyntax-only"):
            command = [str(runfile(CLANG)), _X86, "-Werror", "-Oz", CONFIG, action, "calls.c"]
            done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=60, check=True)
            self.assertEqual(done.stderr, "")
        for words in (["-Xclang", "-emit-llvm-only"], ["-Xclang", "-emit-codegen-only"]):
            command = [str(runfile(CLANG)), _X86, "-Werror", "-Oz", CONFIG, *words, "-c", "calls.c"]
            done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=60, check=True)
            self.assertEqual(done.stderr, "")

    def test_other_outputs_are_those_of_one_of_both(self):
        for action, more in (("-S", []), ("-S", ["-emit-llvm"]), ("-c", ["-emit-llvm"])):
            for keep in ((), KEEP_BY_DEFAULT):
                words = [_X86, "-Werror", "-Oz", *more, *keep]
                default, policy, found = (self.output(*words, *one, action=action) for one in ([], POLICY, [CONFIG]))
                self.assertIs(found in (default, policy), True, (action, more))
        self.assertEqual(self.output(_X86, "-Werror", CONFIG, source="made.s"), self.output(_X86, source="made.s"))

    def test_assembly_that_only_another_assembler_takes(self):
        words = [_X86, "-Oz", "-fno-integrated-as", *KEEP_BY_DEFAULT]
        wanted = self.output(*words, source="odd.c", action="-S")
        self.assertEqual(self.output(*words, CONFIG, source="odd.c", action="-S"), wanted)

    def test_headers_and_modules(self):
        words = [_X86, "-Werror", "-Oz"]
        for name in ("plain", "configured"):
            more = [CONFIG] if name == "configured" else []
            header = self.output(*words, *more, source="calls.h", action="-xc-header")
            (self.folder / f"{name}.pch").write_bytes(header)
            module = self.output(*words, *more, "-std=c++20", source="one.cppm", action="--precompile")
            (self.folder / f"{name}.pcm").write_bytes(module)
        for more in ([], POLICY, [CONFIG]):
            self.output(*words, *more, "-include-pch", "configured.pch", source="header.c")
            self.output(*words, *more, source="configured.pcm")
            self.output(*words, *more, "-std=c++20", "-fmodule-file=one=configured.pcm", source="user.cpp")
        found = self.output(*words, CONFIG, "-include-pch", "configured.pch", source="header.c")
        plain = [self.output(*words, *more, "-include-pch", "plain.pch", source="header.c") for more in ([], POLICY)]
        self.assertIn(found, plain)

    def test_other_targets(self):
        for target in OTHER_TARGETS:
            with self.subTest(target):
                # Objects of Windows would have the time of their compile.
                more = ["-mno-incremental-linker-compatible"] if "windows" in target else []
                words = [f"--target={target}", "-Oz", *more, *KEEP_BY_DEFAULT]
                silent = ["-mllvm", "-mlgo-warn-unmeasured=false"]
                default, policy = (self.output(*words, *silent, *more) for more in ([], POLICY))
                self.assertIs(default == policy, False)
                self.assertIs(self.output("-Werror", *words, CONFIG) in (default, policy), True)

    def test_a_target_without_objects(self):
        words = ["--target=nvptx64-nvidia-cuda", "-Oz", "-mllvm", "-mlgo-warn-unmeasured=false", *KEEP_BY_DEFAULT]
        found, policy = (self.output(*words, *more, action="-S") for more in ([CONFIG], POLICY))
        self.assertIs(found == policy, True)
        said = "-mlgo-search: has no effect, because sizes cannot be read in what is made for nvptx64"
        self.output(*words, *search(8), action="-S", said=said)

    def test_levels_without_functions_for_size(self):
        for level in ("-O0", "-O1", "-O2", "-O3"):
            plain = self.output(_X86, level)
            self.assertEqual(self.output(_X86, "-Werror", level, *search(2)), plain)
            # As with the policy alone: a level for size is missing, except at -O0, which asks no inliner.
            said = "" if level == "-O0" else "the policy for inlining_for_size decides only in functions"
            self.assertEqual(self.output(_X86, level, CONFIG, said=said), plain)

    def refusal(self, *words: str) -> str:
        """The first line that a compile says which must fail."""
        # LLVM crashes where a channel cannot be opened.
        command = [str(runfile(CLANG)), _X86, "-fno-crash-diagnostics", "-Oz", *words, "-c", "calls.c"]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=60, check=False)
        self.assertNotEqual(done.returncode, 0)
        return done.stderr.splitlines()[0]

    def test_errors_are_those_of_the_policy_alone(self):
        for wrong in ("-ml-inliner-model-selector=no", "-inliner-interactive-channel-base=absent"):
            said = self.refusal(CONFIG, "-mllvm", wrong)
            self.assertEqual(said, self.refusal(*POLICY, "-mllvm", wrong))
            self.assertNotIn("-mlgo-search", said)


if __name__ == "__main__":
    unittest.main()
