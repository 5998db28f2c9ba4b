import contextlib
import io
import os
import pathlib
import re
import tempfile
import unittest
import unittest.mock

import fetch
import lockfile
import mirror

from third_party.debian.testing import archives


class MirrorTest(unittest.TestCase):
    def setUp(self):
        self.scratch = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.served, self.kept = self.scratch / "served", self.scratch / "kept"
        self.contents = {name: os.urandom(1000) for name in ("foo", "bar")}
        self.entries = [archives.entry(name, content) for name, content in self.contents.items()]
        for entry in self.entries:
            self._place(self.served, entry, self.contents[entry.name])

    def _place(self, base, entry, content):
        path = base / entry.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        return path

    def _environ(self, served=None):
        # A mirror that is no directory of ours must not be asked.
        return {
            "XDG_CACHE_HOME": str(self.scratch / "cache"),
            "MLGO_DEBIAN_MIRRORS": str(served or self.served),
            "PATH": "/nowhere",
        }

    def test_what_is_kept_serves_a_build_without_the_first_mirror(self):
        self.assertEqual(mirror.mirror(self.entries, self.kept, self._environ()), 2)
        paths = fetch.fetch(self.entries, self.scratch / "other cache", [str(self.kept)])
        self.assertEqual([paths[entry].read_bytes() for entry in self.entries], list(self.contents.values()))

    def test_what_is_in_place_is_verified_and_only_damage_is_copied_again(self):
        mirror.mirror(self.entries, self.kept, self._environ())
        self.assertEqual(mirror.mirror(self.entries, self.kept, self._environ()), 0)
        damaged = self._place(self.kept, self.entries[0], b"x" * 1000)
        self.assertEqual(mirror.mirror(self.entries, self.kept, self._environ()), 1)
        self.assertEqual(damaged.read_bytes(), self.contents["foo"])

    def test_an_archive_that_is_nowhere_does_not_keep_the_others_away(self):
        (self.served / self.entries[0].path).unlink()
        with unittest.mock.patch.object(mirror.fetch.mirrors_lib, "find_mirrors", lambda environ: [str(self.served)]):
            with self.assertRaisesRegex(fetch.FetchError, "foo 1.0"):
                mirror.mirror(self.entries, self.kept, self._environ())
        self.assertFalse((self.kept / self.entries[0].path).exists())
        self.assertEqual((self.kept / self.entries[1].path).read_bytes(), self.contents["bar"])

    def test_the_command_says_what_is_there(self):
        said = io.StringIO()
        with (
            unittest.mock.patch.dict(os.environ, self._environ() | {"BUILD_WORKING_DIRECTORY": str(self.scratch)}),
            contextlib.redirect_stderr(said),
        ):
            self.assertEqual(mirror.run(self.entries, ["kept"]), 0)
        self.assertIn(f"mirror: 2 archives copied, 2 in place, 0 MB -> {self.kept}", said.getvalue())

    def test_the_command_keeps_all_archives_of_the_lock(self):
        kept: list[lockfile.Entry] = []

        def keep(entries, *_):
            kept.extend(entries)
            return 0

        with unittest.mock.patch.object(mirror, "mirror", keep), contextlib.redirect_stderr(io.StringIO()):
            self.assertEqual(mirror.main([str(self.kept)]), 0)
        endings = re.compile(r"(_amd64|_all)\.deb|\.orig\.tar\.\w+")
        self.assertEqual([entry.path for entry in kept if not endings.search(entry.path)], [])
        self.assertEqual(kept, lockfile.load(pathlib.Path(mirror.__file__).with_name("lock.json")).all_entries())

    def test_a_folder_that_cannot_be_made_is_one_sentence(self):
        (self.scratch / "kept").write_text("a file")
        with self.assertRaisesRegex(fetch.DiskError, "cannot be written"):
            mirror.mirror(self.entries, self.kept, self._environ())


if __name__ == "__main__":
    unittest.main()
