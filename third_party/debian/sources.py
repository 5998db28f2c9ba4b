"""Opens one file of a mirror, over HTTP or in a directory, and tells in one clause why that failed.

Requests follow the machine's proxies (http_proxy, https_proxy, no_proxy). Redirects lead to http and https only. User
name and password in a mirror's address go into a header and never into a message.
"""

import base64
import contextlib
import dataclasses
import enum
import http.client
import os
import pathlib
import re
import socket
import stat
import threading
import urllib.error
import urllib.parse
import urllib.request
from typing import Callable, Iterator, List, Optional, Tuple

import digests
import lockfile

# Two sizes and two digests fit.
_LONGEST_REASON = 400
_CONTENT_RANGE = re.compile(r"bytes (\d+)-(\d+)/(\d+|\*)\Z")
# Of the time that a mirror may be silent, one address may take this part to connect: a mirror often has two, and a
# machine without IPv6 reaches only the second.
_CONNECT_PART = 1 / 3
# Two classes before Python 3.10.
_TIME_OUTS = (TimeoutError, socket.timeout)

Connected = Callable[[socket.socket], None]


class Kind(enum.Enum):
    """What a failure says about the mirror."""

    ABSENT = "it answered that it does not have the file"
    DIFFERENT = "it has other bytes"
    REFUSED = "it does not serve the file to this machine"
    TEMPORARY = "another attempt may help"
    SILENT = "it did not answer"


class Failed(Exception):
    """A mirror did not serve a file.

    Attributes:
        kind: what this says about the mirror.
        reason: a clause for the user, without passwords and control characters.
        wait_seconds: the pause that the mirror asks for; 0 when it asks for none.
    """

    def __init__(self, kind: Kind, reason: str, wait_seconds: float = 0):
        self.kind, self.reason, self.wait_seconds = kind, printable(reason), wait_seconds
        super().__init__(self.reason)


class RangeRefused(Failed):
    """The mirror does not serve the part that was asked for; it may serve the whole file."""


class TooSlow(Failed):
    """The mirror was slow or silent. Another attempt may take as long, so other mirrors come first."""


@dataclasses.dataclass(frozen=True)
class Answer:
    """A mirror's answer.

    Attributes:
        start: offset of the first byte that `read` returns.
        total: size of the whole file that the mirror announces; None when it announces none.
        form: what the content is said to be, for messages: "text/html".
        read: returns at most so many bytes, as soon as some are there; b"" at the end.
    """

    start: int
    total: Optional[int]
    form: str
    read: Callable[[int], bytes]


def masked(text: str) -> str:
    """`text` with *** in place of each user name and password of an address."""
    return re.sub(r"//[^/\s]*@", "//***@", text)


def printable(text: str) -> str:
    """`text` without passwords, without control characters and not longer than a message."""
    shown = "".join(char if char.isprintable() else "?" for char in masked(text))
    return shown if len(shown) <= _LONGEST_REASON else shown[:_LONGEST_REASON] + "..."


def with_header(url: str) -> Tuple[str, Optional[str]]:
    """(address without user name and password, value of the header Authorization or None)."""
    parts = urllib.parse.urlsplit(url)
    user, at, host = parts.netloc.rpartition("@")
    if not at:
        return url, None
    token = base64.b64encode(urllib.parse.unquote(user).encode()).decode()
    return urllib.parse.urlunsplit(parts._replace(netloc=host)), f"Basic {token}"


def _noticed(connection_class, connected: Connected):
    """`connection_class`, which reports its socket, so that another thread can shut it down."""

    class Noticed(connection_class):
        timeout: float

        def connect(self):
            allowed = self.timeout
            self.timeout = allowed * _CONNECT_PART
            super().connect()
            self.sock.settimeout(allowed)
            connected(self.sock)

    return Noticed


class _Http(urllib.request.HTTPHandler):
    def __init__(self, connected: Connected):
        super().__init__()
        self._connected = connected

    def http_open(self, req):
        return self.do_open(_noticed(http.client.HTTPConnection, self._connected), req)


class _Https(urllib.request.HTTPSHandler):
    def __init__(self, connected: Connected):
        super().__init__()
        self._connected = connected

    def https_open(self, req):
        return self.do_open(_noticed(http.client.HTTPSConnection, self._connected), req)


def _opener(connected: Connected) -> urllib.request.OpenerDirector:
    """Like urllib's own, without the schemes file, ftp and data: a redirect must not lead there."""
    opener = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.ProxyHandler(),
        urllib.request.UnknownHandler(),
        _Http(connected),
        _Https(connected),
        urllib.request.HTTPDefaultErrorHandler(),
        urllib.request.HTTPRedirectHandler(),
        urllib.request.HTTPErrorProcessor(),
    ):
        opener.add_handler(handler)
    return opener


@contextlib.contextmanager
def open_url(
    url: str, start: int, timeout: float, connected: Connected = lambda _: None, method: str = "GET"
) -> Iterator[Answer]:
    """Asks for the file at `url` from byte `start` on.

    Args:
        url: http or https; may hold user name and password.
        start: offset in bytes; the answer may begin at 0 nevertheless.
        timeout: seconds until the answer, and seconds that one operation of the socket may take.
        connected: receives each socket once it is connected.
        method: GET or HEAD.

    Raises:
        Failed: the server does not serve it.
    """
    try:
        request = _request(url, start, method)
    except ValueError as error:
        raise Failed(Kind.REFUSED, f"no address ({error})") from None
    try:
        with _deadline(timeout, connected) as noticed:
            response = _opener(noticed).open(request, timeout=timeout)
    except _TIME_OUTS:
        raise _timed_out(Kind.SILENT, timeout) from None
    except urllib.error.HTTPError as error:
        with error:
            raise _of_status(error) from None
    except (OSError, http.client.HTTPException, ValueError) as error:
        if isinstance(getattr(error, "reason", None), _TIME_OUTS):
            raise _timed_out(Kind.SILENT, timeout) from None
        raise _of_connection(error, request) from None
    with response:
        yield _answer(response, start, timeout)


def _request(url: str, start: int, method: str) -> urllib.request.Request:
    bare, authorization = with_header(url)
    request = urllib.request.Request(urllib.parse.quote(bare, safe="%/:?&=+~,;@!$'()*[]#"), method=method)
    if start:
        request.add_header("Range", f"bytes={start}-")
    if authorization:
        # A redirect to another host must not carry it there.
        request.add_unredirected_header("Authorization", authorization)
    return request


@contextlib.contextmanager
def _deadline(seconds: float, connected: Connected) -> Iterator[Connected]:
    """Shuts down the sockets of this block after so many seconds. A server can send a header byte by byte for ever, and
    the time-out of a socket counts from the last byte.

    Raises:
        TimeoutError: the time was over.
    """
    over = threading.Event()
    opened: List[socket.socket] = []

    def notice(connection: socket.socket) -> None:
        opened.append(connection)
        connected(connection)

    def end() -> None:
        over.set()
        for connection in opened:
            shut(connection)

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()
    try:
        yield notice
    except (OSError, http.client.HTTPException, ValueError):
        if not over.is_set():
            raise
    finally:
        timer.cancel()
    # A header that ends early is no error for http.client.
    if over.is_set():
        raise TimeoutError


def shut(connection: socket.socket) -> None:
    """Ends the connection for every thread that waits for it."""
    with contextlib.suppress(OSError):  # It is closed already.
        # Not the method of a TLS socket, which would let the other thread read what is still encrypted.
        socket.socket.shutdown(connection, socket.SHUT_RDWR)


def _answer(response, start: int, timeout: float) -> Answer:
    form = response.headers.get("Content-Type") or "no stated type"
    encoding = response.headers.get("Content-Encoding", "identity")
    if encoding != "identity":
        form += f" in the encoding {encoding}"

    def read(count: int) -> bytes:
        try:
            return response.read1(count)
        except _TIME_OUTS:
            raise _timed_out(Kind.TEMPORARY, timeout) from None
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise Failed(Kind.TEMPORARY, f"connection broken ({_words(error)})") from None

    if response.status != 206:
        return Answer(0, response.length, form, read)
    match = _CONTENT_RANGE.match(response.headers.get("Content-Range", ""))
    if not match or int(match[1]) != start:
        raise RangeRefused(Kind.TEMPORARY, "answers with another part of the file than the one asked for")
    return Answer(start, None if match[3] == "*" else int(match[3]), form, read)


def _of_status(error: urllib.error.HTTPError) -> Failed:
    reason = f"HTTP {error.code}"
    if error.code in (404, 410):
        return Failed(Kind.ABSENT, reason)
    if 300 <= error.code < 400:
        return Failed(Kind.REFUSED, f"{reason}, a redirect to {error.headers.get('Location')} that is not followed")
    if error.code == 416:
        return RangeRefused(Kind.TEMPORARY, reason)
    wait = error.headers.get("Retry-After", "")
    if error.code >= 500 or error.code in (408, 425, 429):
        # The other form of Retry-After, a date, depends on two clocks.
        return Failed(Kind.TEMPORARY, reason, float(wait) if re.fullmatch(r"[0-9]{1,6}", wait) else 0)
    return Failed(Kind.REFUSED, reason)


def _timed_out(kind: Kind, seconds: float) -> TooSlow:
    return TooSlow(kind, f"silent for {seconds:g} s")


def _words(error: BaseException) -> str:
    reason = getattr(error, "reason", error)
    return str(reason) or type(reason).__name__


def _of_connection(error: BaseException, request: urllib.request.Request) -> Failed:
    # A request for a proxy has the proxy's host.
    asked = urllib.parse.urlsplit(request.full_url).netloc
    proxy = f" through the proxy {request.host}" if request.host and request.host != asked else ""
    return Failed(Kind.SILENT, _words(error) + proxy)


@contextlib.contextmanager
def open_file(directory: pathlib.Path, entry: lockfile.Entry) -> Iterator[Answer]:
    """Opens an archive in a mirror that is a directory: at its path, otherwise by its sha256 as in an archive cache.

    Raises:
        Failed: it is not there, has another size, is no regular file (a pipe or device can have no end), or cannot be
        read.
    """
    if not directory.is_dir():
        raise Failed(Kind.SILENT, "no such directory")
    path = directory / entry.path
    if not os.path.lexists(path) and (directory / entry.sha256).is_file():
        path = directory / entry.sha256
    try:
        # O_NONBLOCK: opening a pipe would wait for a writer.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        raise Failed(Kind.ABSENT, "not in the directory") from None
    except OSError as error:
        raise _unreadable(error) from None
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        os.close(descriptor)
        raise Failed(Kind.REFUSED, "no regular file in the directory")
    with open(descriptor, "rb", buffering=0) as file:

        def read(count: int) -> bytes:
            try:
                return file.read(count)
            except OSError as error:
                raise _unreadable(error) from None

        if status.st_size != entry.size:
            try:
                clause = digests.wrong_bytes(entry, path)
            except OSError as error:
                raise _unreadable(error) from None
            raise Failed(Kind.DIFFERENT, clause or "changes while it is read")
        yield Answer(0, status.st_size, "a file", read)


def _unreadable(error: OSError) -> Failed:
    return Failed(Kind.REFUSED, f"cannot be read ({error.strerror or error})")
