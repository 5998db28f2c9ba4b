"""Commands that make clang write files and start programs do neither: in a process, or in the compile server.

The commands come behind the filter of options (mlgo/corpus), as if it had let them through. Each does its harm without
walls.
"""

import contextlib
import pathlib
import shutil
import tempfile
import unittest
from collections.abc import Callable, Iterator, Sequence
from unittest import mock

from mlgo.compiler.compile import clang_command, compile_module, compiler_environment
from mlgo.compiler.inputs import place_inputs
from mlgo.compiler.process import Cancellation, Confinement, LimitedProcess, ProcessOutcome, wait_for_end
from mlgo.compiler.request import CompileLimits, CompileRequest, CompileResult
from mlgo.compiler.server import STDOUT, CompileServer
from mlgo.compiler.server_executor import ServerExecutor
from mlgo.compiler.testing.scratch_case import ScratchTestCase
from mlgo.corpus.corpus import Module
from mlgo.problems.regalloc_eviction.problem import PROBLEM
from mlgo.run import locate

# The optimiser changes it, and registers are allocated for it.
_MODULE = """\
target triple = "x86_64-pc-linux-gnu"
define i32 @f(i32 %a, i32 %b) {
  %c = add i32 %a, 0
  %d = mul i32 %c, %b
  ret i32 %d
}
"""
_COMMAND = ("-cc1", "-triple", "x86_64-pc-linux-gnu", "-O2")
_LIMITS = CompileLimits(cpu_seconds=60)

#: Runs a command in a directory.
Run = Callable[[Sequence[str], pathlib.Path], ProcessOutcome | None]


class CompilersTest(ScratchTestCase):
    def setUp(self):
        super().setUp()
        self.clang = locate.runfile("development/clang")
        self.outside = self.root / "outside"
        self.outside.mkdir()
        bitcode = self.root / "module.ll"
        bitcode.write_text(_MODULE)
        model = locate.runfile("tests/policies/random_eviction_tflite/model.tflite").parent
        module = Module.at("m", bitcode, _COMMAND)
        self.request = CompileRequest(self.clang, module, PROBLEM, model, want_object=True, limits=_LIMITS)
        # Not below `outside`, which must stay empty.
        self.program = self.root / "program"
        self.program.write_text(f"#!/bin/sh\n>'{self.outside}/executed'\n")
        self.program.chmod(0o755)

    def writing(self) -> list[list[str]]:
        """Commands that write into the folder `outside`."""
        good = clang_command(self.request)
        return [
            [*good, "-mllvm", f"-ir-dump-directory={self.outside}/dump", "-mllvm", "-print-after=instcombine"],
            [*good, "-opt-record-file", f"{self.outside}/remarks"],
            # Opened after the first decision.
            [word.replace("=training.log", f"={self.outside}/log") for word in good],
        ]

    def executing(self) -> list[str]:
        """A command that starts the program."""
        flags = ("-mllvm", "-print-changed=diff", "-mllvm", f"-print-changed-diff-path={self.program}")
        return [*clang_command(self.request), *flags]

    def by_process(self, walls: Confinement) -> Run:
        def run(command: Sequence[str], directory: pathlib.Path) -> ProcessOutcome:
            environment = {**compiler_environment(), "TMPDIR": str(directory)}
            limits = (_LIMITS.cpu_seconds, _LIMITS.address_space_bytes, _LIMITS.log_bytes)
            with LimitedProcess(command, str(directory), environment, *limits, walls) as process:
                return wait_for_end(process, _LIMITS.wall_seconds)

        return run

    @contextlib.contextmanager
    def server(self, walls: Confinement) -> Iterator[CompileServer]:
        with contextlib.closing(CompileServer(locate.runfile("development/compile_server"), walls)) as running:
            yield running

    def harm(self, command: Sequence[str], run: Run) -> list[str]:
        """Runs `command`; returns what lies outside afterwards, and removes it."""
        with tempfile.TemporaryDirectory(dir=self.work) as directory:
            place_inputs(self.request, directory)
            run(command, pathlib.Path(directory))
        found = sorted(path.name for path in self.outside.iterdir())
        shutil.rmtree(self.outside)
        self.outside.mkdir()
        return found

    def check(self, run_with: Callable[[Confinement], contextlib.AbstractContextManager[Run]]) -> None:
        """Nothing happens outside, and everything does without walls; one wall is enough against programs."""
        expected: list[tuple[list[str], tuple[Confinement, ...]]] = [
            (command, (Confinement.LANDLOCK, Confinement.ALL)) for command in self.writing()
        ]
        expected.append((self.executing(), (Confinement.LANDLOCK, Confinement.FILTER, Confinement.ALL)))
        for command, stopped_by in expected:
            with self.subTest(command):
                with run_with(Confinement.NONE) as run:
                    self.assertEqual(len(self.harm(command, run)), 1)
                for walls in stopped_by:
                    with run_with(walls) as run:
                        self.assertEqual(self.harm(command, run), [], walls)

    def test_process(self):
        self.check(lambda walls: contextlib.nullcontext(self.by_process(walls)))

    def test_server(self):
        @contextlib.contextmanager
        def run_with(walls: Confinement) -> Iterator[Run]:
            with self.server(walls) as server:
                yield lambda command, directory: server(command, str(directory), _LIMITS, None)

        self.check(run_with)

    def test_shared(self):
        @contextlib.contextmanager
        def run_with(walls: Confinement) -> Iterator[Run]:
            with self.server(walls) as server:
                yield lambda command, directory: self.share(server, command, directory, directory / "inside")

        self.check(run_with)

    def share(
        self, server: CompileServer, command: Sequence[str], directory: pathlib.Path, inside: pathlib.Path
    ) -> ProcessOutcome | None:
        """Begins `command` in `directory` and goes on in `inside`; None: it failed before the first decision."""
        inside.mkdir()
        place_inputs(self.request, str(inside))
        shown = [STDOUT if word == "module.o" else word for word in command]
        with server.shared(shown, str(directory), _LIMITS, None) as shared:
            return shared.run(command, str(inside), _LIMITS, None) if shared else None

    def test_a_child_of_a_shared_compile_is_confined_to_its_own_directory(self):
        for escapes, walls, good_end in (
            (False, Confinement.ALL, True),
            (True, Confinement.NONE, True),
            (True, Confinement.ALL, False),
        ):
            with tempfile.TemporaryDirectory(dir=self.work) as name, self.server(walls) as server:
                directory = pathlib.Path(name)
                # What is shared may write there, and does, before it has decided anything.
                log = f"{name}/escaped" if escapes else "training.log"
                place_inputs(self.request, name)
                command = [word.replace("=training.log", f"={log}") for word in clang_command(self.request)]
                outcome = self.share(server, command, directory, directory / "inside")
                assert outcome is not None
                self.assertEqual(outcome.exit_code == 0, good_end, outcome.stderr)
                self.assertEqual(b'"context"' in (directory / "inside" / log).read_bytes(), good_end)

    def test_shared_compiles_succeed_inside_the_walls(self):
        pool = ServerExecutor(self.request.clang, locate.runfile("development/compile_server"))
        self.addCleanup(pool.close)
        # A failure would be hidden: it is repeated alone.
        with mock.patch.object(pool, "run", side_effect=AssertionError("compiled alone")):
            outcomes = pool.compile_together([self.request, self.request], Cancellation())
        self.assertEqual([type(outcome) for outcome in outcomes], [CompileResult, CompileResult])

    def test_the_corpus_is_not_written_through_the_input(self):
        def run(command, directory, limits, cancellation):
            del limits, cancellation
            return self.by_process(Confinement.NONE)(
                [*command, "-opt-record-file", "module.bc"], pathlib.Path(directory)
            )

        compile_module(self.request, None, run)
        self.assertEqual((self.root / "module.ll").read_text(), _MODULE)


if __name__ == "__main__":
    unittest.main()
