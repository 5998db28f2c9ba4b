"""Full LTO: the linker's modules before code generation make a corpus, whose objects are the linker's."""

import shutil
import unittest

from mlgo import make_corpus
from mlgo.compiler.compile import compile_module
from mlgo.compiler.request import CompileRequest, CompileResult
from mlgo.corpus.corpus import Corpus, Module
from mlgo.problems.regalloc_eviction.problem import PROBLEM
from mlgo.run.exit_codes import ExitCode
from tests.corpora.project import TOOLS, BuildTestCase

# Nothing of a system is linked: what the program calls of it stays open.
OPEN = ["-nostdlib", "-Wl,-e,main", "-Wl,--unresolved-symbols=ignore-all"]
OPTIONS = (
    "-triple x86_64-pc-linux-gnu -O2 -disable-llvm-passes -mrelocation-model static "
    "-ffunction-sections -fdata-sections -faddrsig"
)


class FullLtoTest(BuildTestCase):
    def test_partitions(self):
        objects = self.compile_all("-flto", "-O2", "-fno-pic")
        save = ["-Wl,--save-temps=precodegen", "-Wl,--save-temps=prelink", "-Wl,--lto-partitions=2"]
        link = [f"--ld-path={TOOLS['ld.lld']}", "-flto", "-O2", "-no-pie", *OPEN, *save, *objects, "-o", "prog"]
        self.run_tool("clang", *link)
        modules, corpus = self.root / "modules", self.root / "corpus"
        modules.mkdir()
        for path in self.build.glob("prog.*.precodegen.bc"):
            shutil.move(path, modules)
        flags = [f"--input_dir={modules}", f"--output_dir={corpus}", f"--default_args={OPTIONS}"]
        self.assertEqual(make_corpus.run(flags), ExitCode.DONE)
        natives = {"prog.0.5.precodegen": "prog.lto.o", "prog.1.5.precodegen": "prog.lto.1.o"}
        made = {module.name: self.compiled(module) for module in Corpus.load(corpus).modules}
        self.assertEqual(made, {name: (self.build / native).read_bytes() for name, native in natives.items()})

    def compiled(self, module: Module) -> bytes:
        request = CompileRequest(TOOLS["clang"], module, PROBLEM, want_log=False, want_object=True, workdir=self.root)
        result = compile_module(request)
        assert isinstance(result, CompileResult) and result.object_bytes is not None, result
        return result.object_bytes


if __name__ == "__main__":
    unittest.main()
