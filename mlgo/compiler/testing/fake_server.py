"""A compile server for tests: speaks the protocol of development/server, and runs each command as a process.

`install` puts an executable into a directory. It runs the fake clang's commands, so all errors of a compiler also occur
through a server. The executable is this file, run without site packages.
"""

import contextlib
import json
import os
import resource
import select
import signal
import socket
import struct
import sys


def install(directory: str | os.PathLike[str], deaths: int = 0) -> str:
    """Puts the executable `compile_server` into `directory` and returns its path.

    Args: deaths: so many servers die, each as it gets its next order.
    """
    path = os.path.join(directory, "compile_server")
    left = os.path.join(directory, "deaths")
    os.makedirs(left, exist_ok=True)
    for index in range(deaths):
        os.mknod(os.path.join(left, str(index)))
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"#!/bin/sh\nexec '{sys.executable}' -I -S '{os.path.realpath(__file__)}' '{left}' \"$@\"\n")
    os.chmod(path, 0o755)
    return path


def _receive(connection: socket.socket) -> tuple[bytes, int | None]:
    """A payload and the descriptor that came with it; an empty one at the end."""
    head, descriptors, _, _ = socket.recv_fds(connection, 4, 1)
    while head and len(head) < 4:
        head += connection.recv(4 - len(head))
    if not head:
        return b"", None
    (length,) = struct.unpack("<I", head)
    payload = b""
    while len(payload) < length:
        payload += connection.recv(length - len(payload))
    return payload, descriptors[0] if descriptors else None


def _compile(payload: bytes, messages: int, command: list[bytes]) -> int:
    cpu, memory, file = struct.unpack_from("<QQQ", payload, 1)
    directory = _texts(payload)[0]
    child = os.fork()
    if child:
        return child
    os.setsid()
    os.dup2(messages, 2)
    os.chdir(directory)
    os.environ["TMPDIR"] = os.fsdecode(directory)
    resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu + 5))
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_FSIZE, (file, file))
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    try:
        os.execv(command[0], command)
    except OSError as error:
        os.write(2, str(error).encode())
        os._exit(127)


def _texts(payload: bytes) -> list[bytes]:
    """The directory and the arguments."""
    return payload[25:-1].split(b"\0")


def _dies(deaths: str) -> bool:
    for name in os.listdir(deaths):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(os.path.join(deaths, name))
            return True
    return False


def _finished(connection: socket.socket, child: int) -> bytes | None:
    """Waits for the end of `child`; its answer, or None when the client is gone."""
    end = os.pidfd_open(child)
    gone = False
    watched: list[int | socket.socket] = [end, connection]
    while end not in (ready := select.select(watched, [], [])[0]):
        if connection in ready and _receive(connection)[0] != b"K":
            gone = True
            watched.remove(connection)
        os.kill(child, signal.SIGKILL)  # it may not have made its group yet
    os.close(end)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    _, status, usage = os.wait4(child, 0)
    cpu_microseconds = int((usage.ru_utime + usage.ru_stime) * 1e6)
    return None if gone else struct.pack("<qqqq", 1, status, cpu_microseconds, usage.ru_maxrss)


def _main(deaths: str, descriptor: int) -> None:
    connection = socket.socket(fileno=descriptor)
    shared: list[bytes] = []
    while True:
        payload, messages = _receive(connection)
        order = payload[:1]
        if not order:
            return
        if _dies(deaths):
            os.kill(os.getpid(), signal.SIGKILL)
        if order == b"R":
            connection.sendall(struct.pack("<qqqq", 3, 0, 0, 0))
        elif order == b"S":
            assert messages is not None
            os.close(messages)
            shared = _texts(payload)[1:]
            with open(os.path.join(_texts(payload)[0], b"module.bc"), encoding="utf-8") as file:
                behaviour = json.load(file).get("behaviour")
            if behaviour == "hang_before_decision":
                if _receive(connection)[0] != b"K":
                    return
            reached = behaviour not in ("hang_before_decision", "undecided")
            connection.sendall(struct.pack("<qqqq", 2 if reached else 3, 0, 1000, 0))
        elif order in (b"C", b"F"):
            command = _texts(payload)[1:]
            if order == b"F":
                command = [command[0] if word == b"-" else word for word in shared]
            assert messages is not None
            child = _compile(payload, messages, command)
            os.close(messages)
            answer = _finished(connection, child)
            if answer is None:
                return
            connection.sendall(answer)


if __name__ == "__main__":
    _main(sys.argv[1], int(sys.argv[2]))
