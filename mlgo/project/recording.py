"""Runs a build with record.sh in front of its compilers, and reads its records, one for each command of the build.

A record is a sequence of texts, each with a NUL behind it: `mlgo-record-1`, tool, folder, number of words, words; for
each response file `response`, name, content; for each variable with folders `folders`, name, value; where clang was
given other words, `before`, what `times` of sh prints, `again`, their number, words; `done`, exit code, who ran it,
what `times` of sh prints, and `end`.
A process writes into a file of its own, so that parallel builds need no lock; a killed one leaves no `end`.
"""

from __future__ import annotations

import dataclasses
import os
import pathlib
import platform
import re
import resource
import shlex
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence

from mlgo.corpus.extraction.quoting import expand_response_files, response_file_reader, split_response
from mlgo.project.compiler import LLD, Compiler
from mlgo.run.exit_codes import RunError
from mlgo.run.files import write_error

#: Names that builds look for on PATH.
_ALWAYS = ("c++", "cc", "clang", "clang++", "g++", "gcc", "ld")
_COMPILER = re.compile(r"(?P<triple>[\w.]+(?:-[\w.]+)*-)?(?:cc|gcc|g\+\+|c\+\+|clang|clang\+\+|ld)(?:-\d[\d.]*)?")
#: Cross compilers of gcc with the defaults that clang has for their triple.
_CROSS = re.compile(r"(?P<triple>(?:aarch64|riscv64)-linux-gnu)-(?:gcc|g\+\+)(?:-\d[\d.]*)?")
#: A build for another machine, whose compiler configure looks for.
_HOST = re.compile(r"(?:^|[\s'\"])--host(?:-arch)?[= ](?P<host>\w+)")
#: Archivers of the machine. Their commands tell what an archive held that the build removed after the link.
_OWN_ARCHIVER = re.compile(rf"(?:{platform.machine()}-(?:\w+-)?linux-gnu-)?(?:gcc-)?ar(?:-\d+)?")
_OF_LLVM = re.compile(r"(?P<tool>llvm-(?:ar|nm|profdata|ranlib))(?:-\d+)?")
#: The first gcc that refuses calls of functions without a declaration.
_STRICT_GCC = 14
_OPENMP = "libomp.so"
_STARTED_COMPILERS = "started_compilers.so"
#: Builds that check what their compilers read, as in started_compilers.c: they start as without `mlgo`.
_HERMETIC = ("bazel", "bazelisk", "buck2", "nix", "nix-build", "tup")
#: What started_compilers.c gives back to them: CC as MLGO_WAS_CC=CC=gcc.
_GIVEN_BACK = ("CC", "CXX", "LD_PRELOAD")
_BEGIN, _RESPONSE, _DONE, _END = "mlgo-record-1", "response", "done", "end"
_BEFORE, _AGAIN, _OF_VARIABLE = "before", "again", "folders"
#: Variables with folders for a compiler -> the option that stands for each; what is searched after -I and -isystem.
_FOLDERS = {
    "CPATH": "-I{}",
    "C_INCLUDE_PATH": "-Xclang -c-isystem -Xclang {}",
    "CPLUS_INCLUDE_PATH": "-Xclang -cxx-isystem -Xclang {}",
    "LIBRARY_PATH": "-L{}",
}
_LINKERS_FILE = "-Wl,@"
_TIME = re.compile(r"(\d+)m([\d.]+)s")
#: Compilers that clang is no substitute for, in CC and CXX.
_VARIABLES = {"CC": ("clang", "cc"), "CXX": ("clang++", "c++")}


def is_own_compiler(name: str, machine: str) -> bool:
    """Whether a program of this name compiles C or C++ for `machine`, such as "x86_64"; a cross compiler does not."""
    match = _COMPILER.fullmatch(name)
    return match is not None and re.fullmatch(rf"(?:{machine}-(?:\w+-)?linux-gnu-)?", match["triple"] or "") is not None


def cross_triple(path: str) -> str | None:
    """The triple of a cross compiler at `path` that clang can stand for; None: it is none, or has its own libraries."""
    match = _CROSS.fullmatch(os.path.basename(path))
    return match["triple"] if match and os.path.dirname(path) == "/usr/bin" else None


def is_for_another_machine(command: Sequence[str], machine: str) -> bool:
    """Whether the command of a build names a host that is not `machine`, such as "x86_64"."""
    hosts = [match["host"] for word in command for match in _HOST.finditer(word)]
    return any(host not in (machine, {"x86_64": "amd64"}.get(machine)) for host in hosts)


def is_hermetic(command: Sequence[str]) -> bool:
    """Whether a build checks what its compilers read, so that they are not replaced."""
    return os.path.basename((*command, "")[0]) in _HERMETIC


def compiler_place(words: Sequence[str]) -> int | None:
    """Place of the compiler of C or C++ in a command, behind launchers and variables; None: there is none."""
    for place, word in enumerate(words):
        match = _COMPILER.fullmatch(os.path.basename(word))
        if match and not os.path.basename(word).endswith("ld"):
            return place
        if word.startswith("-"):
            return None
    return None


def make_links(folder: pathlib.Path, compiler: Compiler, search_path: str) -> None:
    """Fills `folder` with programs: record.sh for compilers, linkers and archivers on `search_path`; tools of LLVM.

    Raises: RunError: the folder cannot be written.

    Tools of another LLVM cannot read the objects of -flto, nor the profiles of -fprofile-generate. No two are links to
    one file: builds of Perl modules walk through their folder, follow links, and end where they meet a file again.
    """
    folders = filter(os.path.isdir, search_path.split(os.pathsep))
    found = {name for directory in folders for name in os.listdir(directory)}
    compilers = {*_ALWAYS, *(name for name in found if is_own_compiler(name, platform.machine()))}
    compilers |= {name for name in found if _OWN_ARCHIVER.fullmatch(name)}
    triples = {one: cross_triple(shutil.which(one, path=search_path) or "") for one in filter(_CROSS.fullmatch, found)}
    usable = {triple for triple in set(triples.values()) if triple and _links_for(compiler, triple, search_path)}
    compilers |= {name for name, triple in triples.items() if triple in usable}
    recorder = shlex.quote(str(compiler.recorders / "clang"))
    # A sourced script keeps the name in $0.
    programs = dict.fromkeys(compilers, f"MLGO_RECORDER={recorder}\n. {recorder}\n")
    for match in filter(None, map(_OF_LLVM.fullmatch, found)):
        # Else started_compilers.c leads the start of the program back here.
        program = shlex.quote(compiler.tool(match["tool"]))
        programs[match[0]] = f'export MLGO_NESTED=1\nexec {program} "$@"\n'
    try:
        if folder.is_symlink():
            folder.unlink()
        folder.mkdir(parents=True, exist_ok=True)
        # Another build may be using the folder: a program is there at each moment.
        for path in folder.iterdir():
            if path.name not in programs:
                path.unlink()
        for name, text in sorted(programs.items()):
            _write_program(folder / name, f"#!/bin/sh\n{text}".encode("utf-8", "surrogateescape"))
    except OSError as error:
        raise write_error(error, folder) from error


def _write_program(path: pathlib.Path, content: bytes) -> None:
    with tempfile.TemporaryDirectory(dir=path.parent.parent, prefix=".path.") as scratch:
        new = pathlib.Path(scratch, path.name)
        new.write_bytes(content)
        new.chmod(0o755)
        os.replace(new, path)


def environment_of(
    compiler: Compiler,
    links: pathlib.Path,
    environment: Mapping[str, str],
    alive: pathlib.Path | None = None,
    records: pathlib.Path | None = None,
    config: pathlib.Path | None = None,
    command: Sequence[str] = (),
) -> dict[str, str]:
    """The variables of a build whose compiles go through record.sh. Raises: RunError: a variable is no command.

    Args: links: folder of `make_links`. alive: folder that is removed when `mlgo` ends; None: `records`.
      records: folder for records; None: none are written. config: file that each compile and link gets as --config=;
      None: none. command: the build.
    """
    if is_hermetic(command):
        return dict(environment)
    path = os.pathsep.join(one for one in environment.get("PATH", os.defpath).split(os.pathsep) if one != str(links))
    made = {
        **environment,
        **{f"MLGO_WAS_{name}": f"{name}={environment[name]}" for name in _GIVEN_BACK if name in environment},
        "PATH": f"{links}{os.pathsep}{path}",
        "MLGO_BIN": str(compiler.bin),
        "MLGO_PATH": path,
        "MLGO_LLD": " ".join(LLD),
        "MLGO_ALIVE": str(alive or records or ""),
        "MLGO_RECORD": str(records or ""),
        "MLGO_CONFIG": str(config or ""),
        "MLGO_LINKS": str(links),
        "MLGO_OWN": os.getcwd(),
    }
    library = str(compiler.recorders / _STARTED_COMPILERS)
    # The loader takes blanks and colons for the ends of names.
    is_loaded = os.path.exists(library) and not re.search(r"[\s:]", library)
    if is_loaded:
        made["LD_PRELOAD"] = ":".join(filter(None, (library, environment.get("LD_PRELOAD"))))
    for variable in ("MLGO_NESTED", "MLGO_ASKED", "MLGO_LENIENT", "MLGO_NO_OPENMP"):
        made.pop(variable, None)
    is_foreign = is_for_another_machine(command, platform.machine())
    for variable, (clang, machines) in _VARIABLES.items():
        given = _words_of(variable, environment)
        own = [place for place, word in enumerate(given) if is_own_compiler(os.path.basename(word), platform.machine())]
        made[f"MLGO_{variable}"] = " ".join(given or ([machines] if shutil.which(machines, path=path) else []))
        recorder = str(compiler.recorders / clang)
        if own:
            # A launcher in front of the compiler and options behind it stay.
            made[variable] = shlex.join([*given[: own[0]], recorder, *given[own[0] + 1 :]])
        elif not given and not is_foreign:
            made[variable] = recorder
    version = _asked([*shlex.split(made["MLGO_CC"]), "-dumpversion"], path)[1].partition(".")[0]
    if version.isdecimal() and int(version) < _STRICT_GCC:
        made["MLGO_LENIENT"] = "yes"
    if _asked([compiler.tool("clang"), f"-print-file-name={_OPENMP}"], path)[1] == _OPENMP:
        made["MLGO_NO_OPENMP"] = "yes"
    if records:
        # A launcher that has the object already does not start the compiler.
        made |= {"CCACHE_DISABLE": "1", "SCCACHE_RECACHE": "1"}
    if config:
        # record.sh adds the options, so a launcher that caches does not see them.
        files = ":".join(filter(None, (environment.get("CCACHE_EXTRAFILES"), str(config))))
        made |= {"CCACHE_EXTRAFILES": files, "SCCACHE_RECACHE": "1"}
    return made


def _words_of(variable: str, environment: Mapping[str, str]) -> list[str]:
    try:
        return shlex.split(environment.get(variable, ""))
    except ValueError as error:
        remedy = "Quote it as a shell wants it, or unset it"
        raise RunError(f"{variable}={environment[variable]}", f"is not a command: {error}", remedy) from error


def _links_for(compiler: Compiler, triple: str, path: str) -> bool:
    """Whether clang finds headers, libraries and a linker for another architecture."""
    words = [f"--target={triple}", "-x", "c", "-", "-o", os.devnull]
    source = '#include <stdio.h>\nint main(void) { return puts(""); }\n'
    return _asked([compiler.tool("clang"), *words], path, source)[0] == 0


def _asked(command: Sequence[str], path: str, source: str = "") -> tuple[int, str]:
    """Exit code and output of a compiler with this PATH, which reads `source`; -1, "": it cannot be started."""
    environment = {**os.environ, "PATH": path}
    try:
        done = subprocess.run(command, env=environment, input=source, capture_output=True, text=True, check=False)
    except (OSError, ValueError):
        return -1, ""
    return done.returncode, done.stdout.strip()


def run_build(command: Sequence[str], environment: Mapping[str, str]) -> tuple[int, float]:
    """Runs the user's command to its end, also on Ctrl-C; its exit code as a shell has it, and its CPU seconds.

    Raises: RunError: it cannot be started.
    """
    before = _child_seconds()
    try:
        process = subprocess.Popen(command, env=dict(environment))
    except OSError as error:
        remedy = "Write a program and its words; what a shell has to read needs sh -c 'COMMAND'"
        raise RunError(f"the build {shlex.join(command)}", f"cannot be started: {error.strerror}", remedy) from error
    try:
        code = process.wait()
    except KeyboardInterrupt:
        # Ctrl-C went to the build too.
        process.send_signal(signal.SIGTERM)
        process.wait()
        raise
    return (code if code >= 0 else 128 - code), _child_seconds() - before


def _child_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


@dataclasses.dataclass(frozen=True)
class Record:
    """A command that ended."""

    tool: str  #: "clang", "clang++", "ld" or "ar".
    directory: str  #: folder in which it ran, absolute.
    words: tuple[str, ...]  #: its options and inputs, response files expanded.
    exit_code: int
    by: str  #: who ran it: "clang", "ld", "ar"; where clang refused the command, "other"; "gcc" in a kernel of gcc's.
    seconds: float  #: CPU time.
    ended: int  #: when, in nanoseconds since 1970.


def read_records(folder: pathlib.Path) -> tuple[list[Record], int]:
    """The records in `folder` in the order of their ends, and the number of those that say nothing."""
    found, broken = [], 0
    for entry in sorted(filter(os.DirEntry.is_file, os.scandir(folder)), key=lambda entry: entry.name):
        texts = [os.fsdecode(text) for text in pathlib.Path(entry.path).read_bytes().split(b"\0")]
        starts = [place for place, text in enumerate(texts) if text == _BEGIN]
        for start, end in zip(starts, [*starts[1:], len(texts)]):
            try:
                found.append(_record(iter(texts[start + 1 : end]), entry.stat().st_mtime_ns))
            except (StopIteration, ValueError, KeyError, RunError):  # Of a response file that names itself.
                broken += 1
    return sorted(found, key=lambda record: record.ended), broken


def _record(texts: Iterator[str], ended: int) -> Record:
    """Raises: StopIteration, ValueError: it is cut off; KeyError: it has a variable that no recorder writes."""
    tool, directory = next(texts), next(texts)
    words = _counted(texts)
    responses: dict[str, str] = {}
    folders: list[str] = []
    before = 0.0
    while (kind := next(texts)) != _DONE:
        if kind == _RESPONSE:
            name = next(texts)
            responses[name] = next(texts)
        elif kind == _OF_VARIABLE:
            option = _FOLDERS[next(texts)].split()
            folders += [word.format(folder or ".") for folder in next(texts).split(":") for word in option]
        elif kind == _BEFORE:
            before = _seconds_of(next(texts))
            if next(texts) != _AGAIN:
                raise ValueError(_AGAIN)
            words = _counted(texts)
        else:
            raise ValueError(kind)
    code, by, times = int(next(texts)), next(texts), next(texts)
    if next(texts) != _END:
        raise ValueError("no end")
    on_disk = response_file_reader(directory)

    def read(name: str) -> str | None:
        return responses[name] if name in responses else on_disk(name)

    expanded = list(expand_response_files([_with_linkers_file(word, read) for word in words], read))
    if folders and tool not in ("ld", "ar"):
        expanded += ["--start-no-unused-arguments", *folders, "--end-no-unused-arguments"]
    return Record(tool, directory, tuple(expanded), code, by, _seconds_of(times) - before, ended)


def _counted(texts: Iterator[str]) -> list[str]:
    return [next(texts) for _ in range(int(next(texts)))]


def _with_linkers_file(word: str, read: Callable[[str], str | None]) -> str:
    """-Wl,@FILE with the words of the file in its place."""
    text = read(word[len(_LINKERS_FILE) :]) if word.startswith(_LINKERS_FILE) else None
    return word if text is None else ",".join(("-Wl", *split_response(text)))


def _seconds_of(times: str) -> float:
    """CPU seconds of the children: the second line of what `times` prints, user and system time."""
    return sum(60 * int(minutes) + float(seconds) for minutes, seconds in _TIME.findall(times)[2:4])
