"""Headless Chromium, controlled through a pipe with the DevTools protocol: JSON messages that end with a zero byte."""

import base64
import json
import os
import pathlib
import select
import subprocess
import time
from typing import Any

_FLAGS = (
    "--no-sandbox",  # A test runs in Bazel's sandbox, often as root, where Chromium's own cannot be.
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--force-color-profile=srgb",
    "--font-render-hinting=none",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
    "--remote-debugging-pipe",
)

#: How long one answer may take; a page takes a fraction of a second, and a machine can be busy.
_PATIENCE_SECONDS = 120.0


class BrowserError(Exception):
    """The browser refused, fell silent or ended."""


class Browser:
    """One page of a browser, until `close`.

    Args:
      program: chromium-headless-shell.
      fonts: the folder of all fonts it has.
      scratch: an empty folder for its profile.

    Attributes:
      events: (method, parameters) of everything it told unasked, in order.
    """

    def __init__(self, program: pathlib.Path, fonts: pathlib.Path, scratch: pathlib.Path):
        configuration = scratch / "fonts.conf"
        configuration.write_text(
            f"<?xml version='1.0'?><fontconfig><dir>{fonts}</dir><cachedir>{scratch / 'fonts'}</cachedir></fontconfig>",
            encoding="utf-8",
        )
        self.events: list[tuple[str, dict[str, Any]]] = []
        self._number, self._received, self._session = 0, b"", None
        their_in, self._out = os.pipe()
        self._in, their_out = os.pipe()
        # It reads from descriptor 3 and writes to 4: the shell puts them there.
        command = [
            "/bin/sh",
            "-c",
            f'exec "$0" "$@" 3<&{their_in} 4>&{their_out}',
            str(program),
            *_FLAGS,
            f"--user-data-dir={scratch / 'profile'}",
        ]
        with open(scratch / "stderr", "wb") as errors:
            self._process = subprocess.Popen(
                command,
                pass_fds=(their_in, their_out),
                stdin=subprocess.DEVNULL,
                stdout=errors,
                stderr=errors,
                env={"FONTCONFIG_FILE": str(configuration), "HOME": str(scratch), "PATH": "/usr/bin:/bin"},
            )
        self._errors = scratch / "stderr"
        os.close(their_in)
        os.close(their_out)
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Log"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """What it answers to `method`.

        Raises: BrowserError: it refuses, falls silent or has ended.
        """
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode("utf-8") + b"\0")
        while (answer := self._next()).get("id") != self._number:
            self.events.append((answer.get("method", ""), answer.get("params", {})))
        if "error" in answer:
            raise BrowserError(f"{method}: {answer['error'].get('message')}")
        return answer["result"]

    def open(self, path: pathlib.Path, width: int, height: int, scheme: str = "light", medium: str = "screen") -> None:
        """Shows the file. Args: scheme: "light" or "dark"; medium: "screen" or "print"."""
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )
        self.call(
            "Emulation.setEmulatedMedia", media=medium, features=[{"name": "prefers-color-scheme", "value": scheme}]
        )
        seen = len(self.events)
        self.call("Page.navigate", url=path.as_uri())
        while not any(method == "Page.loadEventFired" for method, _ in self.events[seen:]):
            message = self._next()
            self.events.append((message.get("method", ""), message.get("params", {})))

    def evaluate(self, expression: str) -> Any:
        """The JSON value of JavaScript. Raises: BrowserError: it throws."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in answer:
            raise BrowserError(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def picture(self) -> bytes:
        """The whole page as PNG, also what is below the screen."""
        answer = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True, fromSurface=True)
        return base64.b64decode(answer["data"])

    def pdf(self) -> bytes:
        """The page in print, A4."""
        return base64.b64decode(
            self.call("Page.printToPDF", paperWidth=8.27, paperHeight=11.69, printBackground=True)["data"]
        )

    def close(self) -> None:
        """Ends it."""
        self._process.kill()
        self._process.wait()
        os.close(self._in)
        os.close(self._out)

    def _next(self) -> dict[str, Any]:
        end = time.monotonic() + _PATIENCE_SECONDS
        while b"\0" not in self._received:
            ready, _, _ = select.select([self._in], [], [], max(0.0, end - time.monotonic()))
            content = os.read(self._in, 1 << 20) if ready else b""
            if not content:
                what = "has ended" if ready else f"said nothing for {_PATIENCE_SECONDS:.0f} s"
                raise BrowserError(f"Chromium {what}: {self._errors.read_text('utf-8', 'replace')[-2000:]}")
            self._received += content
        message, _, self._received = self._received.partition(b"\0")
        return json.loads(message)
