"""Corpora of any size: small real modules, repeated under other names and in other bytes."""

import json
import pathlib
import shutil
import struct

from mlgo.corpus.corpus import DESCRIPTION_NAME, Corpus, Module

#: Modules of the built-in corpus that are repeated, the smallest of those that are large enough for decisions.
DIFFERENT = 8
_LEAST_BITCODE_BYTES = 4_000
_WRAPPER_BYTES = 20
#: Modules in one folder.
_TOGETHER = 100


def write_copies(source: pathlib.Path, folder: pathlib.Path, count: int) -> None:
    """Writes a corpus of `count` modules of the corpus `source`, which carries no files, into the new `folder`."""
    modules = _smallest(Corpus.load(source))
    names = []
    for number in range(count):
        module = modules[number % len(modules)]
        name = f"project{number % 3}/folder{number // _TOGETHER}/{pathlib.PurePath(module.name).stem}{number}.cpp"
        target = folder / f"{name}.bc"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(_wrapped(module.read_bitcode(), number))
        shutil.copyfile(module.file(".cmd"), folder / f"{name}.cmd")
        names.append(name)
    description = {"modules": names, "has_thinlto": False}
    (folder / DESCRIPTION_NAME).write_text(json.dumps(description), encoding="utf-8")


def _wrapped(bitcode: bytes, number: int) -> bytes:
    """The same module in other bytes: behind the wrapper that Apple's tools write, with `number` as its CPU type.

    Commands leave out modules with equal bitcode. LLVM skips the wrapper (llvm/Bitcode/BitcodeReader.h,
    SkipBitcodeWrapperHeader).
    """
    return struct.pack("<5I", 0x0B17C0DE, 0, _WRAPPER_BYTES, len(bitcode), number) + bitcode


def _smallest(corpus: Corpus) -> list[Module]:
    sized = sorted((module.bitcode_size, module.name, module) for module in corpus.modules)
    return [module for size, _, module in sized if size >= _LEAST_BITCODE_BYTES][:DIFFERENT]
