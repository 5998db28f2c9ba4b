"""The project with odd file names in a temporary folder, and the programs that build, extract and verify it."""

import contextlib
import io
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
from collections.abc import Sequence

from mlgo import extract_ir, verify_corpus
from mlgo.run.exit_codes import ExitCode

#: How the sources are called in a build: what quotes, spaces and parentheses break, breaks here.
ODD_NAMES = {
    "checks.cc": "che ck's.cc",
    "discs.cc": "discs (of 1).cc",
    "main.cc": "main.cc",
    "squares.cc": "a folder/squares & co.cc",
    "sums.c": "a folder/süms.c",
}

_SOURCES = pathlib.Path(__file__).resolve().parent / "project"


def tools_from_arguments() -> dict[str, pathlib.Path]:
    """Takes NAME=PATH arguments off sys.argv, so that unittest does not see them."""
    given = [argument for argument in sys.argv[1:] if "=" in argument and not argument.startswith("-")]
    sys.argv[1:] = [argument for argument in sys.argv[1:] if argument not in given]
    pairs = (argument.partition("=") for argument in given)
    return {name: pathlib.Path(path).absolute() for name, _, path in pairs}


TOOLS = tools_from_arguments()


class BuildTestCase(unittest.TestCase):
    """A test with a folder `self.root`, in it the sources under `self.source` and an empty `self.build`."""

    #: What the project's sources are called.
    names = ODD_NAMES

    def setUp(self):
        self.root = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory())).resolve()
        self.source, self.build = self.root / "the source", self.root / "the build"
        self.build.mkdir()
        for name, odd in self.names.items():
            target = self.source / odd
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(_SOURCES / name, target)
        for folder in {(self.source / odd).parent for odd in self.names.values()}:
            shutil.copyfile(_SOURCES / "shapes.h", folder / "shapes.h")
        # extract_ir counts relative paths, of which these tests give none, from where the user is.
        environment = unittest.mock.patch.dict(os.environ, {"BUILD_WORKING_DIRECTORY": str(self.root)})
        environment.start()
        self.addCleanup(environment.stop)

    def run_tool(self, name: str, *arguments: str | os.PathLike[str], cwd: pathlib.Path | None = None) -> str:
        """Standard output of a tool that ends well."""
        # Programs that a build system starts are found by their paths; only ninja looks for a shell.
        environment = {"PATH": os.defpath, "LC_ALL": "C.UTF-8"}
        done = subprocess.run(
            [TOOLS[name], *arguments],
            cwd=cwd or self.build,
            env=environment,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
        self.assertEqual(done.returncode, 0, f"{name} {arguments}: {done.stderr[-2000:]}{done.stdout[-2000:]}")
        return done.stdout

    def compile_all(self, *options: str) -> list[str]:
        """Compiles every source to an object of its name in the build folder; returns the objects' names, sorted."""
        for odd in self.names.values():
            target = self.build / f"{odd}.o"
            target.parent.mkdir(parents=True, exist_ok=True)
            language = [] if odd.endswith(".c") else ["-std=c++17"]
            self.run_tool("clang", *options, *language, "-c", self.source / odd, "-o", target)
        return sorted(f"{odd}.o" for odd in self.names.values())

    def extract(self, *flags: str, code: ExitCode = ExitCode.DONE) -> pathlib.Path:
        """The corpus that extract_ir makes, which must end with `code`."""
        corpus = self.root / "the corpus"
        said = io.StringIO()
        with contextlib.redirect_stderr(said):
            ended = extract_ir.main([f"--output_dir={corpus}", *flags])
        self.assertEqual(ended, code, said.getvalue())
        return corpus

    def verified(self, corpus: pathlib.Path, *flags: str, code: ExitCode = ExitCode.DONE) -> dict:
        """The report of verify_corpus, which must end with `code`."""
        target, said = self.root / "report.json", io.StringIO()
        tools = [f"--clang={TOOLS['clang']}", f"--llvm_objcopy_path={TOOLS['llvm-objcopy']}", "--num_workers=2"]
        with contextlib.redirect_stderr(said):
            ended = verify_corpus.main([f"--corpus={corpus}", *tools, f"--json={target}", *flags])
        self.assertEqual(ended, code, said.getvalue())
        return json.loads(target.read_text(encoding="utf-8"))

    def modules_of(self, corpus: pathlib.Path) -> list[str]:
        return json.loads((corpus / "corpus_description.json").read_text(encoding="utf-8"))["modules"]

    def assert_original_and_moved(self, corpus: pathlib.Path, modules: Sequence[str]) -> None:
        """Every module gives the original build's bytes, also after the corpus is moved and the build removed."""
        self.assertEqual(self.modules_of(corpus), sorted(modules))
        report = self.verified(corpus, f"--obj_base_dir={self.build}")
        self.assertEqual((report["same"], report["different"]), (sorted(modules), {}))
        shutil.rmtree(self.build)
        shutil.rmtree(self.source)
        elsewhere = self.root / "else" / "where"
        elsewhere.parent.mkdir()
        corpus.rename(elsewhere)
        moved = self.verified(elsewhere)
        self.assertEqual((moved["same"], moved["corpus_digest"]), (sorted(modules), report["corpus_digest"]))
