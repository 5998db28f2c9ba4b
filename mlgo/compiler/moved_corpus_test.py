"""A corpus gives the same objects wherever it lies. Argument: the path of a clang."""

import pathlib
import shutil
import sys

from mlgo.compiler.compile import compile_module
from mlgo.compiler.request import CompileRequest, CompileResult
from mlgo.corpus.corpus import Corpus
from mlgo.run import locate
from mlgo.run.testing.folder_case import FolderCase

CLANG = pathlib.Path(sys.argv.pop(1)).absolute()


def objects(corpus: Corpus, workdir: pathlib.Path) -> dict[str, bytes]:
    compiled = {}
    for module in corpus.modules:
        outcome = compile_module(CompileRequest(CLANG, module, want_log=False, want_object=True, workdir=workdir))
        assert isinstance(outcome, CompileResult) and outcome.object_bytes is not None, outcome
        compiled[module.name] = outcome.object_bytes
    return compiled


class MovedCorpusTest(FolderCase):
    def test_objects_are_equal(self):
        where_it_was_built = locate.runfile("mlgo/corpus/tiny")
        moved, workdir = self.folder / "a place" / "with another name", self.folder / "work"
        shutil.copytree(where_it_was_built, moved)
        workdir.mkdir()
        original, copy = Corpus.load(where_it_was_built), Corpus.load(moved)
        self.assertEqual(original.digest, copy.digest)
        expected = objects(original, self.folder)
        self.assertEqual(objects(copy, workdir), expected)
        for content in expected.values():
            self.assertTrue(content.startswith(b"\x7fELF"))
            self.assertNotIn(b".llvmbc", content)
            self.assertNotIn(bytes(self.folder), content)
