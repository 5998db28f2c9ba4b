"""Counts what runs of a program execute, with Cachegrind or with perf."""

from __future__ import annotations

import os
import pathlib
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from mlgo.project.build import Program
from mlgo.project.command_line import Link
from mlgo.project.compiler import digest_of_open
from mlgo.project.size import code_bytes
from mlgo.run.exit_codes import RunError

#: Time limit of one run, seconds; Cachegrind slows it down fifty times.
_SECONDS = 1800
#: Events of Cachegrind that are added up for each figure.
_EVENTS = (("Ir",), ("Dr", "Dw"))
# With -v the log names the files that a process loads.
_CACHEGRIND = ("--tool=cachegrind", "--cache-sim=yes", "--trace-children=yes", "-v")
_LOADED = "Reading syms from "
_DEBUG = b".debug_info\0"  # Among the names of sections.
_PLACE = "{}"
_SCRIPT = re.compile(r"-\w*c")
# Variables before a command, and its first word.
_FIRST = re.compile(r"""(\s*(?:\w+=(?:'[^']*'|"[^"]*"|\S)*\s+)*)((?:'[^']*'|"[^"]*"|\\.|[^\s<>|&;()])+)""")


class Run(NamedTuple):
    """A command that runs the program."""

    text: str  #: as the user wrote it.
    words: tuple[str, ...]  #: "{}" stands for the program, also in what a shell reads.
    directory: str  #: folder in which it runs.
    starts: str  #: what the user wrote in the place of the first "{}" in `words`; "": "{}" itself.


def run_of(text: str, directory: str) -> Run:
    """The command that a user wrote; a shell runs one with its syntax. Raises: RunError: it is no command."""
    try:
        words = tuple(shlex.split(text))
    except ValueError as error:
        raise RunError(f"--run={text}", f"is not a command: {error}", "Quote it as a shell wants it") from error
    if not words:
        raise RunError("--run", "is empty", "Write the command that runs the program: --run='./program input'")
    if _needs_shell(text):
        begin = None if _PLACE in text else _FIRST.match(text)
        if begin is None:
            return Run(text, ("sh", "-c", text), directory, "" if _PLACE in text else text)
        shell = f"{begin[1]}{_PLACE}{text[begin.end() :]}"
        return Run(text, ("sh", "-c", shell), directory, "".join(shlex.split(begin[2])))
    if _with("", words) != words:
        return Run(text, words, directory, "")
    return Run(text, (_PLACE, *words[1:]), directory, words[0])


def _with(program: str, words: Sequence[str]) -> tuple[str, ...]:
    """The words of a run with `program` in the place of "{}", which may stand in what -c has a shell read."""
    script = [bool(_SCRIPT.fullmatch(before)) for before in ("", *words)]
    return tuple(
        program if word == _PLACE else word.replace(_PLACE, shlex.quote(program)) if is_script else word
        for word, is_script in zip(words, script)
    )


def _needs_shell(text: str) -> bool:
    """Whether a command has what only a shell understands, outside of quotes."""
    expanded = re.sub(r"\\.|'[^']*'", "", text)
    return bool(re.search(r"[$`]", expanded) or re.search(r"[<>|&;()*?~]|^\s*\w+=", re.sub(r'"[^"]*"', "", expanded)))


def program_named_by(run: Run, programs: Sequence[Program]) -> Program | None:
    """The program of the build that a run starts, also through the script of libtool beside it; None: another one."""
    names = [os.path.join(run.directory, name) for name in (_behind_libtool(run.starts), run.starts)]
    for name in filter(os.path.exists, names):
        for program in programs:
            # A build may have removed or renamed what a link made.
            if os.path.exists(program.link.output) and os.path.samefile(name, program.link.output):
                return program
    return None


def _unwrapped(run: Run) -> str:
    """What a run starts: the program, not the script of libtool, in which the build's own library comes first."""
    own = _behind_libtool(run.starts)
    is_path = os.path.dirname(run.starts) != ""
    return own if is_path and os.path.exists(os.path.join(run.directory, own)) else run.starts


def _behind_libtool(path: str) -> str:
    """The program that libtool's script at `path` starts, if there is such a script."""
    return os.path.join(os.path.dirname(path), ".libs", os.path.basename(path))


class Counter(NamedTuple):
    """A program that counts, and what it counts."""

    name: str
    figures: tuple[str, ...]


CACHEGRIND = Counter("Cachegrind", ("instructions", "data references"))
PERF = Counter("perf", ("instructions",))
_PERF = ("stat", "-x,", "-e", "instructions:u")


def counter_of_machine() -> Counter | None:
    """What counts on this machine; None: nothing does."""
    if shutil.which("valgrind"):
        return CACHEGRIND
    perf = shutil.which("perf")
    if perf is None:
        return None
    done = subprocess.run([perf, *_PERF, "true"], capture_output=True, text=True, check=False)
    return PERF if done.returncode == 0 and re.match(r"\d+,", done.stderr) else None


class Runs:
    """Runs of a program, which all its builds must do alike.

    Args: program: as it was built. scratch: folder for counts and for copies of programs. strip: program that removes
      debug information; None: it stays.
    """

    def __init__(
        self, counter: Counter, program: Program, runs: Sequence[Run], scratch: pathlib.Path, strip: str | None = None
    ):
        self.counter, self._program, self._runs, self._scratch = counter, program, runs, scratch
        self._strip = strip
        self._is_library = bool({"-shared", "--shared"} & set(program.link.words))
        self._name = _shared_name(program.link) if self._is_library else os.path.basename(program.link.output)
        self._digests: list[str] = []
        self.note = ""  #: why what the builds print is not compared.
        self.noise = 0.0  #: by what share two counts of the first program differ.
        for run in runs:
            if not (self._is_library or not run.starts or program_named_by(run, [program])):
                raise RunError(
                    f"--run={run.text}",
                    f"starts {run.starts}, which is not {program.link.output}",
                    "Write {} where the program stands in the command, or name another with --program=",
                )

    def figures_of(self, image: pathlib.Path) -> dict[str, int]:
        """Counts of all runs, and the bytes of code. Raises: RunError: one fails, or prints other than the build's."""
        digests, totals = self._counted(image)
        if not self._digests:
            self._digests = digests
            again = sum(self._counted(image)[1].values())
            self.noise = abs(again / max(1, sum(totals.values())) - 1)
        if digests != self._digests and not self._varies():
            raise RunError("the run", "printed something else than with the build's program", "This row is left out")
        return {**totals, "code": code_bytes(image) or 0}

    def _counted(self, image: pathlib.Path) -> tuple[list[str], dict[str, int]]:
        """A digest of what each run prints, and the sums of their counts."""
        done = [self._count(run, image) for run in self._runs]
        sums = map(sum, zip(*(counts for _, counts in done)))
        return [digest for digest, _ in done], dict(zip(self.counter.figures, sums))

    def _varies(self) -> bool:
        """Whether the build's own program prints something else when it is not counted, which takes less time."""
        built = pathlib.Path(self._program.link.output)
        if not self.note and built.is_file() and self.execute(built, {}) != self._digests:
            self.note = (
                "what the program prints is not compared, because it differs between two runs of the build's program,"
                " as a time or an address does"
            )
        return bool(self.note)

    def execute(self, image: pathlib.Path, variables: Mapping[str, str]) -> list[str]:
        """Runs the program without counting; a digest of what each run printed. Raises: RunError: a run fails."""
        self._scratch.mkdir(parents=True, exist_ok=True)
        digests = []
        for run in self._runs:
            with tempfile.TemporaryDirectory(dir=self._scratch) as folder:
                digests.append(self._printed(run, image, pathlib.Path(folder), [], variables))
        return digests

    def _printed(
        self, run: Run, image: pathlib.Path, folder: pathlib.Path, before: Sequence[str], variables: Mapping[str, str]
    ) -> str:
        """Runs the program with words before the command; a digest of what it printed."""
        program = self._copied(image, folder / self._name)
        words = _with(self._user(run, folder) if self._is_library else program, run.words)
        # Libraries that the program finds beside it, by $ORIGIN or by the script of libtool.
        own = str(folder) if self._is_library else os.path.dirname(self._program.link.output)
        # PYTHONPATH is for libraries that are modules of Python.
        names = ("LD_LIBRARY_PATH", *(("PYTHONPATH",) if self._is_library else ()))
        paths = {name: os.pathsep.join(filter(None, (own, os.environ.get(name)))) for name in names}
        with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
            try:
                done = subprocess.run(
                    [*before, *words],
                    cwd=run.directory,
                    # Python's tables otherwise differ from run to run.
                    env={"PYTHONHASHSEED": "0", **os.environ, **paths, **variables},
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=errors,
                    timeout=_SECONDS,
                    check=False,
                )
            except subprocess.TimeoutExpired as error:
                raise RunError(f"--run={run.text}", f"did not end within {_SECONDS} s", "Give it less to do") from error
            output.seek(0)
            errors.seek(max(0, os.fstat(errors.fileno()).st_size - 200))
            last = errors.read(200).decode("utf-8", "replace").strip()
            if done.returncode:
                if not last and any("debuginfo reader" in text for text in _logs(folder)):
                    last = "valgrind cannot read the debug information of a library that it loads"
                raise RunError(f"--run={run.text}", f"ended with exit code {done.returncode}: {last}", "Correct it")
            return digest_of_open(output)

    def _count(self, run: Run, image: pathlib.Path) -> tuple[str, Sequence[int]]:
        """The digest of what a run prints, and its counts."""
        subject = f"--run={run.text}"
        self._scratch.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=self._scratch) as scratch:
            folder = pathlib.Path(scratch)
            if self.counter is CACHEGRIND:
                log = f"--log-file={folder}/log.%p"
                before = ["valgrind", *_CACHEGRIND, f"--cachegrind-out-file={folder}/counts.%p", log]
            else:
                before = ["perf", *_PERF, "-o", f"{folder}/counts", "--"]
            digest = self._printed(run, image, folder, before, {})
            begin = f"{_LOADED}{os.path.realpath(folder)}/"
            if self._is_library and self.counter is CACHEGRIND and not any(begin in text for text in _logs(folder)):
                remedy = (
                    "Run a program that finds it by LD_LIBRARY_PATH, without an RPATH, as `readelf -d` shows it;"
                    " a module of Python by PYTHONPATH"
                )
                raise RunError(subject, f"does not load the {self._name} that is measured", remedy)
            try:
                return digest, self._read(folder)
            except (OSError, ValueError) as error:
                wrong = f"was not counted by {self.counter.name}: {error}"
                remedy = "It must end by itself, as this user; without --run= there is an estimate"
                raise RunError(subject, wrong, remedy) from error

    def _user(self, run: Run, folder: pathlib.Path) -> str:
        """What runs the library, in the place of the first "{}" of the run."""
        name = _unwrapped(run)
        path = pathlib.Path(run.directory, name)
        if self._strip and path.is_file() and _DEBUG in path.read_bytes():
            return self._copied(path, folder / path.name)
        return name or _PLACE

    def _copied(self, image: pathlib.Path, copy: pathlib.Path) -> str:
        """A copy, also of the build's own program: the loader executes more for a longer path."""
        shutil.copy(image, copy)
        if self._strip:
            # valgrind ends where it cannot read clang's DWARF. A file that cannot be stripped is run as it is.
            subprocess.run([self._strip, "--strip-debug", copy], capture_output=True, check=False)
        return str(copy)

    def _read(self, folder: pathlib.Path) -> list[int]:
        """Raises: OSError, ValueError: the counter wrote nothing, or not what it should."""
        if self.counter is PERF:
            return [perf_count((folder / "counts").read_text(errors="replace"))]
        found = [cachegrind_counts(path.read_text(errors="replace")) for path in sorted(folder.glob("counts.*"))]
        if not found:
            raise ValueError("it wrote no counts")
        return [sum(counts[name] for counts in found for name in names if name in counts) for names in _EVENTS]


def _logs(folder: pathlib.Path) -> list[str]:
    """What valgrind says of the processes of a run."""
    return [path.read_text(errors="replace") for path in folder.glob("log.*")]


def cachegrind_counts(text: str) -> dict[str, int]:
    """The totals in a file of Cachegrind: event -> count. Raises: ValueError: it has none, as of a killed process."""
    lines = {begin: rest.split() for begin, _, rest in (line.partition(":") for line in text.splitlines())}
    counts = {event: int(total) for event, total in zip(lines.get("events", ()), lines.get("summary", ()))}
    if "Ir" not in counts:
        raise ValueError("a file of counts has no sum")
    return counts


def perf_count(text: str) -> int:
    """The count in what `perf stat -x,` wrote, over all kinds of cores. Raises: ValueError: nothing was counted."""
    counts = [line.partition(",")[0] for line in text.splitlines() if "," in line and not line.startswith("#")]
    numbers = [int(count) for count in counts if count.isdecimal()]
    if not numbers:
        raise ValueError(counts[0] if counts else "it wrote no counts")
    return sum(numbers)


def _shared_name(link: Link) -> str:
    """The name by which a program looks for a shared library."""
    words = [value for word in link.words for value in (word.split(",")[1:] if word.startswith("-Wl,") else [word])]
    for word, following in zip(words, [*words[1:], ""]):
        if word in ("-soname", "-h", "--soname"):
            return following
        if word.startswith(("-soname=", "--soname=")):
            return word.partition("=")[2]
    return os.path.basename(link.output)
