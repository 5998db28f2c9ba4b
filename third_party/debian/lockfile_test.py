import dataclasses
import pathlib
import tempfile
import unittest
from unittest import mock

import lock
import lockfile
from hypothesis import given, strategies

# Plain alphabets: a regular expression makes hypothesis build a table of all of Unicode first, 10 s in a sandbox.
NAMES = strategies.text(strategies.sampled_from("abcz019+.-"), min_size=1, max_size=12)
DIGESTS = strategies.text(strategies.sampled_from("0123456789abcdef"), min_size=64, max_size=64)
ENTRIES = strategies.builds(
    lockfile.Entry,
    name=NAMES,
    version=NAMES,
    sha256=DIGESTS,
    size=strategies.integers(1, 10**10),
    suite=NAMES,
    path=strategies.builds("pool/main/{}{}.deb".format, NAMES, strategies.sampled_from(("", "_amd64", "_all"))),
)


def tables(entries):
    return {entry.name: entry for entry in entries}


def in_form(lock_):
    """Groups as a file holds them: sorted, each name once."""
    return dataclasses.replace(
        lock_, groups={name: sorted(tables(found).values()) for name, found in lock_.groups.items()}
    )


PACKAGES = strategies.dictionaries(NAMES, strategies.lists(ENTRIES).map(tables), max_size=3)
LOCKS = strategies.builds(
    lockfile.Lock,
    packages=PACKAGES,
    sources=strategies.lists(ENTRIES, max_size=4).map(tables),
    groups=strategies.dictionaries(NAMES, strategies.lists(ENTRIES, max_size=4), max_size=3),
).map(in_form)


class LockFileTest(unittest.TestCase):
    @given(LOCKS)
    def test_what_is_written_is_read_back(self, written):
        self.assertEqual(lockfile.parse(written.to_json()), written)
        self.assertEqual(lock.changes(written, lockfile.parse(written.to_json())), [])

    @given(strategies.text(strategies.sampled_from('{}[]":,version2 \n\\u')))
    def test_any_text_is_a_lock_or_a_lock_error(self, text):
        try:
            lockfile.parse(text)
        except lockfile.LockError as error:
            self.assertIn("lock.json", str(error))

    def test_the_lock_of_this_project_serves_its_requests(self):
        here = pathlib.Path(__file__).parent
        locked, request = lockfile.load(here / "lock.json"), lockfile.load_request(here / "packages.json")
        for family, names in request.packages.items():
            for name in names:
                self.assertEqual(locked.package(family, name).name, name)
        for name in request.sources:
            self.assertGreater(locked.source(name).size, 0)
        for name, group in request.groups.items():
            self.assertLessEqual(set(group.packages), {entry.name for entry in locked.group(name)})

    def test_only_missing_keeps_pinned_versions_in_a_new_group(self):
        def entry(name, version):
            return lockfile.Entry(name, version, "0" * 64, 1, "s", f"pool/{name}.deb")

        request = lockfile.Request(
            suites={"s": ("s",)},
            packages={"s": ()},
            sources={},
            groups={"g": lockfile.Group("s", ("a",), closure=True)},
        )
        old = lockfile.Lock(packages={"s": {"a": entry("a", "1")}}, sources={}, groups={})
        newest = [entry("a", "2"), entry("b", "2")]
        index = mock.Mock()
        index.group.return_value = newest
        for only_missing, versions in ((True, ["1", "2"]), (False, ["2", "2"])):
            made = lock.resolve_request(request, old, only_missing, lambda family: index)
            self.assertEqual([found.version for found in made.groups["g"]], versions)

    def test_a_missing_name_says_what_there_is_and_what_to_do(self):
        with self.assertRaisesRegex(lockfile.LockError, r"no package zlib \(bookworm\); known: none.*debian:lock"):
            lockfile.Lock({}, {}, {}).package("bookworm", "zlib")

    def test_bad_entries(self):
        good = {"name": "x", "version": "1", "sha256": "0" * 64, "size": 1, "suite": "s", "path": "pool/x.deb"}
        for field, value, message in (
            ("sha256", "abc", "is not a sha256"),
            ("size", 0, "size 0"),
            ("path", "../x", "leaves the mirror"),
        ):
            with self.subTest(field), self.assertRaisesRegex(lockfile.LockError, message):
                lockfile.Entry(**{**good, field: value})

    def test_changes_name_additions_removals_and_new_versions(self):
        def one(name, version):
            return lockfile.Entry(name, version, "0" * 64, 1, "s", f"pool/{name}_{version}.deb")

        old = lockfile.Lock({"bookworm": {"a": one("a", "1"), "b": one("b", "1")}}, {}, {})
        new = lockfile.Lock({"bookworm": {"b": one("b", "2"), "c": one("c", "1")}}, {}, {})
        self.assertEqual(lock.changes(old, new), ["- bookworm/a 1", "~ bookworm/b 1 -> 2", "+ bookworm/c 1"])

    def test_a_suite_that_is_not_defined(self):
        with tempfile.TemporaryDirectory() as scratch:
            path = pathlib.Path(scratch) / "packages.json"
            path.write_text('{"suites": {"forky": ["forky"]}, "packages": {"bookworm": ["a"]}}', encoding="utf-8")
            with self.assertRaisesRegex(lockfile.LockError, "suite 'bookworm' is used but not defined; defined: forky"):
                lockfile.load_request(path)


if __name__ == "__main__":
    unittest.main()
