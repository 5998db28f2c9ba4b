"""A request, packed and unpacked, compiles as it does locally, here and in a process that has nothing of ours."""

import dataclasses
import errno
import io
import pathlib
import pickle
import subprocess
import sys
import tarfile
import textwrap
from unittest import mock

import numpy as np

from mlgo.cluster import bootstrap, node, parcel
from mlgo.cluster.parcel import Packer, pack_code
from mlgo.cluster.testing.outcomes import comparable
from mlgo.compiler import attempts
from mlgo.compiler.executor import LocalExecutor
from mlgo.compiler.request import CompileFailure, CompileLimits, CompileRequest, CompileResult
from mlgo.compiler.testing import fake_clang
from mlgo.compiler.testing.fake_clang import FakeModule
from mlgo.compiler.testing.scratch_case import ScratchTestCase
from mlgo.corpus.corpus import Corpus
from mlgo.problems.problem import load_problem
from mlgo.problems.regalloc_eviction.problem import PROBLEM
from mlgo.run.exit_codes import RunError

_LIMITS = CompileLimits(cpu_seconds=60, address_space_bytes=1 << 30, log_bytes=1 << 20)

# Does what Ray does on a node: it gets the module itself and the arguments. The path is that of the packages alone.
_BARE = """
import pickle, sys, types
class Context:
    get_node_id = staticmethod(lambda: "node 1")
sys.modules["ray"] = types.SimpleNamespace(get=lambda reference: reference, get_runtime_context=Context)
source, *arguments = pickle.load(sys.stdin.buffer)
made = {"__name__": "bootstrap"}
exec(source, made)
made["compile_on_node"](*arguments)
sys.stdout.buffer.write(pickle.dumps(made["compile_on_node"](*arguments)))
"""


class NodeTest(ScratchTestCase):
    def setUp(self):
        super().setUp()
        self.clang = pathlib.Path(fake_clang.install(self.root, PROBLEM))
        self.model = self.root / "policy"
        self.model.mkdir()
        (self.model / "model.tflite").write_bytes(b"weights")
        (self.model / "output_spec.json").write_text('[{"logging_name": "index_to_evict"}]')
        self.sent: list[str] = []
        self.enterContext(mock.patch.dict("os.environ", MLGO_CLUSTER_CACHE=str(self.root / "cache")))
        node._cache.cache_clear()  # pylint: disable=protected-access

    def requests(self, modules: dict[str, bytes], **changes) -> list[CompileRequest]:
        fake_clang.write_corpus(self.root / "corpus", modules)
        return self.requests_of_corpus(**changes)

    def requests_of_corpus(self, **changes) -> list[CompileRequest]:
        changes, modules = {"limits": _LIMITS, **changes}, Corpus.load(self.root / "corpus").modules
        return [CompileRequest(self.clang, module, PROBLEM, **changes) for module in modules]

    def compile(self, request: CompileRequest, packer: Packer) -> CompileResult | CompileFailure:
        """As a driver does, without Ray."""
        job = packer.pack(request)

        def pieces_of(digest):
            self.sent.append(digest)
            yield from job.pieces(digest)

        return node.outcome_of(node.compile_parcel(pickle.dumps(job.parcel), pieces_of))

    def assert_as_locally(self, requests: list[CompileRequest]) -> None:
        packer = Packer()
        for request, local in zip(requests, LocalExecutor(2).run_ordered(requests), strict=True):
            outcome = self.compile(request, packer)
            self.assertEqual(comparable(outcome), comparable(local))

    def test_outcomes_are_those_of_a_local_compile(self):
        behaviours = "good crash abort refuse no_log truncated_log garbage_log huge_log no_object".split()
        modules = {behaviour: FakeModule.bitcode({"f": 3, "g": 0}, behaviour) for behaviour in behaviours}
        for changes in ({}, {"want_object": True}, {"model_dir": self.model}, {"extra_flags": ("-fno-such", "--odd")}):
            with self.subTest(**changes):
                self.assert_as_locally(self.requests(modules, **changes))

    def test_messages_call_a_policy_as_the_driver_does(self):
        (self.model / "output_spec.json").write_text("none")
        (request,) = self.requests({"m": FakeModule.bitcode({"f": 1})}, model_dir=self.model)
        self.assert_as_locally([request])
        outcome = self.compile(request, Packer())
        assert isinstance(outcome, CompileFailure)
        self.assertIn(str(self.model), outcome.detail)

    def test_embeddings_are_refused(self):
        (request,) = self.requests({"m": FakeModule.bitcode({"f": 1})})
        request = dataclasses.replace(request, problem=load_problem("inlining_for_size+ir2vec.2.0123456789abcdef"))
        with self.assertRaisesRegex(RunError, "nodes get the compiler without the IR2Vec vocabulary"):
            Packer().pack(request)

    def test_compiler_and_modules_are_sent_once_and_policies_along(self):
        modules = {"a": FakeModule.bitcode({"f": 1}), "b": FakeModule.bitcode({"g": 1})}
        requests = self.requests(modules, model_dir=self.model)
        packer = Packer()
        for _ in range(2):
            for request in requests:
                self.compile(request, packer)
        self.assertEqual(len(self.sent), 3)
        (self.model / "model.tflite").write_bytes(b"other")
        before = self.compile(requests[0], packer)
        self.assertEqual(len(self.sent), 3)
        self.assertEqual(comparable(before), comparable(next(LocalExecutor(1).run_ordered(requests[:1]))))

    def test_a_refused_command_is_sent_to_no_node(self):
        self.requests({"m": FakeModule.bitcode({"f": 1})})
        recorded = self.root / "corpus" / "m.cmd"
        recorded.write_bytes(recorded.read_bytes() + b"-mllvm\0-ir-dump-directory=/tmp\0")
        for allowed in ((), ("-mllvm -ir-dump-directory",)):
            (module,) = Corpus.load(self.root / "corpus", allowed).modules
            request = CompileRequest(self.clang, module, PROBLEM, limits=_LIMITS)
            if allowed:
                self.assertEqual(Packer().pack(request).parcel.allowed_options, allowed)
            else:
                with self.assertRaisesRegex(RunError, "has -mllvm -ir-dump-directory, which may do more"):
                    Packer().pack(request)

    def test_a_large_policy_is_cached(self):
        (request,) = self.requests({"m": FakeModule.bitcode({"f": 1})}, model_dir=self.model)
        with mock.patch.object(parcel, "_MAX_INLINE_BYTES", 3):
            self.assert_as_locally([request])
        self.assertEqual(len(self.sent), 4)

    def test_a_module_with_files_that_its_command_names(self):
        self.requests({"deep/m": FakeModule.bitcode({"f": 2})})
        corpus = self.root / "corpus"
        name = "files/0123456789abcdef-a.profdata"
        (corpus / "files").mkdir()
        (corpus / name).write_bytes(b"profile")
        command = corpus / "deep/m.cmd"
        command.write_bytes(command.read_bytes() + f"-fprofile-instrument-use-path={name}\0".encode())
        requests = self.requests_of_corpus()
        self.assertIn(f"corpus/{name}", Packer().pack(requests[0]).parcel.digests)
        self.assert_as_locally(requests)

    def assert_unusable(self, message: str, behaviour: str = "good") -> None:
        (request,) = self.requests({"m": FakeModule.bitcode({}, behaviour)})
        with self.assertRaisesRegex(node.NotCompiled, message):
            self.compile(request, Packer())

    def test_a_machine_where_compilers_cannot_start_is_unusable(self):
        self.clang.write_bytes(b"no program")
        self.assert_unusable("cannot be started")

    def test_a_machine_with_tighter_limits_is_unusable(self):
        with mock.patch("resource.getrlimit", lambda _: (1, 1 << 29)):
            self.assert_unusable(f"RLIMIT_AS is {1 << 29}, and a compile may use {1 << 30}. .* node is started")

    def test_a_machine_that_kills_compilers_is_unusable(self):
        with mock.patch.object(attempts, "_PAUSES_SECONDS", (0.0,) * attempts.MAX_REPEATS):
            self.assert_unusable("was ended from outside 4 times", "killed")

    def test_a_full_cache_is_unusable(self):
        full = OSError(errno.ENOSPC, "No space left on device")
        with mock.patch("mlgo.cluster.blobs.BlobCache.path", side_effect=full):
            self.assert_unusable("No space left on device")

    def test_a_process_with_nothing_of_ours_compiles(self):
        code, digest = pack_code()
        (request,) = self.requests({"m": FakeModule.bitcode({"f": 3})}, model_dir=self.model)
        (local,) = LocalExecutor(1).run_ordered([request])
        job = Packer().pack(request)
        sources = {content: list(job.pieces(content)) for content in job.parcel.all_digests()}
        source = pathlib.Path(bootstrap.__file__).read_text(encoding="utf-8")
        packages = str(pathlib.Path(np.__file__).parents[1])
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-c", f"import sys; sys.path.append({packages!r})\n{textwrap.dedent(_BARE)}"],
            input=pickle.dumps((source, [code], digest, pickle.dumps(job.parcel), sources)),
            env={"MLGO_CLUSTER_CACHE": str(self.root / "bare"), "RUNFILES_DIR": "/nowhere"},
            cwd=self.root,
            capture_output=True,
            check=False,
        )
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        name, _, message = pickle.loads(done.stdout)
        self.assertEqual(name, "node 1")
        self.assertEqual(comparable(node.outcome_of(message)), comparable(local))

    def test_the_code_that_travels_is_the_same_each_time_and_has_no_tests(self):
        self.assertEqual(pack_code(), pack_code())
        with tarfile.open(fileobj=io.BytesIO(pack_code()[0])) as archive:
            names = archive.getnames()
        self.assertIn("_main/mlgo/compiler/compile.py", names)
        self.assertEqual([name for name in names if name.endswith("_test.py")], [])
