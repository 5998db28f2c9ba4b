import dataclasses
import errno
import io
import json
import os
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

import archives as packed
import tree

from third_party.debian.testing import archives


def elf(kind):
    return b"\x7fELF" + bytes(12) + bytes([kind, 0]) + bytes(46)


class TreeTest(unittest.TestCase):
    def setUp(self):
        self.scratch = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.root = self.scratch / "tree"
        self.root.mkdir()
        mirror = self.scratch / "m"
        mirror.mkdir()
        # The mirrors of this machine must not be asked.
        for patched in (
            mock.patch.dict(os.environ, {"XDG_CACHE_HOME": str(self.scratch)}),
            mock.patch.object(tree.mirrors, "find_mirrors", lambda environ: [str(mirror)]),
        ):
            patched.start()
            self.addCleanup(patched.stop)

    def put(self, entry, content):
        path = self.scratch / "m" / entry.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        return dataclasses.asdict(entry)

    def request(self, entries, **more):
        return {
            "entries": entries,
            "kind": "packages",
            "include": [],
            "exclude": [],
            "keep_bazel_files": False,
            "rpath": [],
            **more,
        }

    def test_packages_become_one_tree(self):
        contents = [archives.deb_bytes({"./usr/bin/a": b"a"}), archives.deb_bytes({"./usr/lib/b": b"b"})]
        tree.make_tree(
            self.request([self.put(archives.entry(name, content), content) for name, content in zip("ab", contents)]),
            self.root,
        )
        self.assertEqual(archives.tree(self.root / "usr"), {"bin/a": b"a", "lib/b": b"b"})

    def test_packed_archives_share_the_cache_or_are_copies(self):
        content = archives.deb_bytes({"./usr/bin/a": b"a"})
        request = {"entries": [self.put(archives.entry("a", content), content)]}
        packed.place(request, self.root)
        self.assertEqual(((self.root / "a.deb").read_bytes(), (self.root / "a.deb").stat().st_nlink), (content, 2))
        elsewhere = self.scratch / "elsewhere"
        elsewhere.mkdir()
        with mock.patch.object(os, "link", side_effect=OSError(errno.EXDEV, "another file system")):
            packed.place(request, elsewhere)
        self.assertEqual(((elsewhere / "a.deb").read_bytes(), (elsewhere / "a.deb").stat().st_nlink), (content, 1))

    def test_only_programs_and_libraries_are_patched(self):
        for name, content in {"program": elf(2), "lib.so": elf(3), "object.o": elf(1), "text": b"x"}.items():
            (self.root / name).write_bytes(content)
        (self.root / "link").symlink_to("program")
        self.assertEqual([path.name for path in tree.dynamic_elf_files(self.root)], ["lib.so", "program"])

    def test_run_path_is_relative_to_the_file(self):
        self.assertEqual(
            tree.run_path(self.root / "usr/bin/x", self.root, ["usr/lib", "usr/lib/llvm-22/lib"]),
            "$ORIGIN/../lib:$ORIGIN/../lib/llvm-22/lib",
        )

    def test_patchelf_runs_with_its_own_libraries(self):
        script = b"""#!/bin/sh
for last; do :; done
case $1 in
  --version) ;;
  --print-needed) echo libc.so.6 ;;
  *) ls "$LD_LIBRARY_PATH" > "$last"; echo "$@" | cut -d" " -f1-3 >> "$last" ;;
esac
"""
        files = {
            "program": {"./usr/bin/program": elf(2)},
            "patchelf": {"./usr/bin/patchelf": script},
            "libstdc++6": {f"./{tree.LIBRARIES}/libstdc++.so.6": b"x"},
        }
        contents = {name: archives.deb_bytes(content) for name, content in files.items()}
        entries = {name: self.put(archives.entry(name, content), content) for name, content in contents.items()}
        patchelf = [entries["patchelf"], entries["libstdc++6"]]
        tree.make_tree(self.request([entries["program"]], rpath=["usr/lib"], patchelf=patchelf), self.root)
        self.assertEqual(
            archives.tree(self.root / "usr"),
            {"bin/program": b"libstdc++.so.6\n--force-rpath --set-rpath $ORIGIN/../lib\n"},
        )

    def test_a_patchelf_that_cannot_run_is_named(self):
        content = archives.deb_bytes({"./usr/bin/patchelf": b"#!/bin/sh\necho no libc >&2; exit 127\n"})
        patchelf = [self.put(archives.entry("patchelf", content), content)]
        with self.assertRaisesRegex(
            tree.PatchError, r"patchelf cannot run on this machine \(no libc\); .* glibc 2\.36"
        ):
            tree.make_tree(self.request([], rpath=["usr/lib"], patchelf=patchelf), self.root)

    def run_main(self, request):
        errors = io.StringIO()
        here = os.getcwd()
        os.chdir(self.root)
        try:
            with (
                mock.patch.object(sys, "stdin", io.StringIO(json.dumps(request))),
                mock.patch.object(sys, "stderr", errors),
            ):
                return tree.run(tree.make_tree), errors.getvalue()
        finally:
            os.chdir(here)

    def test_an_archive_that_is_gone_is_one_line_and_exit_code_1(self):
        code, errors = self.run_main(self.request([dataclasses.asdict(archives.entry("gone", b"gone"))]))
        self.assertEqual(code, 1)
        self.assertRegex(errors, r"debian: gone 1\.0 .*not in the directory.*debian:lock\n\Z")

    def test_wrong_sha256_is_one_line_and_exit_code_1(self):
        good = archives.deb_bytes({"./usr/bin/a": b"a"})
        request = self.request([self.put(archives.entry("a", good), good[::-1])])
        code, errors = self.run_main(request)
        self.assertEqual(code, 1)
        self.assertRegex(errors, r"debian: a 1\.0 .*sha256 .*, the lock says ")
        self.assertEqual(archives.tree(self.root), {})

    def test_a_cached_archive_that_went_bad_is_one_line_and_fetched_again(self):
        good = archives.deb_bytes({"./usr/bin/a": b"a"})
        request = self.request([self.put(archives.entry("a", good), good)])
        cached = self.scratch / "mlgo" / "archives" / archives.entry("a", good).sha256
        cached.parent.mkdir(parents=True)
        cached.write_bytes(bytes(len(good)))
        code, errors = self.run_main(request)
        self.assertEqual(code, 0)
        self.assertRegex(errors, r"\Adebian: a 1\.0 .*damaged in the archive cache.*downloaded again\. .*\n\Z")
        self.assertEqual(archives.tree(self.root / "usr"), {"bin/a": b"a"})


if __name__ == "__main__":
    unittest.main()
