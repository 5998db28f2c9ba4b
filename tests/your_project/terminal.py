"""A terminal in which one command runs after the other, as in a shell; and what each costs."""

import dataclasses
import os
import pathlib
import resource
import subprocess
from collections.abc import Callable, Mapping

# Everything that a command assigns is exported, and reaches the next one so.
_SCRIPT = """set -ae
. "$1"
pwd > "$2/directory"
env -0 > "$2/environment"
"""
_END_OF_OUTPUT = 6000


@dataclasses.dataclass(frozen=True)
class Cost:
    """What a command used.

    Attributes:
      command: its first line.
      seconds: CPU time of its processes, and of the server that it spoke to.
    """

    command: str
    seconds: float


class Terminal:
    """Runs commands; variables and the folder of one hold for the next.

    Attributes:
      costs: of each command so far.
      output: everything that the commands printed.
    """

    def __init__(
        self,
        scratch: pathlib.Path,
        directory: pathlib.Path,
        environment: Mapping[str, str],
        server_seconds: Callable[[], float] = lambda: 0.0,
    ):
        """
        Args:
          scratch: a folder for files of this class.
          directory: where the first command runs.
          environment: its variables.
          server_seconds: CPU seconds so far of a server that works for the commands and outlives them.
        """
        self._scratch, self._directory, self._environment = scratch, str(directory), dict(environment)
        self._server_seconds = server_seconds
        self.costs: list[Cost] = []
        self.output = ""

    @property
    def directory(self) -> pathlib.Path:
        return pathlib.Path(self._directory)

    def run(self, command: str) -> None:
        """Runs a command.

        Raises: AssertionError: its exit code is not 0; carries the end of what it printed.
        """
        script = self._scratch / "command"
        script.write_text(command + "\n", encoding="utf-8")
        before, server_before = _seconds_of_children(), self._server_seconds()
        done = subprocess.run(
            ["sh", "-c", _SCRIPT, "sh", script, self._scratch],
            cwd=self._directory,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="surrogateescape",
            check=False,
        )
        server = self._server_seconds()
        # A server that has ended meanwhile, or is another one, counts from nothing.
        server -= server_before if server >= server_before else 0
        self.costs.append(Cost(command.partition("\n")[0], _seconds_of_children() - before + server))
        self.output += done.stdout
        if done.returncode:
            raise AssertionError(f"exit code {done.returncode}: {command}\n{done.stdout[-_END_OF_OUTPUT:]}")
        self._directory = (self._scratch / "directory").read_text(encoding="utf-8").rstrip("\n")
        variables = (self._scratch / "environment").read_bytes().split(b"\0")
        pairs = (os.fsdecode(variable).partition("=") for variable in variables if variable)
        self._environment = {name: value for name, _, value in pairs}


def _seconds_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def seconds_of_process(number: int) -> float:
    """CPU seconds of a running process and of its children that have ended; 0 if there is none of that number."""
    try:
        fields = pathlib.Path(f"/proc/{number}/stat").read_text(encoding="utf-8").rpartition(") ")[2].split()
    except FileNotFoundError:
        return 0.0
    # utime, stime, cutime, cstime: fields 14 to 17 of proc(5); the first after the name is the third.
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
