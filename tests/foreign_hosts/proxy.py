"""A proxy and a Debian mirror in one: it serves a mirror that only it knows, from a folder of archives."""

import contextlib
import http.server
import json
import pathlib
import shutil
import threading
import urllib.parse
from collections.abc import Iterator, Mapping

MIRROR = "http://debian.invalid/debian"


def digests(lock: object) -> dict[str, str]:
    """Path below a mirror -> sha256, for every archive of third_party/debian/lock.json."""
    found: dict[str, str] = {}
    if isinstance(lock, dict):
        if "path" in lock and "sha256" in lock:
            found[lock["path"]] = lock["sha256"]
        for value in lock.values():
            found.update(digests(value))
    return found


class Proxy(http.server.ThreadingHTTPServer):
    """Attributes: asked: number of archives that were sent."""

    daemon_threads = True

    def __init__(self, archives: pathlib.Path, paths: Mapping[str, str]):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.archives, self.paths, self.asked = archives, paths, 0

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(http.server.BaseHTTPRequestHandler):
    server: Proxy

    def do_GET(self) -> None:
        # A client of a proxy asks for the whole address.
        path = urllib.parse.unquote(self.path).removeprefix(MIRROR + "/")
        digest = self.server.paths.get(path)
        # The folder has archives by digest, or is laid out as a mirror.
        places = [self.server.archives / name for name in (digest, path)] if digest else []
        archive = next((place for place in places if place.is_file()), None)
        if archive is None:
            self.send_error(404)
            return
        self.server.asked += 1
        self.send_response(200)
        self.send_header("Content-Length", str(archive.stat().st_size))
        self.end_headers()
        with open(archive, "rb") as file, contextlib.suppress(ConnectionError):
            shutil.copyfileobj(file, self.wfile)

    def log_message(self, format: str, *args: object) -> None:
        """Prints nothing."""


@contextlib.contextmanager
def serving(archives: pathlib.Path, lock: pathlib.Path) -> Iterator[Proxy]:
    """A proxy on the loopback interface that runs until the end of the block."""
    with Proxy(archives, digests(json.loads(lock.read_text(encoding="utf-8")))) as proxy:
        thread = threading.Thread(target=proxy.serve_forever)
        thread.start()
        try:
            yield proxy
        finally:
            proxy.shutdown()
            thread.join()
