"""Kills compiles of the fake clang from outside, as a machine without memory does."""

import os
import pathlib
import shutil
import signal
import threading

from mlgo.compiler.testing import fake_clang, fake_clang_program

_SCAN_SECONDS = 0.03


class Killer:
    """While the `with` block lasts, kills one compile in `one_in`. Their inputs determine which ones.

    Args:
      directory: where the fake clang was installed.
      again: each of them is killed whenever it is tried; else only the first time.

    Attributes:
      killed: names of the compiles that were killed, STAGE-DIGEST, in this order; stages are "optimised", "default" and
        "policy".
    """

    def __init__(self, directory: str | os.PathLike[str], one_in: int, again: bool = False):
        self._folder = pathlib.Path(directory, fake_clang.KILLER_FOLDER)
        self._settings = os.fsencode(pathlib.Path(directory, "clang.json"))
        self._one_in, self._again = one_in, again
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._keep_killing, name="killer", daemon=True)
        self.killed: list[str] = []

    def __enter__(self) -> "Killer":
        self._folder.mkdir()
        (self._folder / fake_clang_program.ONE_IN).write_text(str(self._one_in), encoding="ascii")
        self._thread.start()
        return self

    def __exit__(self, *_) -> None:
        self._ended.set()
        self._thread.join()
        shutil.rmtree(self._folder)

    def _keep_killing(self) -> None:
        while not self._ended.wait(_SCAN_SECONDS):
            for process in pathlib.Path("/proc").iterdir():
                if process.name.isdigit():
                    try:
                        self._kill_if_stopped(process)
                    except OSError:
                        pass  # It ended meanwhile, or belongs to another user.

    def _kill_if_stopped(self, process: pathlib.Path) -> None:
        state = (process / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[0]
        if state != "T" or self._settings not in (process / "cmdline").read_bytes():
            return
        name = (process / "cwd" / fake_clang_program.STOPPED_NAME).read_text(encoding="ascii")
        if not self._again:
            (self._folder / name).touch()
        self.killed.append(name)
        os.kill(int(process.name), signal.SIGKILL)
