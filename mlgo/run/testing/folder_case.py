"""For tests: a temporary folder, and files in it."""

import os
import pathlib
import tempfile
import unittest


class FolderCase(unittest.TestCase):
    """Each test has an empty temporary folder, `folder`."""

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory())).resolve()

    def file(self, name: str | os.PathLike[str], content: str | bytes = b"", mode: int | None = None) -> pathlib.Path:
        """Writes a file below `folder`, and the folders that it lies in."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        if mode is not None:
            path.chmod(mode)
        return path

    def script(self, name: str, content: str) -> pathlib.Path:
        """Writes an executable file, a shell script unless `content` begins with the name of another interpreter."""
        return self.file(name, content if content.startswith("#!") else f"#!/bin/sh\n{content}\n", 0o755)
