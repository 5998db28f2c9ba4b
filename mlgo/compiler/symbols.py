"""C++ names for people: demangled by llvm-cxxfilt, and shortened. JSON and other data keep mangled names."""

import pathlib
import re
import resource
import subprocess
import tempfile
from collections.abc import Iterable

from mlgo.run import locate
from mlgo.run.exit_codes import RunError

#: Environment variable in which a command's BUILD target names the packaged llvm-cxxfilt.
CXXFILT = "MLGO_PACKAGED_CXXFILT"
#: Names are cut to this length where only recognition matters.
NAME_WIDTH = 100
#: A mangled name of C++ or Rust in a text, with suffixes such as ".llvm.123" or ".cold".
_MANGLED = re.compile(r"(?<![\w.$])_(?:_{0,3}Z|R)[A-Za-z0-9_$]+(?:\.[A-Za-z0-9_$]+)*")
#: Types in a mangled name refer to earlier ones: 300 bytes stand for gigabytes. Longer names stay mangled.
_LONGEST = 64 * 1024
#: Of the demangler, which is killed where it needs more for all names: CPU seconds, and bytes of memory and output.
_LIMITS = {
    resource.RLIMIT_CPU: 60,
    resource.RLIMIT_AS: 1 << 30,
    resource.RLIMIT_FSIZE: 64 << 20,
    resource.RLIMIT_CORE: 0,
}
# "operator<" and its kin are no brackets.
_TOKEN = re.compile(r"operator(?:<=>|<<=?|>>=?|->\*?|\(\)|<=?|>=?)|[<(\[{>)\]}]|[^<(\[{>)\]}o]+|o")
_OPENING, _CLOSING = frozenset("<([{"), frozenset(">)]}")


class Demangler:
    """Demangles names; each name is asked for once."""

    def __init__(self, program: pathlib.Path | None = None):
        """Args: program: llvm-cxxfilt; None: names stay mangled."""
        self._program = program
        self._known: dict[str, str] = {}

    @classmethod
    def of_command(cls) -> "Demangler":
        """The one that the command's BUILD target brings along; without it, names stay mangled."""
        return cls(locate.of_environment(CXXFILT))

    def names(self, names: Iterable[str]) -> dict[str, str]:
        """Name -> demangled name. Raises: RunError: llvm-cxxfilt fails."""
        wanted = dict.fromkeys(names)
        self._known |= demangled(self._program, [name for name in wanted if name not in self._known])
        return {name: self._known[name] for name in wanted}

    def texts(self, texts: Iterable[str], longest: int | None = NAME_WIDTH) -> list[str]:
        """`texts` with all mangled names in them demangled, and shortened to `longest`. Raises: as `names`."""
        given = list(texts)
        names = self.names(name for text in given for name in mangled_names(text))
        if longest is not None:
            names = {name: shortened(shown, longest) for name, shown in names.items()}
        return [_MANGLED.sub(lambda found: names[found[0]], text) for text in given]


def is_mangled(name: str) -> bool:
    """Whether `name` looks like a mangled name as a whole."""
    return _MANGLED.fullmatch(name) is not None


def mangled_names(text: str) -> list[str]:
    """What looks like a mangled name in `text`."""
    return _MANGLED.findall(text)


def demangled(program: pathlib.Path | None, names: Iterable[str]) -> dict[str, str]:
    """Name -> demangled name; itself without a program, where it is not mangled, and where so few bytes stand for so
    many that the program reaches a limit. Raises: RunError: it fails."""
    found = {name: name for name in names}
    # Others may contain anything, such as line ends.
    wanted = [name for name in found if is_mangled(name)]
    if program is None or not wanted:
        return found
    what, remedy = f"the demangler {program}", "Start the command with ./bazelw run; explain has --cxxfilt=PATH"
    try:
        code, said = _run(program, "".join(f"{name}\n" for name in wanted))
    except OSError as error:
        raise RunError(what, f"cannot be used: {error}", remedy) from error
    if code < 0:
        return found
    if code:
        raise RunError(what, f"cannot be used: it ended with status {code}", remedy)
    lines = said.removesuffix("\n").split("\n")
    if len(lines) != len(wanted):
        raise RunError(what, f"gave {len(lines)} lines for {len(wanted)} names", remedy)
    return found | {name: line for name, line in zip(wanted, lines) if len(line) <= _LONGEST}


def _run(program: pathlib.Path, text: str) -> tuple[int, str]:
    """Exit code, minus the signal that ended it, and output of a program with limits. Raises: OSError: it is none."""
    with tempfile.TemporaryFile() as output:
        null, pipe = subprocess.DEVNULL, subprocess.PIPE
        with subprocess.Popen([program], stdin=pipe, stdout=output, stderr=null) as process:
            for kind, most in _LIMITS.items():  # Before its input.
                _, hard = resource.prlimit(process.pid, kind)
                most = most if hard == resource.RLIM_INFINITY else min(most, hard)
                resource.prlimit(process.pid, kind, (most, most))
            process.communicate(text.encode("utf-8"))
        output.seek(0)
        return process.returncode, output.read().decode("utf-8", "replace")


def shortened(name: str, longest: int = NAME_WIDTH) -> str:
    """A demangled name in at most `longest` characters: first inner template arguments and parameters become "…"."""
    if len(name) <= longest:
        return name
    for depth in (3, 2, 1):
        if len(collapsed := _collapsed(name, depth)) <= longest:
            return collapsed
    return f"{collapsed[: longest - 1]}…"


def _collapsed(name: str, depth: int) -> str:
    """`name` with "…" for what stands in `depth` or more brackets."""
    kept: list[str] = []
    level, dropped = 0, False
    for token in _TOKEN.findall(name):
        if token in _OPENING:
            level += 1
            if level <= depth:
                kept.append(token)
            dropped = level > depth
        elif token in _CLOSING:
            if level <= depth:
                kept.append(f"…{token}" if level == depth and dropped else token)
            dropped = level > depth
            level = max(level - 1, 0)
        elif level < depth:
            kept.append(token)
        else:
            dropped = True
    return "".join(kept)
