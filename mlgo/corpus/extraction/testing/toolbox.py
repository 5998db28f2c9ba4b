"""For tests: objects made by our own compiler, in a scratch folder."""

import os
import pathlib
import subprocess
import sys

from mlgo.run.testing.folder_case import FolderCase

EMBED = ("-O2", "-Xclang", "-fembed-bitcode=all", "-ffreestanding", "-c")

#: Folder of clang, ld.lld, llvm-ar and the rest: that of clang, the first argument of the test.
_TOOLS = pathlib.Path(sys.argv.pop(1)).absolute().parent


class ToolboxTest(FolderCase):
    """A test with a temporary folder and LLVM's tools."""

    def tool(self, name: str) -> str:
        return str(_TOOLS / name)

    def run_tool(self, name: str, *arguments: str | os.PathLike[str], folder: str = ".") -> None:
        """Runs one of LLVM's tools below `self.folder`."""
        done = subprocess.run(
            [self.tool(name), *map(str, arguments)],
            cwd=self.folder / folder,
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual(done.returncode, 0, f"{name} {arguments}: {done.stderr}")

    def compiled(self, output: str, source: str, *flags: str, folder: str = ".") -> pathlib.Path:
        """`source`, C, compiled to self.folder/folder/output with its bitcode embedded."""
        self.file(f"{folder}/{output}.c", source)
        self.run_tool("clang", *EMBED, *flags, f"{output}.c", "-o", output, folder=folder)
        return self.folder / folder / output
