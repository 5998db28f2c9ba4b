"""What the console scripts of the wheel call: each starts a command as `./bazelw run` would."""

import functools
import pathlib
import runpy
import shutil
import sys

from mlgo.project import command


def _command(module: str) -> functools.partial:
    return functools.partial(runpy.run_module, module, run_name="__main__", alter_sys=True)


def project() -> int:
    """`mlgo smaller|faster|build` with the installed compiler whose clang is the first on PATH, or that of --prefix."""
    clang = pathlib.Path(shutil.which("clang") or "/usr/bin/clang")
    return command.main(sys.argv[1:], clang.parent.parent)


combine_training_corpus = _command("mlgo.combine_training_corpus")
compile_stock = _command("mlgo.compile_stock")
corpus_info = _command("mlgo.corpus_info")
evaluate_stock = _command("mlgo.evaluate_stock")
extract_ir = _command("mlgo.extract_ir")
make_corpus = _command("mlgo.make_corpus")
split_corpus = _command("mlgo.split_corpus")
verify_corpus = _command("mlgo.verify_corpus")
