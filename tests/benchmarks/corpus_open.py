"""Opening a corpus of 25,000 modules and reading 512 of them at random: seconds, and memory of the whole process.

Each measurement is a process of its own, so that memory is what a command would need. Files are in the page cache. The
other side reads every module's command when it opens a corpus, as ml-compiler-opt does (compiler_opt/rl/corpus.py,
whose comment says 7 s for 30,000 modules).
"""

import json
import multiprocessing
import os
import pathlib
import random
import resource
import statistics
import time
import zipfile

from mlgo.compiler.scratch import scratch_directory
from mlgo.corpus.corpus import Corpus, join_command
from tests.benchmarks.row import Row, at_most

MODULES = 25_000
SAMPLE = 512
#: Issue 4, "Numbers".
MOST_SECONDS, MOST_MEGABYTES = 1.0, 200.0

_FOLDERS = 500
_TURNS = 3
#: As many arguments as commands of the built-in corpus have.
_COMMAND = join_command(("-cc1", *(f"-an-option-of-usual-length={index}" for index in range(60)), "-emit-obj"))
_BITCODE = b"BC\xc0\xde" * 512


def measure() -> list[Row]:
    """The rows of this benchmark; takes about a minute, most of it to write 50,000 files."""
    with scratch_directory() as name:
        folder = pathlib.Path(name, "corpus")
        archive = pathlib.Path(name, "corpus.zip")
        _write(folder)
        _pack(folder, archive)
        ours, zipped, other = [], [], []
        for _ in range(_TURNS):
            ours.append(_in_a_process(_open_and_sample, folder))
            other.append(_in_a_process(_read_all_commands, folder))
            zipped.append(_in_a_process(_open_and_sample, archive))
    what = f"opening {MODULES:,} modules, sampling {SAMPLE}"
    return [
        at_most(what, _median(ours, 0), "s", MOST_SECONDS),
        at_most(f"{what}: memory", _median(ours, 1), "MB", MOST_MEGABYTES),
        Row(f"{what}: .zip", _median(zipped, 0), "s"),
        Row(f"{what}: .zip, memory", _median(zipped, 1), "MB"),
        Row(f"{what}: commands read at once", _median(other, 0), "s"),
        Row(f"{what}: commands read at once, memory", _median(other, 1), "MB"),
    ]


def _names() -> list[str]:
    return [f"project/lib/folder{index % _FOLDERS}/CMakeFiles/part.dir/Module{index}.cpp.o" for index in range(MODULES)]


def _write(folder: pathlib.Path) -> None:
    for name in _names():
        path = f"{folder}/{name}"
        os.makedirs(os.path.dirname(path), exist_ok=True)
        for suffix, content in ((".bc", _BITCODE), (".cmd", _COMMAND)):
            with open(path + suffix, "wb") as file:
                file.write(content)
    description = {"modules": _names(), "has_thinlto": False}
    (folder / "corpus_description.json").write_text(json.dumps(description), encoding="utf-8")


def _pack(folder: pathlib.Path, archive: pathlib.Path) -> None:
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as packed:
        packed.write(folder / "corpus_description.json", "corpus_description.json")
        for name in _names():
            for suffix in (".bc", ".cmd"):
                packed.write(f"{folder}/{name}{suffix}", name + suffix)


def _in_a_process(work, path: pathlib.Path) -> tuple[float, float]:
    # Not forked: a fork would start with this process's memory.
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(work, (path,))


def _open_and_sample(path: pathlib.Path) -> tuple[float, float]:
    start = time.perf_counter()
    corpus = Corpus.load(path)
    read = sum(
        len(module.read_bitcode()) + len(module.command) for module in random.Random(1).sample(corpus.modules, SAMPLE)
    )
    return _used(start, read)


def _read_all_commands(path: pathlib.Path) -> tuple[float, float]:
    start = time.perf_counter()
    names = json.loads((path / "corpus_description.json").read_bytes())["modules"]
    modules = [(name, (path / f"{name}.cmd").read_text(encoding="utf-8").split("\0")) for name in names]
    chosen = random.Random(1).sample(modules, SAMPLE)
    read = sum(len((path / f"{name}.bc").read_bytes()) + len(command) - 1 for name, command in chosen)
    return _used(start, read)


def _used(start: float, read: int) -> tuple[float, float]:
    seconds = time.perf_counter() - start
    expected = SAMPLE * (len(_BITCODE) + _COMMAND.count(b"\0"))
    if read != expected:
        raise AssertionError(f"{read} bytes and arguments were read, {expected} were written")
    return seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _median(measured: list[tuple[float, float]], column: int) -> float:
    return statistics.median(values[column] for values in measured)
