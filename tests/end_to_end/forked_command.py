"""Commands in processes that are forked from an interpreter with TensorFlow imported.

Importing it takes 5 s of CPU time, in every command that learns. The interpreter imports no module of mlgo, so that
each command finds its own, and nothing that registers flags of mlgo or names of gin.
"""

import atexit
import functools
import json
import os
import runpy
import select
import signal
import socket
import struct
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import IO

_IMPORTED = (
    "tensorflow",
    "tensorflow.lite.python.schema_py_generated",
    "tensorflow.python.tools.saved_model_utils",
    "tensorflow_probability",
)
#: Of a process id, then of a wait status.
_ANSWER = struct.Struct("<q")
#: Linux sends no larger packet by default.
_MAX_REQUEST_BYTES = 200_000


class ForkedCommand:
    """A command that was started; as much of `subprocess.Popen` as a test of commands needs."""

    def __init__(self, connection: socket.socket):
        self._connection = connection
        self._code: int | None = None
        self._pid = self._answer()

    def poll(self) -> int | None:
        """The exit code (minus the signal that ended it), or None while it runs."""
        if self._code is None and select.select([self._connection], [], [], 0)[0]:
            return self.wait()
        return self._code

    def wait(self) -> int:
        """The exit code, once it has ended."""
        if self._code is None:
            self._code = os.waitstatus_to_exitcode(self._answer())
            self._connection.close()
        return self._code

    def send_signal(self, number: int) -> None:
        """Sends a signal, unless it has ended."""
        if self.poll() is None:
            os.kill(self._pid, number)

    def _answer(self) -> int:
        content = self._connection.recv(_ANSWER.size, socket.MSG_WAITALL)
        if len(content) != _ANSWER.size:
            raise RuntimeError("the interpreter that forks commands has ended")
        return _ANSWER.unpack(content)[0]


def start(
    module: str, flags: Sequence[str], path: Sequence[str], variables: Mapping[str, str], output: IO[str]
) -> ForkedCommand:
    """Starts the module as a program, which reads nothing and writes all that it says to `output`.

    Args:
      path: where it looks for modules.
      variables: environment variables besides `environment()`, as it was for the first command that was started so.
    """
    request = json.dumps([module, list(flags), list(path), dict(variables), os.getcwd()]).encode()
    if len(request) > _MAX_REQUEST_BYTES:
        raise ValueError(f"{module}: its flags have more than {_MAX_REQUEST_BYTES} bytes")
    ours, theirs = socket.socketpair()
    with theirs:
        socket.send_fds(_interpreter(), [request], [theirs.fileno(), output.fileno()])
    return ForkedCommand(ours)


def start_alone(
    module: str, flags: Sequence[str], path: Sequence[str], variables: Mapping[str, str], output: IO[str]
) -> subprocess.Popen[bytes]:
    """As `start`, but in an interpreter of its own, which has imported nothing."""
    return subprocess.Popen(
        [*_command_line(module, path), *flags],
        stdout=output,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        env={**environment(), **variables},
    )


def environment() -> dict[str, str]:
    """The environment variables of a command: this process's, without those of `bazel run`."""
    return {key: value for key, value in os.environ.items() if not key.startswith("BUILD_")}


@functools.cache
def _interpreter() -> socket.socket:
    """Takes requests. The interpreter ends when this process does."""
    ours, theirs = socket.socketpair(type=socket.SOCK_SEQPACKET)
    with theirs:
        process = subprocess.Popen(
            [*_command_line(__name__, sys.path), str(theirs.fileno())],
            env=environment(),
            stdin=subprocess.DEVNULL,
            pass_fds=[theirs.fileno()],
        )

    def end() -> None:
        ours.close()
        process.wait()

    atexit.register(end)
    return ours


def _command_line(module: str, path: Sequence[str]) -> list[str]:
    # The program gets this search path, so that it runs the same under Bazel and without.
    start = "import sys, runpy; sys.path[:] = {path!r}; runpy.run_module({module!r}, run_name='__main__')"
    return [sys.executable, "-c", start.format(path=list(path), module=module)]


def _next_command(requests: socket.socket) -> list | None:
    """Returns: in the process of a command, its request; in the interpreter, at the end of `requests`, None."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # Of the processes below that wait for a command.
    while True:
        request, descriptors, _, _ = socket.recv_fds(requests, _MAX_REQUEST_BYTES, 2)
        if not request:
            return None
        if os.fork() == 0:
            break
        for descriptor in descriptors:
            os.close(descriptor)
    requests.close()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    connection, output = descriptors
    if (command := os.fork()) != 0:
        os.close(output)
        os.write(connection, _ANSWER.pack(command))
        os.write(connection, _ANSWER.pack(os.waitpid(command, 0)[1]))
        os._exit(0)
    os.close(connection)
    for descriptor in (sys.stdout.fileno(), sys.stderr.fileno()):
        os.dup2(output, descriptor)
    os.close(output)
    return json.loads(request)


def _main() -> None:
    for name in _IMPORTED:
        __import__(name)
    request = _next_command(socket.socket(fileno=int(sys.argv[1])))
    if request is not None:
        module, flags, path, variables, folder = request
        os.environ.update(variables)
        os.chdir(folder)
        sys.argv[1:] = flags
        sys.path[:] = path
        runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    _main()
