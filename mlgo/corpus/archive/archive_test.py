"""Corpora in archives equal the directory; hostile and broken archives are refused with a message."""

import gzip
import io
import json
import multiprocessing
import pathlib
import pickle
import random
import tarfile
import tempfile
import threading
import unittest
import warnings
import zipfile

import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mlgo.corpus.archive import archive
from mlgo.corpus.archive.archive import open_archive
from mlgo.corpus.corpus import Corpus
from mlgo.corpus.description import CorpusError

DESCRIPTION = json.dumps({"modules": ["b/two.c", "a/one.c"], "has_thinlto": False}).encode()
FILES = {
    "corpus_description.json": DESCRIPTION,
    "a/one.c.bc": b"BC1" * 1000,
    "a/one.c.cmd": b"-cc1\0-O2\0",
    "b/two.c.bc": b"BC2",
    "b/two.c.cmd": b"-cc1\0\xff\0",
    "files/0123456789abcdef-a.profdata": b"profile",
}
TAR_FORMATS = (tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT)


def tar_of(files: dict[str, bytes], form: int = tarfile.GNU_FORMAT, more=()) -> bytes:
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w", format=form, errors="surrogateescape") as packed:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            packed.addfile(info, io.BytesIO(data))
        for info in more:
            packed.addfile(info)
    return content.getvalue()


def zip_of(files: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", method) as packed, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, data in files.items():
            packed.writestr(name, data)
    return content.getvalue()


def member(name: str, kind: bytes, target: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info


class ArchiveCase(unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def packed(self, content: bytes) -> pathlib.Path:
        path = self.root / "packed"
        path.unlink(missing_ok=True)
        path.write_bytes(content)
        return path

    def directory(self) -> pathlib.Path:
        for name, content in FILES.items():
            path = self.root / "directory" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        return self.root / "directory"

    def refused(self, content: bytes, expected: str) -> None:
        with self.assertRaisesRegex(CorpusError, expected) as caught:
            Corpus.load(self.packed(content))
        self.assertNotIn("\n", str(caught.exception))
        self.assertIn(str(self.root), str(caught.exception))


class ReadingTest(ArchiveCase):
    def test_as_the_directory(self):
        tar = tar_of(FILES)
        below = {f"my corpus/{name}": content for name, content in FILES.items()}
        dotted = {f"./{name}": content for name, content in FILES.items()}
        cut = len(tar) // 2
        expected = Corpus.load(self.directory())
        scratch = self.root / "scratch"
        scratch.mkdir()
        for what, content in {
            "tar": tar,
            "tar of a folder": tar_of(below),
            "tar of .": tar_of(dotted),
            "ustar": tar_of(FILES, tarfile.USTAR_FORMAT),
            "pax": tar_of(FILES, tarfile.PAX_FORMAT),
            "tar.gz": gzip.compress(tar),
            "tar.gz of two streams and padding": gzip.compress(tar[:cut]) + gzip.compress(tar[cut:]) + bytes(100),
            "tar.zst": zstandard.ZstdCompressor().compress(tar),
            "tar.zst of two frames": zstandard.compress(tar[:cut]) + zstandard.compress(tar[cut:]),
            "zip": zip_of(FILES),
            "stored zip": zip_of(FILES, zipfile.ZIP_STORED),
            "zip of a folder": zip_of({"my corpus/": b"", **below}),
        }.items():
            with self.subTest(what):
                corpus = Corpus.load(self.packed(content))
                self.assertEqual(corpus.digest, expected.digest)
                self.assertEqual(corpus.carried_files, expected.carried_files)
                for module, other in reversed(list(zip(corpus.modules, expected.modules, strict=True))):
                    self.assertEqual((module.name, module.command), (other.name, other.command))
                    self.assertEqual(module.read_bitcode(), other.read_bitcode())
                    self.assertEqual(module.bitcode_size, other.bitcode_size)
                    self.assertEqual(module.bitcode_file(scratch).read_bytes(), other.read_bitcode())
                    self.assertEqual(module.bitcode_file(scratch).suffix, ".bc")
                carried = corpus.file(corpus.carried_files[0], scratch)
                self.assertEqual((carried.parent, carried.read_bytes()), (scratch, b"profile"))

    def test_hard_links(self):
        # tar packs a corpus in which equal bitcode lies on the disk once.
        files = {name: content for name, content in FILES.items() if name != "b/two.c.bc"}
        corpus = Corpus.load(self.packed(tar_of(files, more=[member("b/two.c.bc", tarfile.LNKTYPE, "a/one.c.bc")])))
        self.assertEqual(corpus.modules[1].read_bitcode(), FILES["a/one.c.bc"])
        self.refused(
            tar_of(files, more=[member("b/two.c.bc", tarfile.LNKTYPE, "/etc/passwd")]), "is a link to '/etc/passwd'"
        )

    def test_names_of_any_kind(self):
        name = "é\udcff " + "long" * 70
        files = {
            "corpus_description.json": json.dumps({"modules": [name]}).encode(),
            f"{name}.bc": b"BC",
            f"{name}.cmd": b"-cc1\0",
        }
        for form in (tarfile.GNU_FORMAT, tarfile.PAX_FORMAT):
            (module,) = Corpus.load(self.packed(tar_of(files, form))).modules
            self.assertEqual((module.name, module.read_bitcode()), (name, b"BC"))

    def test_a_large_gzip_is_read_at_any_place(self):
        noise = random.Random(7)
        # Over several kept states of the decompressor.
        files = {f"m{index:02}.bc": noise.randbytes(700_000) for index in range(24)}
        files |= {f"m{index:02}.cmd": b"-cc1\0" for index in range(24)}
        files["corpus_description.json"] = json.dumps({"modules": [f"m{index:02}" for index in range(24)]}).encode()
        corpus = Corpus.load(self.packed(gzip.compress(tar_of(files), 1)))
        order = list(corpus.modules) * 2
        noise.shuffle(order)
        wrong: list[str] = []

        def read(modules):
            wrong.extend(module.name for module in modules if module.read_bitcode() != files[f"{module.name}.bc"])

        threads = [threading.Thread(target=read, args=(order[index::4],)) for index in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_modules_go_to_other_processes(self):
        for content in (tar_of(FILES), zip_of(FILES), gzip.compress(tar_of(FILES))):
            corpus = Corpus.load(self.packed(content))
            for method in ("fork", "spawn"):
                with multiprocessing.get_context(method).Pool(2) as pool:
                    read = pool.map(_read, corpus.modules)
                self.assertEqual(read, [FILES["a/one.c.bc"], FILES["b/two.c.bc"]])

    def test_an_exchanged_file_is_noticed(self):
        sent = pickle.dumps(Corpus.load(self.packed(tar_of(FILES))).modules[0])
        self.assertEqual(pickle.loads(sent).read_bitcode(), FILES["a/one.c.bc"])
        archive._opened_elsewhere.cache_clear()
        self.packed(zip_of(FILES))
        with self.assertRaisesRegex(CorpusError, "was changed while it was being read"):
            pickle.loads(sent)


def _read(module):
    return module.read_bitcode()


class RefusalTest(ArchiveCase):
    def test_no_archive(self):
        self.refused(b"hello" * 100, "is no corpus directory and no .zip, .tar, .tar.gz or .tar.zst archive")
        self.refused(b"", "is no corpus directory and no .zip")
        with self.assertRaisesRegex(CorpusError, "does not exist"):
            Corpus.load(self.root / "absent")

    def test_names_that_lead_out(self):
        for name in ("../x.bc", "/x.bc", "a/../../x.bc", "a//b", "corpus/.."):
            with self.subTest(name):
                self.refused(
                    tar_of({**FILES, name: b"x"}), "packed: member '.*has a name that leads out of the archive"
                )
                self.refused(
                    zip_of({**FILES, name: b"x"}), "packed: member '.*has a name that leads out of the archive"
                )

    def test_members_that_are_no_files(self):
        for kind, expected in (
            (tarfile.SYMTYPE, "'x' is a symbolic link|'x': is a symbolic link"),
            (tarfile.CHRTYPE, "is a device"),
            (tarfile.FIFOTYPE, "is a pipe"),
            (tarfile.GNUTYPE_SPARSE, "is a sparse file"),
            (b"Z", "is of the unknown kind b'Z'"),
        ):
            self.refused(tar_of(FILES, more=[member("x", kind, "a/one.c.bc")]), expected)
        link = zipfile.ZipInfo("x")
        link.external_attr = 0o120777 << 16
        content = io.BytesIO(zip_of(FILES))
        with zipfile.ZipFile(content, "a") as packed:
            packed.writestr(link, "/etc/passwd")
        self.refused(content.getvalue(), "member 'x': is a link or a device")

    def test_duplicates(self):
        self.refused(tar_of(FILES, more=[member("./b/two.c.cmd", tarfile.REGTYPE)]), "'./b/two.c.cmd': comes twice")
        content = io.BytesIO(zip_of(FILES))
        with zipfile.ZipFile(content, "a") as packed, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            packed.writestr("b/two.c.bc", "other")
        self.refused(content.getvalue(), "'b/two.c.bc': comes twice")

    def test_bombs(self):
        large = {"corpus_description.json": DESCRIPTION, "x": bytes(80 << 20)}
        tar = tar_of(large)
        self.refused(gzip.compress(tar), "holds more than .* bytes, 100 times its own size")
        self.refused(zstandard.compress(tar), "holds more than .* bytes, 100 times its own size")
        self.refused(zip_of(large), "says that it holds .* more than 100 times its own size")

    def test_a_zip_whose_members_overlap(self):
        content = bytearray(zip_of({"a": b"x" * 50, "b": b"x" * 50}, zipfile.ZIP_STORED))
        second = content.rindex(b"PK\1\2")
        content[second + 42 : second + 46] = (0).to_bytes(4, "little")
        self.refused(bytes(content), "overlaps another one")

    def test_a_zip_member_without_a_name(self):
        content = zip_of({"named": b"a"}, zipfile.ZIP_STORED).replace(b"named", b"\0amed")
        self.refused(content, "has a NUL in its name")

    def test_a_zip_that_lies_about_its_content(self):
        content = bytearray(zip_of(FILES, zipfile.ZIP_STORED))
        content[content.index(b"BC1")] ^= 1
        corpus = Corpus.load(self.packed(bytes(content)))
        with self.assertRaisesRegex(CorpusError, "packed: a/one.c.bc: is damaged: Bad CRC-32"):
            corpus.modules[0].read_bitcode()

    def test_truncated(self):
        tar = tar_of(FILES)
        for content in (tar, gzip.compress(tar), zstandard.compress(tar), zip_of(FILES)):
            # The last blocks of a tar only pad it.
            last = tar.rindex(b"profile") + 512 if content is tar else len(content) - 9
            for end in range(3, last, 97 if len(content) < 4000 else 499):
                with self.subTest(len(content), end=end):
                    self.refused(content[:end], "is truncated|is damaged|is no whole zip|is no corpus directory and no")

    def test_a_damaged_header(self):
        tar = bytearray(tar_of(FILES))
        tar[512 * 2] ^= 1
        self.refused(bytes(tar), "is damaged: at byte 1024 there is no header of a member")


NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\0/"), min_size=1, max_size=150).filter(
    lambda name: name not in (".", "..")
)
CONTENTS = st.dictionaries(NAMES, st.binary(max_size=2000), min_size=1, max_size=8)


class PropertyTest(ArchiveCase):
    @settings(deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=40)
    @given(CONTENTS, st.sampled_from((tarfile.GNU_FORMAT, tarfile.PAX_FORMAT)))
    def test_what_tarfile_packs_is_found(self, files, form):
        self.check(files, tar_of(files, form))

    @settings(deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=40)
    @given(CONTENTS)
    def test_what_zipfile_packs_is_found(self, files):
        self.check(files, zip_of(files))

    def check(self, files, content):
        storage = open_archive(self.packed(content))
        self.assertEqual(list(storage.missing(files)), [])
        for name, data in files.items():
            self.assertEqual((storage.size(name), storage.read(name)), (len(data), data))

    @settings(deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=120)
    @given(
        st.sampled_from(("tar", "zip", "pax", "gz")),
        st.lists(st.tuples(st.integers(0, 1 << 16), st.binary(min_size=1, max_size=8))),
    )
    def test_damage_gives_a_corpus_error_or_none(self, form, damage):
        tar = tar_of(FILES, tarfile.PAX_FORMAT if form == "pax" else tarfile.GNU_FORMAT)
        content = bytearray({"zip": zip_of(FILES), "gz": gzip.compress(tar, mtime=0)}.get(form, tar))
        for place, data in damage:
            place %= len(content)
            content[place : place + len(data)] = data
        try:
            corpus = Corpus.load(self.packed(bytes(content)))
            for module in corpus.modules:
                module.read_bitcode()
                self.assertIsNotNone(module.command)
        except CorpusError:
            pass


class SparseArchiveTest(unittest.TestCase):
    def test_a_member_of_200_gigabytes_of_holes_is_not_read(self):
        """A tar archive that takes 10 KB on the disk."""
        huge = 200 * 1024**3
        info = tarfile.TarInfo("a.bc")
        info.size = huge
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "corpus.tar")
            with open(path, "wb") as file:
                file.write(info.tobuf(tarfile.GNU_FORMAT))
                file.truncate(tarfile.BLOCKSIZE + huge + 2 * tarfile.BLOCKSIZE)
            with self.assertRaisesRegex(CorpusError, "a.bc: has 214748364800 bytes, more than the 4294967296 allowed"):
                open_archive(path).read("a.bc")


if __name__ == "__main__":
    unittest.main()
