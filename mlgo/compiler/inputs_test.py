"""Inputs of a compile are private copies, and inputs that no compile can read are a failure of that compile."""

import errno
import os
import pathlib
import stat
from unittest import mock

from mlgo.compiler.compile import compile_module
from mlgo.compiler.inputs import UnusableInput, place_inputs
from mlgo.compiler.request import CompileFailure, CompileLimits, CompileRequest, FailureKind
from mlgo.compiler.testing import fake_clang
from mlgo.compiler.testing.fake_clang import FakeModule
from mlgo.compiler.testing.scratch_case import FakeClangTestCase
from mlgo.corpus.corpus import Corpus, Module
from mlgo.problems.regalloc_eviction.problem import PROBLEM
from mlgo.run.exit_codes import RunError

_CARRIED = "files/0123456789abcdef-a.profdata"


class InputsTest(FakeClangTestCase):
    def setUp(self):
        super().setUp()
        self.corpus = self.root / "corpus"
        fake_clang.write_corpus(self.corpus, {"a/b.c": FakeModule.bitcode({"f": 1})})
        (self.corpus / "files").mkdir()
        (self.corpus / _CARRIED).write_bytes(b"profile")
        with open(self.corpus / "a/b.c.cmd", "ab") as file:
            file.write(f"-fprofile-instrument-use-path={_CARRIED}\0".encode())
        self.policy = self.model()

    def request(self, **changes) -> CompileRequest:
        (module,) = Corpus.load(self.corpus).modules
        return CompileRequest(self.clang, module, PROBLEM, model_dir=self.policy, **changes)

    def unusable(self, request: CompileRequest, message: str) -> None:
        with self.assertRaisesRegex(UnusableInput, message):
            place_inputs(request, str(self.work))

    def test_a_compiler_that_writes_to_its_inputs_changes_nothing_else(self):
        kept = (self.corpus / "a/b.c.bc", self.corpus / _CARRIED, *self.policy.iterdir())
        before = [path.read_bytes() for path in kept]
        place_inputs(self.request(), str(self.work))
        placed = [path for path in self.work.rglob("*") if path.is_file()]
        names = {str(path.relative_to(self.work)) for path in placed}
        self.assertEqual(names, {_CARRIED, "model/model.tflite", "model/output_spec.json", "module.bc"})
        self.assertEqual({path.read_bytes() for path in placed}, set(before))
        for path in placed:
            self.assertEqual(stat.S_IMODE(path.lstat().st_mode), 0o400)
            path.chmod(0o600)
            path.write_bytes(b"overwritten")
        self.assertEqual([path.read_bytes() for path in kept], before)

    def test_an_absent_file_is_left_to_the_compiler(self):
        (self.policy / "model.tflite").unlink()
        place_inputs(self.request(), str(self.work))
        self.assertEqual([path.name for path in (self.work / "model").iterdir()], ["output_spec.json"])

    def test_not_a_regular_file(self):
        # A FIFO would be waited for, and a device read for ever.
        (self.policy / "model.tflite").unlink()
        os.mkfifo(self.policy / "model.tflite")
        self.unusable(self.request(), "^model.tflite is not a regular file$")
        bitcode = self.corpus / "a/b.c.bc"
        bitcode.unlink()
        bitcode.symlink_to("/dev/zero")
        self.unusable(self.request(), "^module.bc is not a regular file$")

    def test_larger_than_the_memory_of_the_compile(self):
        with open(self.corpus / "a/b.c.bc", "r+b") as file:
            file.truncate(200 << 30)
        wrong = f"^module.bc has {200 << 30} bytes, and the compile may use {1 << 20}$"
        self.unusable(self.request(limits=CompileLimits(address_space_bytes=1 << 20)), wrong)

    def test_a_compile_with_such_an_input_fails(self):
        bitcode = self.root / "endless.bc"
        bitcode.symlink_to("/dev/zero")
        request = CompileRequest(pathlib.Path("clang"), Module.at("m", bitcode, ("-cc1",)), PROBLEM, workdir=self.work)
        outcome = compile_module(request)
        assert isinstance(outcome, CompileFailure)
        self.assertEqual((outcome.kind, outcome.detail), (FailureKind.COMPILE_ERROR, "module.bc is not a regular file"))

    def test_a_full_disk(self):
        full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        with (
            mock.patch.object(os, "sendfile", side_effect=full),
            self.assertRaisesRegex(RunError, "while placing module.bc of a/b.c: no space is left there. free space"),
        ):
            place_inputs(self.request(), str(self.work))
