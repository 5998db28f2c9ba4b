"""nginx as Bazel's cache server, on a free port of the loopback interface, for as long as a test wants it."""

import contextlib
import pathlib
import socket
import subprocess
import time
from collections.abc import Iterator

_START_SECONDS = 20
_ATTEMPTS = 5


#: Clients on this machine may write.
LOCAL_WRITERS = "allow 127.0.0.1;\ndeny all;\n"


def configuration(template: str, folder: pathlib.Path, listen: str) -> str:
    """The text of nginx.conf for a server that keeps everything in `folder`.

    Args: listen: address and options of nginx's directive `listen`.
    """
    return template.replace("@FOLDER@", str(folder)).replace("@LISTEN@", listen)


@contextlib.contextmanager
def serving(
    nginx: pathlib.Path, template: pathlib.Path, folder: pathlib.Path, writers: str = LOCAL_WRITERS, tls: str = ""
) -> Iterator[str]:
    """Serves `folder`/data; yields the URL for --remote_cache. What was asked stands in `folder`/access.log.

    Args:
      writers: text of writers.conf.
      tls: text of tls.conf; empty: plain HTTP. @FOLDER@ stands for `folder` in both.
    Raises: AssertionError: nginx does not start; carries what it says.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("data", "temporary"):
        (folder / name).mkdir(exist_ok=True)
    (folder / "writers.conf").write_text(writers.replace("@FOLDER@", str(folder)), encoding="utf-8")
    if tls:
        (folder / "tls.conf").write_text(tls.replace("@FOLDER@", str(folder)), encoding="utf-8")
    text = template.read_text(encoding="utf-8")
    for _ in range(_ATTEMPTS):
        # Another process may take the port before nginx does; then the next one is tried.
        port = _free_port()
        listen = f"127.0.0.1:{port}{' ssl' if tls else ''}"
        (folder / "nginx.conf").write_text(configuration(text, folder, listen), encoding="utf-8")
        # One process that stays in the foreground: it ends when it is told to, and so does everything it started.
        server = subprocess.Popen(
            [
                nginx,
                "-e",
                folder / "error.log",
                "-p",
                folder,
                "-c",
                folder / "nginx.conf",
                "-g",
                "daemon off; master_process off;",
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        try:
            if _answers(server, port):
                yield f"{'https' if tls else 'http'}://127.0.0.1:{port}"
                return
        finally:
            server.terminate()
            said, _ = server.communicate()
    raise AssertionError(f"nginx does not start: {said}{(folder / 'error.log').read_text(encoding='utf-8')}")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _answers(server: subprocess.Popen, port: int) -> bool:
    """Whether the server accepts connections before it ends or the time is over."""
    end = time.monotonic() + _START_SECONDS
    while server.poll() is None and time.monotonic() < end:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return True
        except OSError:
            time.sleep(0.05)
    return False
