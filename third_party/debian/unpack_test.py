import errno
import os
import pathlib
import resource
import tempfile
import unittest
import unittest.mock

import unpack

from third_party.debian.testing import archives


class UnpackTest(unittest.TestCase):
    def setUp(self):
        self.scratch = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.dest = self.scratch / "tree"

    def write(self, content, name="a.deb"):
        path = self.scratch / name
        path.write_bytes(content)
        return path

    def test_the_users_umask_does_not_change_who_may_run_a_file(self):
        package = self.write(archives.deb_bytes({"./usr/bin/tool": b"program", "./usr/share/text": b"text"}))
        executable = {}
        for umask in (0o077, 0o022, 0o000):
            before = os.umask(umask)
            try:
                tree = self.scratch / f"{umask:o}"
                unpack.unpack_deb(package, tree)
            finally:
                os.umask(before)
            executable[umask] = [os.access(tree / name, os.X_OK) for name in ("usr/bin/tool", "usr/share/text")]
            self.assertEqual((tree / "usr/share/text").read_bytes(), b"text")
        self.assertEqual(set(map(tuple, executable.values())), {(True, False)})

    def test_files_links_and_modes(self):
        unpack.unpack_deb(
            self.write(
                archives.deb_bytes(
                    {
                        "./usr/bin/tool": b"program",
                        "./usr/share/doc/x/copyright": b"text",
                        "./usr/bin/hard": ("hardlink", "./usr/bin/tool"),
                        "./usr/bin/soft": ("symlink", "tool"),
                    }
                )
            ),
            self.dest,
            exclude=["usr/share/doc/*"],
        )
        self.assertEqual(
            archives.tree(self.dest / "usr"), {"bin/tool": b"program", "bin/hard": b"program", "bin/soft": "-> tool"}
        )
        self.assertEqual((self.dest / "usr/bin/tool").stat().st_mode & 0o777, 0o755)

    def test_every_compression(self):
        for compression in ("xz", "gz", "bz2"):
            with self.subTest(compression):
                dest = self.scratch / compression
                unpack.unpack_deb(self.write(archives.deb_bytes({"./etc/x": b"1"}, compression)), dest)
                self.assertEqual(archives.tree(dest), {"etc/x": b"1"})

    def test_zstd_is_a_program_of_the_machine(self):
        program = self.scratch / "bin" / "zstd"
        program.parent.mkdir()
        program.write_text("#!/bin/sh\nexec cat\n")
        program.chmod(0o755)
        package = archives.deb_bytes({"./etc/x": b"1"}, "").replace(b"data.tar.   ", b"data.tar.zst")
        with unittest.mock.patch.dict(os.environ, {"PATH": f"{program.parent}:{os.environ['PATH']}"}):
            unpack.unpack_deb(self.write(package), self.dest)
        self.assertEqual(archives.tree(self.dest), {"etc/x": b"1"})

    def test_lib_is_merged_into_usr_and_absolute_links_stay_inside(self):
        unpack.unpack_deb(
            self.write(
                archives.deb_bytes(
                    {
                        "./lib/x86_64-linux-gnu/libm.so.6": b"elf",
                        "./usr/lib/x86_64-linux-gnu/libm.so": ("symlink", "/lib/x86_64-linux-gnu/libm.so.6"),
                    }
                )
            ),
            self.dest,
        )
        self.assertEqual((self.dest / "usr/lib/x86_64-linux-gnu/libm.so").read_bytes(), b"elf")
        self.assertEqual((self.dest / "lib/x86_64-linux-gnu/libm.so.6").read_bytes(), b"elf")
        self.assertFalse((self.dest / "usr/lib/x86_64-linux-gnu/libm.so").readlink().is_absolute())

    def test_equal_archives_give_equal_trees(self):
        archive = self.write(archives.deb_bytes({"./usr/bin/tool": b"program"}))
        stamps = []
        for name in ("one", "two"):
            unpack.unpack_deb(archive, self.scratch / name)
            stamps.append((self.scratch / name / "usr/bin/tool").stat().st_mtime)
        self.assertEqual(stamps[0], stamps[1])

    def test_a_truncated_package_is_named(self):
        whole = archives.deb_bytes({"./usr/bin/tool": bytes(range(256)) * 400})
        with self.assertRaisesRegex(unpack.UnpackError, r"a\.deb: .*fetch it again"):
            unpack.unpack_deb(self.write(whole[: len(whole) - 150]), self.dest)
        with self.assertRaisesRegex(unpack.UnpackError, "ar signature missing"):
            unpack.unpack_deb(self.write(b"<html>"), self.dest)

    def test_a_member_that_climbs_out_is_refused(self):
        for name in ("../evil", "/etc/evil", "./usr/../../evil"):
            with self.subTest(name), self.assertRaisesRegex(unpack.UnpackError, "outside the archive's tree"):
                unpack.unpack_deb(self.write(archives.deb_bytes({name: b"x"})), self.dest)
        self.assertFalse((self.scratch / "evil").exists())

    def test_a_hard_link_to_the_root_is_refused(self):
        package = self.write(archives.deb_bytes({"./usr/x": ("hardlink", "./")}))
        with self.assertRaisesRegex(unpack.UnpackError, r"a\.deb: member './usr/x' is a hard link to the root; do not"):
            unpack.unpack_deb(package, self.dest)

    def test_a_member_below_a_link_that_leads_out_is_refused(self):
        for member in (b"x", ("hardlink", "./usr/out/secret")):
            files = {"./usr/out": ("symlink", "../.."), "./usr/out/evil" if member == b"x" else "./usr/copy": member}
            (self.scratch / "secret").write_bytes(b"secret")
            with self.subTest(member), self.assertRaisesRegex(unpack.UnpackError, "leads out of the tree"):
                unpack.unpack_deb(self.write(archives.deb_bytes(files)), self.dest)
            self.assertFalse((self.scratch / "evil").exists())
            self.assertFalse((self.dest / "usr/copy").exists())

    def test_source_takes_what_is_included_and_drops_bazel_files(self):
        archive = self.write(
            archives.tar_bytes(
                {
                    "llvm-22/llvm/lib/A.cpp": b"a",
                    "llvm-22/llvm/lib/BUILD": b"rule()",
                    "llvm-22/clang/B.cpp": b"b",
                    "llvm-22/README": b"r",
                }
            ),
            "s.tar.xz",
        )
        unpack.unpack_source(archive, self.dest, include=["llvm/lib/", "READ*"])
        self.assertEqual(archives.tree(self.dest), {"llvm/lib/A.cpp": b"a", "README": b"r"})
        unpack.unpack_source(archive, self.scratch / "kept", keep_bazel_files=True)
        self.assertEqual((self.scratch / "kept/llvm/lib/BUILD").read_bytes(), b"rule()")

    def test_an_include_that_matches_nothing_is_an_error(self):
        archive = self.write(archives.tar_bytes({"top/a": b"a"}), "s.tar.xz")
        with self.assertRaisesRegex(unpack.UnpackError, "nothing in it matches missing/"):
            unpack.unpack_source(archive, self.dest, include=["a", "missing/"])

    def test_a_truncated_source_is_named(self):
        archive = self.write(archives.tar_bytes({"top/a": bytes(range(256)) * 4000})[:-64], "s.tar.xz")
        with self.assertRaisesRegex(unpack.UnpackError, r"s\.tar\.xz: damaged"):
            unpack.unpack_source(archive, self.dest)

    def test_a_disk_that_takes_no_more_is_not_called_damage(self):
        files = {"top/usr/bin/tool": os.urandom(100_000)}
        source = self.write(archives.tar_bytes(files), "s.tar.xz")
        package = self.write(archives.deb_bytes(files))
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        for unpack_it, archive in ((unpack.unpack_source, source), (unpack.unpack_deb, package)):
            with self.subTest(archive.name):
                resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, hard))
                try:
                    with self.assertRaises(OSError) as caught:
                        unpack_it(archive, self.dest)
                finally:
                    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
                self.assertEqual(caught.exception.errno, errno.EFBIG)

    def test_damage_in_every_compression_is_an_unpack_error(self):
        for compression, magic in (("xz", b"\xfd7zXZ"), ("gz", b"\x1f\x8b\x08"), ("bz2", b"BZh9")):
            files = {"top/a": os.urandom(100_000)}
            for unpack_it, whole in (
                (unpack.unpack_source, archives.tar_bytes(files, compression)),
                (unpack.unpack_deb, archives.deb_bytes(files, compression)),
            ):
                start = whole.index(magic, whole.find(b"data.tar") + 1) + len(magic)
                damaged = whole[:start] + bytes(100) + whole[start + 100 :]
                with self.subTest(compression, unpack=unpack_it.__name__):
                    with self.assertRaisesRegex(unpack.UnpackError, r"a\.deb: .*damaged"):
                        unpack_it(self.write(damaged), self.dest)


if __name__ == "__main__":
    unittest.main()
