import contextlib
import dataclasses
import io
import pathlib
import unittest

import architectures
import counterparts
import lock
import lockfile

HERE = pathlib.Path(__file__).parent


def entry(name, version="1", architecture="amd64"):
    path = f"pool/main/{name}_{version}_{architecture}.deb"
    return lockfile.Entry(name, version, "0" * 64, 1 + len(path), "bookworm", path)


def arm64(name, version="1"):
    return entry(name, version, "arm64")


class Index:
    """What apt has for arm64; a group is what it asks for and, for a closure, `needs` too."""

    def __init__(self, *entries, needs=()):
        self.entries, self.needs, self.asked = entries, needs, []

    def versions(self, names):
        found = {}
        for made in self.entries:
            if made.name in names:
                found.setdefault(made.name, []).append(made)
        return found

    def group(self, asked):
        self.asked.append(asked)
        names = [*asked.packages, *(self.needs if asked.closure else ())]
        return sorted(self.versions([name])[name][0] for name in names)


class ResolvedTest(unittest.TestCase):
    def resolved(self, new, index, groups=None, old=None, only_missing=False):
        request = lockfile.Request({}, {}, {}, groups or {})
        return counterparts.resolved(
            new, old or lockfile.Lock({}, {}, {}), request, architectures.ARM64, only_missing, lambda family: index
        )

    def packages(self, new, index, **arguments):
        made = lockfile.Lock({"bookworm": {found.name: found for found in new}}, {}, {})
        return self.resolved(made, index, **arguments).packages["bookworm"]

    def test_amd64s_version_is_taken_where_there_is_one_else_the_newest(self):
        index = Index(arm64("a", "2"), arm64("a", "1"), arm64("b", "1+b1"))
        found = self.packages([entry("a"), entry("b"), entry("c"), entry("docs", architecture="all")], index)
        self.assertEqual(
            found, {"a": arm64("a", "1"), "b": arm64("b", "1+b1"), "c": None, "docs": entry("docs", architecture="all")}
        )

    def test_only_missing_keeps_the_counterparts_of_packages_that_stay(self):
        before = {"a": arm64("a"), "b": arm64("b"), "c": None}
        old = lockfile.Lock(
            {"bookworm": {name: entry(name) for name in "abc"}},
            {},
            {},
            {"arm64": lockfile.Counterparts({"bookworm": before}, {})},
        )
        index = Index(arm64("a", "2"), arm64("b", "2"), arm64("c"))
        # b has moved for amd64, c has appeared.
        found = self.packages([entry("a"), entry("b", "2"), entry("c")], index, old=old, only_missing=True)
        self.assertEqual(found, {"a": arm64("a"), "b": arm64("b", "2"), "c": arm64("c")})

    def group(self, asked, amd64, index):
        new = lockfile.Lock({}, {}, {"g": sorted(amd64)})
        return self.resolved(new, index, {"g": asked}).groups["g"]

    def test_a_closure_is_that_of_the_architecture_in_amd64s_versions(self):
        index = Index(arm64("a", "2"), arm64("a", "1"), arm64("own"), needs=["own"])
        asked = lockfile.Group("bookworm", ("a",), closure=True, without=("there", "own", "absent"))
        self.assertEqual(
            self.group(asked, [entry("a"), entry("amd64-only")], index), {"a": arm64("a", "1"), "own": arm64("own")}
        )
        # apt fails for names that its index lacks.
        self.assertEqual(index.asked, [dataclasses.replace(asked, without=("own",))])

    def test_a_package_asked_for_that_the_architecture_lacks_is_recorded(self):
        index = Index(arm64("a"))
        asked = lockfile.Group("bookworm", ("a", "b"))
        self.assertEqual(self.group(asked, [entry("a"), entry("b")], index), {"a": arm64("a"), "b": None})

    def test_another_name_on_the_architecture_takes_the_place_of_amd64s(self):
        index = Index(arm64("binutils-x86-64-linux-gnu"), arm64("binutils-aarch64-linux-gnu"))
        asked = lockfile.Group("bookworm", ("binutils-aarch64-linux-gnu",))
        found = self.group(asked, [entry("binutils-x86-64-linux-gnu")], index)
        self.assertEqual(found, {"binutils-aarch64-linux-gnu": arm64("binutils-aarch64-linux-gnu")})

    def test_only_missing_keeps_a_group_that_stays(self):
        amd64, before = [entry("a")], {"a": arm64("a")}
        old = lockfile.Lock({}, {}, {"g": amd64}, {"arm64": lockfile.Counterparts({}, {"g": before})})
        index = Index(arm64("a", "2"))
        groups = {"g": lockfile.Group("bookworm", ("a",))}
        kept = self.resolved(dataclasses.replace(old, counterparts={}), index, groups, old, only_missing=True)
        self.assertEqual((kept.groups, index.asked), ({"g": before}, []))


class MissingTest(unittest.TestCase):
    def test_what_is_absent_of_another_version_and_unneeded(self):
        found = lockfile.Lock(
            {"bookworm": {name: entry(name) for name in "abc"}},
            {},
            {"g": [entry("d"), entry("e")]},
            {
                "arm64": lockfile.Counterparts(
                    {"bookworm": {"a": None, "b": arm64("b", "1+b1"), "c": arm64("c")}}, {"g": {"d": arm64("d")}}
                )
            },
        )
        missing = counterparts.missing(found, architectures.ARM64)
        self.assertEqual(missing.absent, ("bookworm/a",))
        self.assertEqual(missing.other, (("bookworm/b", "1", "1+b1"),))
        self.assertEqual(missing.unneeded, ("g/e",))
        self.assertIn("  bookworm/b 1+b1 (amd64: 1)", missing.lines("arm64"))

    def test_a_lock_without_the_architecture(self):
        with self.assertRaisesRegex(lockfile.LockError, "no packages for arm64; run .*debian:lock -- --only_missing"):
            counterparts.missing(lockfile.Lock({}, {}, {}), architectures.ARM64)

    def test_arm64_has_all_packages_of_this_project(self):
        """A package that arm64 lacks stops each build of an arm64 host; name it in docs/machines.md when it must be."""
        self.assertEqual(counterparts.missing(lockfile.load(HERE / "lock.json"), architectures.ARM64).absent, ())

    def test_the_command(self):
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            self.assertEqual(lock.main(["--missing_for=arm64", f"--directory={HERE}"]), 0)
        self.assertIn("0 packages: arm64 does not have them", said.getvalue())


if __name__ == "__main__":
    unittest.main()
