"""Where tests that start compilers work."""

import contextlib
import os
import pathlib
import tempfile
import time
import unittest
from collections.abc import Mapping

from mlgo.compiler.request import CompileFailure, CompileLimits, CompileOutcome, CompileRequest
from mlgo.compiler.testing import fake_clang
from mlgo.corpus.corpus import Corpus
from mlgo.problems.problem import Problem
from mlgo.problems.regalloc_eviction.problem import PROBLEM

_MOST_WAITS, _WAIT_SECONDS = 100, 0.05


class ScratchTestCase(unittest.TestCase):
    """Each test has a temporary folder `root`; compiles use its folder `work`, which is empty at first."""

    def setUp(self):
        self.root = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.work = self.root / "work"
        self.work.mkdir()

    def assert_nothing_left(self) -> None:
        """Compiles that have ended left neither processes nor files."""
        # The kernel ends a killed process a moment after kill() returns.
        for _ in range(_MOST_WAITS):
            if not (left := _processes_in(self.work)):
                break
            time.sleep(_WAIT_SECONDS)
        self.assertEqual(left, [])
        self.assertEqual(list(self.work.iterdir()), [])


def _processes_in(directory: pathlib.Path) -> list[str]:
    """Numbers of processes whose current directory is, or was, below `directory`."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if entry.name.isdigit() and os.readlink(entry / "cwd").startswith(str(directory)):
                found.append(entry.name)
    return found


class FakeClangTestCase(ScratchTestCase):
    """The same, with a fake clang for eviction in `root`."""

    def setUp(self):
        super().setUp()
        self.clang = pathlib.Path(fake_clang.install(self.root, PROBLEM))

    def requests(
        self, modules: Mapping[str, bytes], problem: Problem | None = PROBLEM, **changes
    ) -> list[CompileRequest]:
        """Compiles of the modules of a corpus: name -> content of the .bc file. Args: changes: fields of a request."""
        corpus = fake_clang.write_corpus(self.root / "corpus", dict(modules))
        limits = CompileLimits(cpu_seconds=20, address_space_bytes=2 << 30, log_bytes=16 << 20)
        given = {"limits": limits, "workdir": self.work, **changes}
        return [CompileRequest(self.clang, module, problem, **given) for module in Corpus.load(corpus).modules]

    def model(self, weights: bytes = b"weights") -> pathlib.Path:
        """A new folder with a policy that the fake clang takes."""
        folder = pathlib.Path(tempfile.mkdtemp(prefix="model", dir=self.root))
        (folder / "model.tflite").write_bytes(weights)
        (folder / "output_spec.json").write_text('[{"logging_name": "index_to_evict"}]')
        return folder


def comparable(outcome: CompileOutcome) -> object:
    """A failure, or the content of the log and object."""
    if isinstance(outcome, CompileFailure):
        return outcome
    log = outcome.made_log
    features = [feature.tobytes() for feature in log.features.values()]
    return log.contexts, log.actions.tobytes(), log.outcomes.tobytes(), features, outcome.object_bytes
