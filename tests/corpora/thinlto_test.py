"""Local and distributed ThinLTO with archive members and odd names: the linker's bytes, from a moved corpus."""

import pathlib
import shlex
import shutil
import unittest

from mlgo.compiler.compile import compile_module
from mlgo.compiler.request import CompileFailure, CompileLimits, CompileRequest, CompileResult, FailureKind
from mlgo.corpus.corpus import Corpus
from mlgo.problems.regalloc_eviction.problem import PROBLEM
from mlgo.run.exit_codes import ExitCode
from mlgo.trace.optimised_corpus import optimise_corpus
from mlgo.trace.setup import CompileSetup
from tests.corpora.project import ODD_NAMES, TOOLS, BuildTestCase

# Nothing of a system is linked: what the program calls of it stays open.
OPEN = ["-nostdlib", "-Wl,-e,main", "-Wl,--unresolved-symbols=ignore-all"]
SAVE = ["-Wl,--save-temps=import", "-Wl,--save-temps=prelink", "-Wl,--thinlto-emit-index-files"]


class LocalThinLtoTest(BuildTestCase):
    def link(self, *options: str) -> tuple[list[str], list[str]]:
        """Links main with an archive of the rest; returns the command and the names of the modules."""
        objects = self.compile_all("-flto=thin", "-O2", "-fPIC", *(["-g"] if "-g" in options else []))
        members = [name for name in objects if name != "main.cc.o"]
        (self.build / "lib s").mkdir()
        self.run_tool("llvm-ar", "rcs", "lib s/it's all.a", *members)
        command = [str(TOOLS["clang"]), f"--ld-path={TOOLS['ld.lld']}", "-flto=thin", *options, *OPEN]
        command += ["main.cc.o", "lib s/it's all.a", "-o", "prog"]
        self.run_tool("clang", *command[1:], *SAVE)
        found = [path.relative_to(self.build) for path in self.build.rglob("*.3.import.bc")]
        return command, sorted(str(path).removesuffix(".3.import.bc") for path in found)

    def extracted(self, command: list[str]) -> pathlib.Path:
        link = shlex.join(command)
        return self.extract("--thinlto_build=local", f"--obj_base_dir={self.build}", f"--link_command={link}")

    def test_executable(self):
        command, modules = self.link("-O2")
        self.assertEqual(len(modules), 5)
        self.assertEqual(sum("(" in module and " at " in module for module in modules), 4, modules)
        corpus = self.extracted(command)
        self.assert_optimised_gives_the_same(corpus)
        self.assert_original_and_moved(corpus, modules)

    def assert_optimised_gives_the_same(self, corpus: pathlib.Path) -> None:
        """Code generation alone, which training repeats, gives the linker's objects too."""
        optimised = self.root / "optimised"
        setup = CompileSetup(TOOLS["clang"], PROBLEM, CompileLimits(), 2, 0.0)
        optimise_corpus(optimised, Corpus.load(corpus), setup, "optimised")
        report = self.verified(optimised, f"--obj_base_dir={self.build}")
        self.assertEqual(report["same"], self.modules_of(corpus))

    def test_shared_library_with_debug_information(self):
        command, modules = self.link("-O3", "-shared", "-g", "-march=haswell", "-Wl,-mllvm,-inline-threshold=500")
        self.assert_original_and_moved(self.extracted(command), modules)

    def test_what_cannot_be_the_same_is_told(self):
        command, modules = self.link("-O2", "-Wl,--lto-CGO3")
        corpus = self.extracted(command)
        report = self.verified(corpus, f"--obj_base_dir={self.build}", code=ExitCode.OUTPUT_DIFFERS)
        self.assertEqual(set(report["reasons"]), {"sections_differ"})
        self.assertEqual(sorted([*report["same"], *report["different"]]), modules)
        self.assertIn("code generation at level 3", (corpus / "extraction_report.json").read_text(encoding="utf-8"))

    def test_empty_objects(self):
        command, modules = self.link("-O2")
        corpus = self.extracted(command)
        # What lld writes for a member that the link does not need; cc1 then compiles an empty module and says nothing.
        (self.source / "unneeded.c").write_text("int unneeded(void) { return 1; }\n", encoding="utf-8")
        self.run_tool("clang", "-flto=thin", "-c", self.source / "unneeded.c", "-o", "unneeded.o")
        self.run_tool("clang", *command[1:], *SAVE, "-Wl,--start-lib", "unneeded.o", "-Wl,--end-lib")
        # A module which defines nothing that must stay is no error.
        (self.source / "nothing.c").write_text("static int nothing(void) { return 1; }\n", encoding="utf-8")
        self.run_tool("clang", "-emit-llvm", "-c", self.source / "nothing.c", "-o", "nothing.bc")
        unneeded = self.build / "unneeded.o.thinlto.bc"
        shutil.copyfile(unneeded, corpus / f"{modules[0]}.thinlto.bc")
        shutil.copyfile(unneeded, corpus / f"{modules[1]}.thinlto.bc")
        shutil.copyfile(self.build / "nothing.bc", corpus / f"{modules[1]}.bc")
        outcomes = {}
        for module in Corpus.load(corpus).modules:
            outcomes[module.name] = compile_module(
                CompileRequest(TOOLS["clang"], module, PROBLEM, want_log=False, want_object=True, workdir=self.root)
            )
        lost = outcomes.pop(modules[0])
        assert isinstance(lost, CompileFailure), lost
        self.assertEqual(lost.kind, FailureKind.EMPTY_OBJECT, lost)
        for outcome in outcomes.values():
            self.assertIsInstance(outcome, CompileResult, outcome)
        report = self.verified(corpus, f"--obj_base_dir={self.build}", code=ExitCode.OUTPUT_DIFFERS)
        self.assertEqual(report["different"][modules[0]]["reason"], "compile_failed")


class DistributedThinLtoTest(BuildTestCase):
    # LLVM 22 damages paths beyond ASCII in the indices it writes; its back ends then fail, with exit code 0.
    names = {**ODD_NAMES, "sums.c": "a folder/sums; $1.c"}

    def test_back_ends(self):
        objects = self.compile_all("-flto=thin", "-O2", "-fPIC")
        link = [f"--ld-path={TOOLS['ld.lld']}", "-flto=thin", "-O2", *OPEN, *objects, "-o", "prog"]
        self.run_tool("clang", *link, "-Wl,--thinlto-index-only")
        natives = []
        for name in objects:
            native = f"native/{name}"
            (self.build / native).parent.mkdir(parents=True, exist_ok=True)
            back_end = [
                "-O2",
                "-fPIC",
                f"-fthinlto-index={name}.thinlto.bc",
                "-mllvm",
                "-lto-embed-bitcode=post-merge-pre-opt",
            ]
            self.run_tool("clang", *back_end, "-x", "ir", name, "-c", "-o", native)
            natives.append(native)
        (self.build / "params").write_text(shlex.join(["-o", "prog", *natives]) + "\n", encoding="utf-8")
        corpus = self.extract(
            f"--input={self.build / 'params'}",
            "--input_type=params",
            f"--obj_base_dir={self.build}",
            "--thinlto_build=distributed",
        )
        self.assert_original_and_moved(corpus, natives)


if __name__ == "__main__":
    unittest.main()
