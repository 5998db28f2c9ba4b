"""Debian packages and source tarballs: unpacked below their folder, or refused."""

import pathlib
import tempfile

import unpack

from tests.fuzzing import search
from third_party.debian.testing import archives

FILES: dict[str, archives.Value] = {
    "./usr/bin/tool": b"program",
    "./lib/x.so": b"elf",
    "./usr/bin/hard": ("hardlink", "./usr/bin/tool"),
    "./usr/bin/soft": ("symlink", "/lib/x.so"),
    "./usr/" + "long/" * 30 + "x": b"",
}


def seeds() -> list[bytes]:
    # Not compressed, so that mutations reach what is inside.
    plain = archives.deb_bytes(FILES, "")
    return [plain.replace(b"data.tar. ", b"data.tar  "), archives.deb_bytes(FILES, "xz"), archives.tar_bytes(FILES, "")]


def run(content: bytes) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "archive").write_bytes(content)
        outside = {path: path.stat().st_mtime_ns for path in folder.iterdir()}
        try:
            if content.startswith(b"!<arch>\n"):
                unpack.unpack_deb(folder / "archive", folder / "tree" / "inner")
            else:
                unpack.unpack_source(folder / "archive", folder / "tree" / "inner")
        finally:
            assert [path.name for path in (folder / "tree").glob("*")] in ([], ["inner"]), "a file lies outside"
            left = {path: path.stat().st_mtime_ns for path in folder.iterdir() if path.name != "tree"}
            assert left == outside, "a file lies outside, or was changed"


if __name__ == "__main__":
    words = [
        b"ustar",
        b"../x",
        b"../../x",
        b"/x",
        b"data.tar",
        b"`\n",
        b"usr/bin/soft",
        b"21 size=99\n",
        b"30 linkpath=../..\n",
    ]
    search.main(search.Target(run, (unpack.UnpackError,), seeds, words, examples=400, max_steps=5_000_000))
