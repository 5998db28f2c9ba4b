"""Members of ar archives: GNU, BSD and thin."""

from mlgo.corpus.extraction import archive
from mlgo.corpus.extraction.outcome import LeftOut
from tests.fuzzing import search
from tests.fuzzing.in_memory import file_of


def member(name: bytes, content: bytes) -> bytes:
    return (
        name.ljust(16)
        + b"0".ljust(32)
        + str(len(content)).encode().ljust(10)
        + b"`\n"
        + content
        + b"\n" * (len(content) % 2)
    )


def seeds() -> list[bytes]:
    gnu = member(b"//", b"a name that is long.o/\n") + member(b"/0", b"one") + member(b"b.o/", b"")
    bsd = member(b"__.SYMDEF", b"table") + member(b"#1/12", b"a long n.o\0\0content")
    return [
        archive.MAGIC + gnu,
        archive.MAGIC + bsd,
        archive.THIN_MAGIC + member(b"//", b"a.o/\n") + member(b"/0", b""),
    ]


def run(content: bytes) -> None:
    with file_of(content) as descriptor:
        span = archive.Span(descriptor, 0, len(content))
        for found in archive.members(span):
            assert "\0" not in found.name
            span.part(found.start, found.size)


if __name__ == "__main__":
    search.main(search.Target(run, (LeftOut,), seeds, words=[b"!<arch>\n", b"!<thin>\n", b"`\n", b"#1/", b"//", b"/0"]))
