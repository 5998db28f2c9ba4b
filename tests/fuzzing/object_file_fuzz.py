"""Embedded bitcode and commands in ELF objects, and the count of modules in the bitcode."""

from mlgo.corpus import bitcode
from mlgo.corpus.extraction import object_file
from mlgo.corpus.extraction.archive import Span
from mlgo.corpus.extraction.outcome import LeftOut
from tests.fuzzing import search
from tests.fuzzing.in_memory import file_of

WORDS = [b".llvmbc\0", b".llvmcmd", b"BC\xc0\xde", b"\x21\x0c\0\0"]


def run(content: bytes) -> None:
    with file_of(content) as descriptor:
        found = object_file.embedded(Span(descriptor, 0, len(content)))
    assert found.command is None or len(found.command) <= len(content)
    assert bitcode.module_count(found.bitcode or b"") >= 0
    assert bitcode.module_count(content) >= 0


if __name__ == "__main__":
    search.main(search.Target(run, (LeftOut,), words=WORDS))
