"""Small real archives for tests: Debian packages, tarballs, and an HTTP mirror that can misbehave."""

import contextlib
import hashlib
import http.server
import io
import pathlib
import tarfile
import threading
import types
from typing import Callable, Dict, Iterator, Mapping, Tuple, Union

import lockfile

#: Of a file: its content, or ("symlink" | "hardlink", target).
Value = Union[bytes, Tuple[str, str]]


def tar_bytes(files: Mapping[str, Value], compression: str = "xz") -> bytes:
    """A tarball. Args: compression: "xz", "gz", "bz2", or "" for none."""
    buffer = io.BytesIO()
    # The stubs know the modes as literals only.
    with tarfile.open(fileobj=buffer, mode=f"w:{compression}") as tar:  # type: ignore[call-overload]
        for name, value in files.items():
            info = tarfile.TarInfo(name)
            if isinstance(value, tuple):
                info.type = tarfile.SYMTYPE if value[0] == "symlink" else tarfile.LNKTYPE
                info.linkname = value[1]
                tar.addfile(info)
            else:
                info.size = len(value)
                is_program = name.split("/")[-2:-1] == ["bin"] or value.startswith(b"#!")
                info.mode = 0o755 if is_program else 0o644
                tar.addfile(info, io.BytesIO(value))
    return buffer.getvalue()


def deb_bytes(files: Mapping[str, Value], compression: str = "xz", control: bytes = b"") -> bytes:
    """A Debian binary package holding `files`, with this control text."""

    def member(name: str, content: bytes) -> bytes:
        return (
            f"{name:<16}{0:<12}{0:<6}{0:<6}{100644:<8}{len(content):<10}`\n".encode()
            + content
            + b"\n" * (len(content) % 2)
        )

    return (
        b"!<arch>\n"
        + member("debian-binary", b"2.0\n")
        + member("control.tar.xz", tar_bytes({"./control": control}))
        + member(f"data.tar.{compression}", tar_bytes(files, compression))
    )


def entry(name: str, content: bytes, path: str = "") -> lockfile.Entry:
    """The lock entry of an archive with these bytes."""
    return lockfile.Entry(
        name=name,
        version="1.0",
        sha256=hashlib.sha256(content).hexdigest(),
        size=len(content),
        # Of no suite in dated.json: tests ask no server beyond their own.
        suite="of-a-test",
        path=path or f"pool/main/{name[0]}/{name}/{name}_1.0_amd64.deb",
    )


Behaviour = Callable[[http.server.BaseHTTPRequestHandler, "Mirror"], None]


class Mirror:
    """What an HTTP mirror serves, and how it misbehaves.

    Attributes:
        files: path below the base -> content.
        cut_after: bytes after which a connection is dropped, once per path.
        announce: size that is announced for every file, whatever comes then.
        behaviours: path below the base -> what answers the request instead.
        requests: (path, Range header) of every request, in order.
        sent: bytes that behaviours sent; they count them with `send`.
        closed: set when the mirror is shut down.
    """

    def __init__(
        self,
        files: Dict[str, bytes],
        cut_after: int = 0,
        announce: int = 0,
        behaviours: Mapping[str, Behaviour] = types.MappingProxyType({}),
    ):
        self.files, self.cut_after, self.announce, self.behaviours = files, cut_after, announce, behaviours
        self.requests: list = []
        self.sent = 0
        self.closed = threading.Event()
        self._cut: set = set()

    def answer(self, path: str, range_header: str) -> Tuple[int, bytes, int]:
        """(status, body, announced length) for one request."""
        if path not in self.files:
            return 404, b"", 0
        content, status, start = self.files[path], 200, 0
        if range_header:
            start = int(range_header[len("bytes=") : -1])
            content, status = content[start:], 206
        if self.cut_after and path not in self._cut:
            self._cut.add(path)
            return status, content[: self.cut_after], len(content)
        return status, content, self.announce - start if self.announce else len(content)


@contextlib.contextmanager
def serving(mirror: Mirror) -> Iterator[str]:
    """Serves `mirror` on loopback; yields its base URL."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            path, range_header = self.path.lstrip("/"), self.headers.get("Range", "")
            mirror.requests.append((path, range_header))
            if path in mirror.behaviours:
                self.close_connection = True
                with contextlib.suppress(ConnectionError):  # The client may leave.
                    mirror.behaviours[path](self, mirror)
                return
            status, body, length = mirror.answer(path, range_header)
            self.send_response(status)
            self.send_header("Content-Length", str(length))
            if status == 206:
                start = int(range_header[len("bytes=") : -1])
                self.send_header("Content-Range", f"bytes {start}-{start + length - 1}/{start + length}")
            self.end_headers()
            self.wfile.write(body)
            if len(body) != length:
                self.close_connection = True

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        mirror.closed.set()
        server.shutdown()
        server.server_close()
        thread.join()


def sends(*parts: bytes, for_ever: bytes = b"", pause_seconds: float = 0) -> Behaviour:
    """A behaviour that writes these bytes to the connection, header lines included.

    Args:
        parts: bytes to send.
        for_ever: bytes to send again and again after them.
        pause_seconds: time after each of them; without `for_ever` it is not used, and the connection ends.
    """

    def behave(handler: http.server.BaseHTTPRequestHandler, mirror: Mirror) -> None:
        for part in parts:
            handler.wfile.write(part)
        while for_ever and not mirror.closed.is_set():
            handler.wfile.write(for_ever)
            mirror.sent += len(for_ever)
            mirror.closed.wait(pause_seconds)

    return behave


def is_silent(*parts: bytes) -> Behaviour:
    """A behaviour that sends these bytes and then keeps the connection open without a byte."""

    def behave(handler: http.server.BaseHTTPRequestHandler, mirror: Mirror) -> None:
        for part in parts:
            handler.wfile.write(part)
        mirror.closed.wait()

    return behave


def header(status: str, **fields: object) -> bytes:
    """The first lines of an answer: `header("200 OK", content_length=5)`."""
    lines = [f"{name.replace('_', '-')}: {value}" for name, value in fields.items()]
    return "\r\n".join([f"HTTP/1.1 {status}", *lines, "", ""]).encode()


def tree(root: pathlib.Path) -> Dict[str, object]:
    """Every file and link below `root`: relative path -> bytes or link target."""
    found: Dict[str, object] = {}
    for path in sorted(root.rglob("*")):
        name = str(path.relative_to(root))
        if path.is_symlink():
            found[name] = "-> " + str(path.readlink())
        elif path.is_file():
            found[name] = path.read_bytes()
    return found
