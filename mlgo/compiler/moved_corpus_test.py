"""A corpus gives the same objects wherever it lies. Argument: the path of a clang."""

import pathlib
import shutil
import sys
import tempfile
import unittest

from mlgo.compiler.compile import compile_module
from mlgo.compiler.request import CompileRequest, CompileResult
from mlgo.corpus.corpus import Corpus
from mlgo.run import locate

CLANG = pathlib.Path(sys.argv.pop(1)).absolute()


def objects(corpus: Corpus, workdir: pathlib.Path) -> dict[str, bytes]:
    compiled = {}
    for module in corpus.modules:
        outcome = compile_module(CompileRequest(CLANG, module, want_log=False, want_object=True, workdir=workdir))
        assert isinstance(outcome, CompileResult) and outcome.object_bytes is not None, outcome
        compiled[module.name] = outcome.object_bytes
    return compiled


class MovedCorpusTest(unittest.TestCase):
    def test_objects_are_equal(self):
        where_it_was_built = locate.runfile("mlgo/corpus/tiny")
        with tempfile.TemporaryDirectory() as directory:
            moved = pathlib.Path(directory, "a place", "with another name")
            shutil.copytree(where_it_was_built, moved)
            workdir = pathlib.Path(directory, "work")
            workdir.mkdir()
            original, copy = Corpus.load(where_it_was_built), Corpus.load(moved)
            self.assertEqual(original.digest, copy.digest)
            expected = objects(original, pathlib.Path(directory))
            self.assertEqual(objects(copy, workdir), expected)
            for content in expected.values():
                self.assertTrue(content.startswith(b"\x7fELF"))
                self.assertNotIn(b".llvmbc", content)
                self.assertNotIn(directory.encode(), content)
