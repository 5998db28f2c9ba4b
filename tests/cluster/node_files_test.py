"""Each content is put into Ray's store once, whatever the number of nodes, and a damaged copy on a node is replaced."""

import contextlib
import hashlib
import io
import pathlib
import tempfile
import unittest

from mlgo.cluster.executors import ray_executor
from mlgo.cluster.ray_executor import RayExecutor
from mlgo.cluster.testing.outcomes import comparable
from mlgo.compiler.executor import LocalExecutor
from mlgo.compiler.request import CompileRequest
from mlgo.corpus.corpus import Corpus
from mlgo.problems.regalloc_eviction.problem import PROBLEM
from mlgo.run import locate
from tests.cluster.local_cluster import LocalCluster

_NODES = 3
#: Enough that each node gets one at once.
_MODULES = 6


class NodeFilesTest(unittest.TestCase):
    def test_each_node_gets_what_it_lacks(self):
        clang = locate.runfile("development/clang").resolve()
        modules = Corpus.load(locate.runfile("mlgo/corpus/llvm_few_train")).modules
        smallest = sorted(modules, key=lambda module: (module.bitcode_size, module.name))[:_MODULES]
        requests = [CompileRequest(clang, module, PROBLEM, want_object=True) for module in smallest]
        wanted = [comparable(outcome) for outcome in LocalExecutor(2).run_ordered(requests)]
        with tempfile.TemporaryDirectory() as scratch, LocalCluster(pathlib.Path(scratch)) as cluster:
            caches = [pathlib.Path(scratch, str(node)) for node in range(_NODES)]
            for cache in caches:
                cluster.start_node(1, cache)
            with (
                contextlib.redirect_stderr(io.StringIO()),
                contextlib.closing(ray_executor(cluster.address)) as executor,
            ):
                assert isinstance(executor, RayExecutor)
                self.assertEqual([comparable(outcome) for outcome in executor.run_ordered(requests)], wanted)
                self.assertEqual(len(executor._store), 1 + _MODULES)  # pylint: disable=protected-access

                compilers = [max(cache.iterdir(), key=lambda path: path.stat().st_size) for cache in caches]
                for compiler in compilers[:-1]:
                    compiler.chmod(0o755)
                    with open(compiler, "r+b") as file:
                        file.write(b"damage")
                compilers[-1].unlink()
                for _ in range(_NODES):
                    self.assertEqual([comparable(outcome) for outcome in executor.run_ordered(requests)], wanted)
                for compiler in compilers:
                    self.assertEqual(hashlib.sha256(compiler.read_bytes()).hexdigest(), compiler.name)
                self.assertEqual(len(executor._store), 1 + _MODULES)  # pylint: disable=protected-access


if __name__ == "__main__":
    unittest.main()
