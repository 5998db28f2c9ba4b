"""For tests: objects made by our own compiler, in a scratch folder."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

EMBED = ("-O2", "-Xclang", "-fembed-bitcode=all", "-ffreestanding", "-c")

#: Folder of clang, ld.lld, llvm-ar and the rest: that of clang, the first argument of the test.
_TOOLS = pathlib.Path(sys.argv.pop(1)).absolute().parent


class ToolboxTest(unittest.TestCase):
    """A test with a scratch folder `root` and LLVM's tools."""

    def setUp(self):
        self.root = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def file(self, name: str, content: str | bytes) -> pathlib.Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def tool(self, name: str) -> str:
        return str(_TOOLS / name)

    def run_tool(self, name: str, *arguments: str | os.PathLike[str], folder: str = ".") -> None:
        """Runs one of LLVM's tools below `root`."""
        done = subprocess.run(
            [self.tool(name), *map(str, arguments)], cwd=self.root / folder, capture_output=True, text=True, check=False
        )
        self.assertEqual(done.returncode, 0, f"{name} {arguments}: {done.stderr}")

    def compiled(self, output: str, source: str, *flags: str, folder: str = ".") -> pathlib.Path:
        """`source`, C, compiled to root/folder/output with its bitcode embedded."""
        path = self.root / folder / output
        path.parent.mkdir(parents=True, exist_ok=True)
        self.file(f"{folder}/{output}.c", source)
        self.run_tool("clang", *EMBED, *flags, f"{output}.c", "-o", output, folder=folder)
        return path
