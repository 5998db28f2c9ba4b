"""Commands of a foreign corpus that run, write or read: refused by process and by compile server, nothing happens.

Each attempt is first given to the compiler itself, without the filter, which shows that the harm is real.
"""

import pathlib
import re
import subprocess
import unittest

from mlgo.compiler.compile import compiler_environment
from mlgo.compiler.executor import LocalExecutor
from mlgo.compiler.request import CompileRequest, CompileResult, FailureKind
from mlgo.compiler.server_executor import ServerExecutor, executor_for
from mlgo.compiler.testing.scratch_case import ScratchTestCase
from mlgo.corpus import command
from mlgo.corpus.command_check import check_commands
from mlgo.corpus.corpus import Corpus, CorpusError
from mlgo.corpus.options import llvm_rules, table
from mlgo.corpus.writer import CorpusWriter
from mlgo.run import locate
from mlgo.run.exit_codes import ExitCode

# The optimiser changes this function, the inliner and the register allocator have decisions in it.
_MODULE = b"""
target triple = "x86_64-pc-linux-gnu"
define internal i32 @callee(i32 %a) {
  %slot = alloca i32
  store i32 %a, ptr %slot
  %value = load i32, ptr %slot
  %sum = add i32 %value, 1
  ret i32 %sum
}
define i32 @caller(i32 %a, i32 %b) {
  %first = call i32 @callee(i32 %a)
  %second = call i32 @callee(i32 %b)
  %product = mul i32 %first, %second
  ret i32 %product
}
"""
_COMMAND = ("-triple", "x86_64-pc-linux-gnu", "-O2")
_CHANGED = ("-mllvm", "-print-changed=diff")


class CommandsTest(ScratchTestCase):
    clang: pathlib.Path

    @classmethod
    def setUpClass(cls):
        cls.clang = locate.runfile("development/clang")

    def setUp(self):
        super().setUp()
        self.harm = self.root / "harm"
        program = self.root / "program"
        program.write_text(f"#!/bin/sh\ntouch {self.harm}\n")
        program.chmod(0o755)
        response = self.root / "response"
        response.write_text(f"-mllvm -info-output-file={self.harm} -mllvm -stats")
        with CorpusWriter(self.root / "files only") as writer:
            writer.add("m", _MODULE, _COMMAND)
            self.program, self.response = writer.add_file(program), writer.add_file(response)
            writer.finish()
        (self.root / "files only" / self.program).chmod(0o755)
        self.server = executor_for(self.clang, 1, tell=self.fail)
        self.assertIsInstance(self.server, ServerExecutor)
        self.addCleanup(self.server.close)

    def attempts(self) -> dict[str, tuple[str, ...]]:
        """Words that do harm, by the option that must be named."""
        return {
            "-mllvm -print-changed-diff-path": (*_CHANGED, "-mllvm", f"-print-changed-diff-path={self.program}"),
            f"@{self.response}": (f"@{self.response}",),
            "@files/": ("-main-file-name", f"@{self.response}"),
            "-mllvm -info-output-file": ("-mllvm", f"-info-output-file={self.harm}", "-mllvm", "-stats"),
            "-mllvm -ir-dump-directory": ("-mllvm", f"-ir-dump-directory={self.harm}", "-mllvm", "-print-after-all"),
            "-mllvm -dot-cfg-dir": ("-mllvm", f"-dot-cfg-dir={self.harm}", "-mllvm", "-print-changed=dot-cfg"),
            "-mllvm -training-log": (
                *("-mllvm", "-enable-ml-inliner=development", "-mllvm", f"-training-log={self.harm}"),
            ),
            "-mllvm -regalloc-training-log": (
                *("-mllvm", "-regalloc-enable-advisor=development", "-mllvm", f"-regalloc-training-log={self.harm}"),
            ),
            "-mllvm -opt-bisect-print-ir-path": (
                *("-mllvm", "-opt-bisect-limit=1", "-mllvm", f"-opt-bisect-print-ir-path={self.harm}"),
            ),
            "-mmlir": ("-mmlir", "-x", "-fprofile-instrument=clang", f"-stats-file={self.harm}"),
        }

    def corpus(self, words: tuple[str, ...]) -> pathlib.Path:
        folder = self.root / "corpus"
        with CorpusWriter(folder) as writer:
            for name in (self.program, self.response):
                writer.add_file(self.root / "files only" / name)
            writer.add("a/m", _MODULE, words)
            writer.finish()
        return folder

    def outcome(self, executor, corpus: Corpus):
        request = CompileRequest(self.clang, corpus.modules[0], want_log=False, want_object=True, workdir=self.work)
        (outcome,) = executor.run_ordered([request])
        return outcome

    def test_the_harm_is_real(self):
        harmful = []
        for option, words in self.attempts().items():
            compile_it = [
                str(self.clang),
                "-cc1",
                *_COMMAND,
                *words,
                "-emit-obj",
                "-o",
                str(self.root / "m.o"),
                "-x",
                "ir",
            ]
            subprocess.run(
                [*compile_it, "m.bc"],
                cwd=self.root / "files only",
                env=compiler_environment(),
                capture_output=True,
                check=False,
            )
            if self.harm.exists():
                harmful.append(option)
                self.remove_harm()
        self.assertIn("-mllvm -print-changed-diff-path", harmful)
        self.assertIn(f"@{self.response}", harmful)
        self.assertIn("-mllvm -training-log", harmful)
        self.assertGreaterEqual(len(harmful), 6, harmful)

    def test_the_table_has_every_option_of_our_compiler(self):
        listed = subprocess.run(
            [str(self.clang), "-cc1", "-mllvm", "-help-list-hidden"], capture_output=True, text=True, check=True
        )
        names = set(re.findall(r"^ {2,6}--?([A-Za-z0-9_.+-]+)", listed.stdout, re.MULTILINE))
        self.assertGreater(len(names), 2000)
        self.assertEqual(names - set(table.chosen_table().llvm), set())
        # They log, load models and print what they are made of.
        ignored = llvm_rules.DECISIONS | llvm_rules.SELECTORS
        for name in (table.OF_OUR_COMPILERS & names) - ignored:
            with self.assertRaisesRegex(command.RefusedOptionsError, re.escape(f"has -mllvm -{name}")):
                print(command.CompileCommand(["-mllvm", f"-{name}=x"]).portable)
        # The compiler does not see them, so it neither reads nor writes their files.
        for name in ignored:
            self.assertEqual(command.CompileCommand(["-mllvm", f"-{name}=x"]).portable, ())

    def remove_harm(self) -> None:
        if self.harm.is_dir():
            for path in self.harm.iterdir():
                path.unlink()
            self.harm.rmdir()
        else:
            self.harm.unlink()

    def test_refused_before_and_by_each_compile(self):
        for option, words in self.attempts().items():
            corpus = Corpus.load(self.corpus((*_COMMAND, *words)))
            with self.subTest(option), self.assertRaises(CorpusError) as raised:
                check_commands(corpus)
            self.assertIn(f"{option[:60]}", str(raised.exception))
            self.assertIn("(a/m)", str(raised.exception))
            for executor in (LocalExecutor(1), self.server):
                with self.subTest(option, executor=executor):
                    failure = self.outcome(executor, corpus)
                    self.assertIs(failure.kind, FailureKind.BAD_FLAGS)
                    self.assertIn("which may do more than change code", failure.detail)
                self.assertFalse(self.harm.exists(), option)
                self.assertEqual(list(self.work.iterdir()), [], option)

    def test_an_allowed_option_is_the_same_for_both_executors(self):
        corpus = Corpus.load(
            self.corpus((*_COMMAND, "-mllvm", "-verify-cfiinstrs", "-mllvm", "-stats")), ["-mllvm -stats"]
        )
        by_process, by_server = (self.outcome(executor, corpus) for executor in (LocalExecutor(1), self.server))
        self.assertIsInstance(by_process, CompileResult, by_process)
        self.assertEqual(by_process.object_bytes, by_server.object_bytes)

    def test_a_command_stops_before_the_first_compile(self):
        folder = self.corpus((*_COMMAND, *self.attempts()["-mllvm -print-changed-diff-path"]))
        done = subprocess.run(
            [
                str(locate.runfile("mlgo/generate_default_trace")),
                f"--corpus={folder}",
                "--problem=inlining_for_size",
                f"--output_dir={self.root / 'trace'}",
                f"--clang={self.clang}",
            ],
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual(done.returncode, ExitCode.USER_ERROR, done.stderr)
        self.assertIn("-mllvm -print-changed (a/m), -mllvm -print-changed-diff-path (a/m)", done.stderr)
        self.assertIn("--allow_option='-mllvm -print-changed'", done.stderr)
        self.assertNotIn("Traceback", done.stderr)
        self.assertFalse(self.harm.exists())


if __name__ == "__main__":
    unittest.main()
