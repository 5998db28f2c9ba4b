"""What extraction makes of an embedded command: files that it names, ThinLTO indices, and the command of the module."""

import pathlib
import tempfile

from mlgo.corpus.command import CommandError, CompileCommand
from mlgo.corpus.extraction.inputs import BuildObject
from mlgo.corpus.extraction.modules import EmbeddedModules
from mlgo.corpus.extraction.object_file import Embedded
from mlgo.corpus.extraction.outcome import LeftOut
from mlgo.corpus.self_contained import FileRoots
from tests.fuzzing import search

SEEDS = (
    b"-cc1\0-triple\0x86_64-linux-gnu\0-fthinlto-index=a.index\0-fprofile-sample-use=a.prof\0-O2\0",
    b"-cc1\0-mllvm\0-sample-profile-file=a.prof\0-fprofile-instrument-use-path=a.prof\0-fthinlto-index=/dev/null\0",
)
WORDS = (
    b"a.prof",
    b"a.index",
    b"\0-fthinlto-index=",
    b"\0-mllvm\0",
    b"-summary-file=",
    b"../",
    b"link/hostname",
    b"a\xff",
    b"=\0",
    b"/dev/null",
)
BITCODE = b"BC\xc0\xde" + bytes(8)


def run(content: bytes) -> None:
    with tempfile.TemporaryDirectory() as name:
        # As a path with resolved links names it: that is compared below.
        folder = pathlib.Path(name).resolve()
        for file in ("a.prof", "a.index", "a.o"):
            (folder / file).write_bytes(b"content")
        (folder / "link").symlink_to("/etc")
        found = BuildObject("a.o", str(folder / "a.o"), str(folder))

        def add_file(path: pathlib.Path) -> str:
            assert path.resolve().is_relative_to(folder), f"{path} lies outside of the build"
            return "files/0123456789abcdef-x"

        for distributed in (False, True):
            embedded = Embedded(BITCODE, content)
            read = EmbeddedModules(lambda *_, e=embedded: e, add_file, FileRoots([folder]), None, distributed)
            try:
                module = read("a.o", found)
            except LeftOut:
                continue
            assert module.command is not None, "no command was read"
            assert str(folder) not in " ".join(module.command), "the command names a place of this machine"
            try:
                # Whoever compiles the corpus may allow them; here they only have names.
                assert all(isinstance(option, str) for option in CompileCommand(module.command).refused)
            except CommandError:
                pass


if __name__ == "__main__":
    search.main(search.Target(run, (LeftOut,), lambda: SEEDS, WORDS))
