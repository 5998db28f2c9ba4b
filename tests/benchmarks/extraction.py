"""Extraction of 1,000 objects against the bare llvm-objcopy calls that it would take, two per object as LLVM's
mlgo-utils makes them.

The objects carry the bitcode and commands of the built-in corpus, with a few bytes changed so that none is a duplicate;
machine code they have next to none, which spares llvm-objcopy reading it. Both sides' CPU time is counted, ours with
starting Python, in turns.
"""

import functools
import json
import os
import pathlib
import subprocess
import tempfile

from mlgo.corpus.corpus import Corpus, join_command
from mlgo.run import locate
from tests.benchmarks.row import Row, at_least

OBJECTS = 1000
TURNS = 3
#: Issue 4, "Numbers".
LEAST_TIMES = 5.0

# Arguments of a command recorded by clang that a corpus does not keep.
_DROPPED = """-cc1 -disable-free -clear-ast-before-backend -main-file-name x.cpp -fcoverage-compilation-dir=/build
    -resource-dir /lib/clang/22 -internal-isystem /usr/include/c++/12
    -internal-isystem /usr/include/x86_64-linux-gnu/c++/12 -internal-isystem /lib/clang/22/include
    -internal-externc-isystem /usr/include/x86_64-linux-gnu -internal-externc-isystem /usr/include -ferror-limit 19
    -fdebug-compilation-dir=/build -fgnuc-version=4.2.1 -std=c++17 -fembed-bitcode=all""".split()
_MARK = b"mlgoMARK"


def measure() -> list[Row]:
    """The rows of this benchmark; takes about five minutes, most of it in llvm-objcopy."""
    objcopy = locate.runfile("tests/benchmarks/packaged_objcopy").resolve()
    command = locate.runfile("mlgo/extract_ir")
    with tempfile.TemporaryDirectory() as folder:
        build = pathlib.Path(folder, "build")
        names = make_objects(build, objcopy)
        ours, theirs = [], []
        for turn in range(TURNS):
            output = pathlib.Path(folder, f"out{turn}")
            ours.append(_cpu_of(functools.partial(_extract, command, build, output)))
            modules = json.loads((output / "corpus_description.json").read_text())["modules"]
            if len(modules) != OBJECTS:
                raise RuntimeError(f"{len(modules)} modules of {OBJECTS} objects were extracted")
            # The calls are slow and alike: one third of them in each turn.
            part = names[turn::TURNS]
            seconds = _cpu_of(functools.partial(_dump, objcopy, build, part, pathlib.Path(folder)))
            theirs.append(seconds * len(names) / len(part))
    best = min(ours)
    return [
        at_least(
            f"extraction of {OBJECTS} objects: CPU time of llvm-objcopy's calls against ours",
            min(theirs) / best,
            "x",
            LEAST_TIMES,
        ),
        Row("extraction: objects per CPU second", OBJECTS / best, "/s"),
    ]


def make_objects(build: pathlib.Path, objcopy: pathlib.Path) -> list[str]:
    """Fills the folder `build` with objects and a compile_commands.json; returns the objects' names."""
    build.mkdir()
    modules = Corpus.load(locate.runfile("mlgo/corpus/llvm_small")).modules
    names: list[str] = []
    for number, module in enumerate(modules):
        contents = {"llvmbc": module.read_bitcode() + _MARK, "llvmcmd": join_command((*_DROPPED, *module.command))}
        for section, content in contents.items():
            (build / section).write_bytes(content)
        first = build / "first"
        empty = locate.runfile("tests/benchmarks/empty_object.o").resolve()
        subprocess.run(
            [objcopy, *(f"--add-section=.{section}={build / section}" for section in contents), empty, first],
            check=True,
        )
        content = first.read_bytes()
        for copy in range(number, OBJECTS, len(modules)):
            name = f"dir{copy % 20}/object{copy:04}.o"
            (build / name).parent.mkdir(exist_ok=True)
            (build / name).write_bytes(content.replace(_MARK, b"\1%07d" % copy))
            names.append(name)
    entries = [{"directory": str(build), "command": f"clang -c x.cpp -o {name}", "file": "x.cpp"} for name in names]
    (build / "compile_commands.json").write_text(json.dumps(entries))
    return names


def _extract(command: pathlib.Path, build: pathlib.Path, output: pathlib.Path) -> None:
    arguments = [str(command), f"--input={build}/compile_commands.json", f"--output_dir={output}", "--verbosity=ERROR"]
    subprocess.run(arguments, check=True, env={**os.environ, "BUILD_WORKING_DIRECTORY": str(build)})


def _dump(objcopy: pathlib.Path, build: pathlib.Path, names: list[str], folder: pathlib.Path) -> None:
    for name in names:
        for section in (".llvmcmd", ".llvmbc"):
            subprocess.run(
                [objcopy, f"--dump-section={section}={folder / 'dumped'}", build / name, "/dev/null"], check=True
            )


def _cpu_of(work) -> float:
    """CPU seconds, user and system, of the processes that `work` starts and waits for."""
    before = os.times()
    work()
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system
