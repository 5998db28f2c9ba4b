"""Corpora in archives: zip, tar, and tar compressed with gzip or zstd."""

import gzip
import io
import tarfile
import zipfile

import zstandard

from mlgo.corpus.archive.archive import open_archive
from mlgo.corpus.description import CorpusError, is_safe_name
from tests.fuzzing import search
from tests.fuzzing.in_memory import path_of

FILES = {"corpus_description.json": b'{"modules": ["a"]}', "a.bc": b"BC\xc0\xde", "a.cmd": b"-cc1\0"}


def tar_of(form: int) -> bytes:
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w", format=form) as archive:
        for name, content in FILES.items():
            information = tarfile.TarInfo(f"corpus/{name}")
            information.size = len(content)
            archive.addfile(information, io.BytesIO(content))
        link = tarfile.TarInfo("corpus/b.bc")
        link.type, link.linkname = tarfile.LNKTYPE, "corpus/a.bc"
        archive.addfile(link)
        long_name = tarfile.TarInfo("corpus/" + "long/" * 30 + "c.bc")
        archive.addfile(long_name)
    return written.getvalue()


def zip_of(method: int) -> bytes:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", method) as archive:
        for name, content in FILES.items():
            archive.writestr(zipfile.ZipInfo(name), content, method)
    return written.getvalue()


def seeds() -> list[bytes]:
    tars = [tar_of(form) for form in (tarfile.PAX_FORMAT, tarfile.GNU_FORMAT, tarfile.USTAR_FORMAT)]
    zips = [zip_of(method) for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)]
    return [*tars, *zips, gzip.compress(tars[0], mtime=0), zstandard.compress(tars[0])]


def run(content: bytes) -> None:
    with path_of(content) as path:
        storage = open_archive(path)
        for name in (*FILES, "b.bc"):
            if any(storage.missing([name])):
                continue
            assert len(storage.read(name)) == storage.size(name)
        assert all(is_safe_name(f"files/{name}") for name in storage.names_in("files"))


if __name__ == "__main__":
    words = [
        b"ustar",
        b"PK\3\4",
        b"PK\1\2",
        b"PK\5\6",
        b"PK\6\6",
        b"../x",
        b"21 size=99\n",
        b"20 path=/x\n",
        b"L",
        b"K",
        b"S",
    ]
    search.main(search.Target(run, (CorpusError,), seeds, words, examples=600, max_steps=2_000_000))
