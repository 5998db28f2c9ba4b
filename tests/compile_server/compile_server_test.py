"""The compile server and the compiler beside it give the same bytes, and their compiles fail alike."""

import contextlib
import dataclasses
import errno
import functools
import os
import pathlib
import signal
import subprocess
import tempfile
import threading
import unittest
from unittest import mock

from mlgo.compiler import server as servers
from mlgo.compiler.attempts import MAX_REPEATS
from mlgo.compiler.compile import compile_module
from mlgo.compiler.executor import LocalExecutor
from mlgo.compiler.request import CompileFailure, CompileLimits, CompileRequest, CompileResult, FailureKind
from mlgo.compiler.server_executor import ServerExecutor, executor_for
from mlgo.corpus.corpus import Corpus, Module
from mlgo.problems.problem import Problem, load_problem
from mlgo.run import locate
from mlgo.trace.optimised_corpus import CODE_GENERATION_FLAG, OPTIMISE_FLAGS
from tests.compilers import faults

#: Short name in tests/policies -> problem.
PROBLEMS = {"eviction": "regalloc_eviction", "inlining": "inlining_for_size", "priority": "regalloc_priority"}
#: The smallest so many modules of the corpus are compiled, which takes half a minute on two cores.
_MODULES = 5
_WORKERS = 2
#: Its assembler makes a text of 3 GB out of this.
_EATER = """\
target triple = "x86_64-pc-linux-gnu"
module asm ".rept 500000000\\0A nop\\0A .endr"
define i32 @f(i32 %a) {
  ret i32 %a
}
"""


def comparable(outcome: CompileResult | CompileFailure) -> tuple:
    """All of an outcome but the time it took, as what can be compared."""
    if isinstance(outcome, CompileFailure):
        return (outcome.module_name, outcome.kind, outcome.detail)
    log = outcome.log
    arrays = {**log.features, **log.extra_outputs, "": log.actions} if log is not None else {}
    if log is not None:
        arrays |= {" outcomes": log.outcomes, " context": log.observation_context}
    return (
        outcome.module_name,
        outcome.object_bytes,
        outcome.files,
        log and log.contexts,
        {name: array.tobytes() for name, array in arrays.items()},
    )


def described(outcome: CompileResult | CompileFailure) -> str:
    """An outcome as text."""
    return f"{outcome.kind.value} ({outcome.detail})" if isinstance(outcome, CompileFailure) else "compiled"


class CompileServerTest(unittest.TestCase):
    clang: pathlib.Path
    program: pathlib.Path
    modules: list[Module]

    @classmethod
    def setUpClass(cls):
        cls.clang = locate.runfile("development/clang")
        program = servers.beside(cls.clang)
        assert program, f"no compile server is beside {cls.clang}"
        cls.program = program
        modules = Corpus.load(locate.runfile("mlgo/corpus/llvm_few_held_out")).modules
        cls.modules = sorted(modules, key=lambda module: (module.bitcode_size, module.name))[:_MODULES]

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.server = executor_for(self.clang, _WORKERS, tell=self.fail)
        self.assertIsInstance(self.server, ServerExecutor)
        self.addCleanup(self.server.close)

    def alike(self, requests: list[CompileRequest]) -> list[CompileResult | CompileFailure]:
        """What the requests give, the same by server and by process."""
        expected = list(LocalExecutor(_WORKERS).run_ordered(requests))
        found = list(self.server.run_ordered(requests))
        for request, one, other in zip(requests, expected, found, strict=True):
            what = (
                f"{request.module.name}, {request.model_dir}: {described(one)} by process, {described(other)} by server"
            )
            self.assertTrue(comparable(one) == comparable(other), what)
        return found

    def requests(self, short: str, modules: list[Module], **changes) -> list[CompileRequest]:
        """Each module under the default, and under two policies."""
        problem = load_problem(PROBLEMS[short])
        models = [
            None,
            *(
                locate.runfile(f"tests/policies/{kind}_{short}_tflite/model.tflite").parent
                for kind in ("random", "fewer_features")
            ),
        ]
        return [
            CompileRequest(self.clang, module, problem, model_dir=model, want_object=True, **changes)
            for module in modules
            for model in models
        ]

    def optimised(self, problem: Problem) -> list[Module]:
        """The modules after the optimiser: what register allocation is trained on."""
        requests = [
            CompileRequest(self.clang, module, problem, want_log=False, want_object=True, extra_flags=OPTIMISE_FLAGS)
            for module in self.modules
        ]
        made = []
        for module, outcome in zip(self.modules, self.alike(requests), strict=True):
            path = self.folder / (module.name.replace("/", "_") + ".bc")
            assert isinstance(outcome, CompileResult) and outcome.object_bytes is not None, described(outcome)
            path.write_bytes(outcome.object_bytes)
            made.append(Module.at(module.name, path, (*module.command, CODE_GENERATION_FLAG)))
        return made

    def test_inlining(self):
        found = self.alike(self.requests("inlining", self.modules))
        self.assert_policies_matter(found)

    def test_eviction(self):
        found = self.alike(self.requests("eviction", self.optimised(load_problem(PROBLEMS["eviction"]))))
        self.assert_policies_matter(found)

    def test_priority(self):
        found = self.alike(self.requests("priority", self.optimised(load_problem(PROBLEMS["priority"]))))
        self.assert_policies_matter(found)

    def assert_policies_matter(self, found: list[CompileResult | CompileFailure]) -> None:
        self.assertEqual({described(outcome) for outcome in found}, {"compiled"})
        objects = [outcome.object_bytes for outcome in found if isinstance(outcome, CompileResult)]
        self.assertTrue(
            any(objects[index] != objects[index + 1] for index in range(0, len(found), 3)),
            "the default and a random policy gave the same objects",
        )

    def test_failures(self):
        garbage = self.folder / "garbage.bc"
        garbage.write_bytes(b"BC\xc0\xde nothing that anybody wrote")
        broken = [Module.at("garbage", garbage, self.modules[0].command)]
        first = self.modules[:1]
        for modules, kind, changes in (
            (broken, FailureKind.COMPILE_ERROR, {}),
            (first, FailureKind.BAD_FLAGS, {"extra_flags": ("-fno-such-flag",)}),
            (first, FailureKind.BAD_FLAGS, {"extra_flags": ("-mllvm", "-no-such-option")}),
            (self.modules[-1:], FailureKind.BAD_LOG, {"limits": CompileLimits(log_bytes=1000)}),
        ):
            for outcome in self.alike(self.requests("eviction", modules, **changes)):
                self.assertRegex(described(outcome), f"^{kind.value} ")

    def test_out_of_memory(self):
        path = self.folder / "eater.ll"
        path.write_text(_EATER)
        eater = Module.at("eater", path, self.modules[0].command)
        requests = self.requests("eviction", [eater], limits=CompileLimits(address_space_bytes=512 << 20))
        # Where memory ends is another place each time, that it is said so is not.
        for executor in (LocalExecutor(_WORKERS), self.server):
            for outcome in executor.run_ordered(requests):
                self.assertRegex(described(outcome), "^out_of_memory ")

    def test_a_model_that_cannot_be_loaded(self):
        model = self.folder / "model"
        model.mkdir()
        (model / "model.tflite").write_bytes(b"nothing")
        (model / "output_spec.json").write_text("[]")
        for short in PROBLEMS:
            requests = [
                dataclasses.replace(request, model_dir=model) for request in self.requests(short, self.modules[:1])[:2]
            ]
            for outcome in self.alike(requests):
                self.assertNotEqual(described(outcome), "compiled")

    def test_kills_change_nothing(self):
        # As many as one compile survives, of servers and of the compiles in them.
        requests = self.requests("inlining", self.modules) * 3
        expected = list(LocalExecutor(_WORKERS).run_ordered(requests))
        found, killed = [], 0
        for outcome in self.server.run_ordered(requests):
            found.append(comparable(outcome))
            if killed < MAX_REPEATS and len(found) % 10 == 1:
                os.kill(_youngest_process("compile_server"), signal.SIGKILL)
                killed += 1
        self.assertEqual(killed, MAX_REPEATS)
        self.assertTrue(found == [comparable(outcome) for outcome in expected])

    def test_killed_in_the_middle_of_a_compile(self):
        request = self.requests("inlining", self.modules[-1:])[1]
        with contextlib.closing(servers.CompileServer(self.program)) as server:
            killer = threading.Timer(0.02, os.kill, (server.process_id, signal.SIGKILL))
            killer.start()
            with self.assertRaisesRegex(servers.ServerDied, "the compile server"):
                for _ in range(1000):
                    compile_module(request, None, server)
            killer.join()

    def test_a_kernel_without_pidfd_open(self):
        request = self.requests("inlining", self.modules[-1:])[1]
        (expected,) = LocalExecutor(1).run_ordered([request])
        for error in (errno.ENOSYS, errno.EPERM, errno.EMFILE):
            refusing = functools.partial(subprocess.Popen, preexec_fn=faults.refuse("pidfd_open", error))
            with mock.patch.object(subprocess, "Popen", refusing):
                server = servers.CompileServer(self.program)
            with contextlib.closing(server):
                self.assertEqual(comparable(compile_module(request, None, server)), comparable(expected))

    def test_a_descriptor_that_is_none(self):
        for word in ("x", "", "-1", "3x", "999"):
            command = [str(self.program), word]
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
            self.assertEqual((done.returncode, done.stderr[:33]), (2, "usage: compile_server DESCRIPTOR "))


def _youngest_process(name: str) -> int:
    """The process of this name, descended from this one, that was started last."""
    statuses = {}
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            before, _, after = path.read_text(encoding="utf-8", errors="replace").rpartition(")")
            fields = after.split()
            # proc(5): parent and start time are the 2nd and the 20th field after the name.
            statuses[int(path.parent.name)] = (before.partition("(")[2], int(fields[1]), int(fields[19]))

    def is_ours(process: int) -> bool:
        while process in statuses and process != os.getpid():
            process = statuses[process][1]
        return process == os.getpid()

    found = [(status[2], process) for process, status in statuses.items() if status[0] == name and is_ours(process)]
    return max(found)[1]


if __name__ == "__main__":
    unittest.main()
