"""The count of modules in bitcode, which is not behind the checks of an object file."""

from mlgo.corpus import bitcode
from tests.fuzzing import search

WORDS = [bitcode.MAGIC, bitcode.WRAPPER_MAGIC, bytes(4), b"\x35\x14\0\0", b"\1\0\0\0", b"\x21\x0c\0\0"]


def run(content: bytes) -> None:
    assert 0 <= bitcode.module_count(content) <= len(content) // 8


if __name__ == "__main__":
    search.main(search.Target(run, (), words=WORDS))
