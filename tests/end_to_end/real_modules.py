"""A few modules of LLVM, for tests that cannot wait for all of it."""

import json
import pathlib
from collections.abc import Sequence

from mlgo.corpus import corpus as corpora
from mlgo.corpus.corpus import Corpus, Module
from mlgo.run import locate


def development_clang() -> pathlib.Path:
    """//development:clang."""
    return locate.runfile("development/clang")


def smallest(part: str, count: int, folder: pathlib.Path) -> Corpus:
    """Copies the `count` modules with the least bitcode of //mlgo/corpus:llvm_few_<part> into `folder`.

    Args: part: "train" or "held_out", "oz_train" or "oz_held_out".
    """
    modules = _built_in(part).modules
    chosen = sorted(modules, key=lambda module: (module.bitcode_size, module.name))[:count]
    return _copy(chosen, folder)


def named(part: str, names: list[str], folder: pathlib.Path) -> Corpus:
    """Copies the modules `names` of //mlgo/corpus:llvm_few_<part> into `folder`."""
    return _copy(_built_in(part).select(names).modules, folder)


def _built_in(part: str) -> Corpus:
    return Corpus.load(locate.runfile(f"mlgo/corpus/llvm_few_{part}"))


def _copy(modules: Sequence[Module], folder: pathlib.Path) -> Corpus:
    for module in modules:
        target = folder / f"{module.name}.bc"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(module.read_bitcode())
        (folder / f"{module.name}.cmd").write_bytes(corpora.join_command(module.command))
    description = {"modules": sorted(module.name for module in modules), "has_thinlto": False}
    (folder / corpora.DESCRIPTION_NAME).write_text(json.dumps(description), encoding="utf-8")
    return Corpus.load(folder)
