import json
import os
import pathlib
import tarfile
import tempfile
import unittest

import lockfile

from third_party.registry import vendor
from toolchains.bazel import registry

HERE = pathlib.Path(os.path.abspath(__file__)).parent


def content(tar: tarfile.TarFile, name: str) -> bytes:
    file = tar.extractfile(name)
    assert file, f"{name} is no file"
    return file.read()


class TrackedFilesTest(unittest.TestCase):
    """What is tracked belongs together, and to the packages of the lock."""

    def setUp(self):
        self.modules = registry.load(HERE / "modules.json")

    def test_overrides_name_the_digests_of_the_archives(self):
        contents = {path.name: path.read_bytes() for path in (HERE / registry.ARCHIVES).iterdir()}
        text = (HERE.parents[1] / "MODULE.bazel").read_text()
        self.assertEqual(vendor.with_overrides(text, vendor.overrides(self.modules, contents)), text)
        self.assertEqual(len(contents), len(self.modules.modules))

    def test_archives_are_of_the_packages_in_the_lock(self):
        entries = vendor.pinned(lockfile.load(HERE.parent / "debian/lock.json"), self.modules)
        self.assertEqual(
            json.loads((HERE / vendor.PACKAGES).read_text()),
            {name: entry.sha256 for name, entry in entries.items()},
            "Debian's packages have changed; run ./bazelw run //third_party/registry:vendor",
        )
        self.assertEqual(set(entries), {module.package for module in self.modules.modules.values()})

    def test_each_package_has_the_version_of_its_module(self):
        entries = vendor.pinned(lockfile.load(HERE.parent / "debian/lock.json"), self.modules)
        for name, module in self.modules.modules.items():
            with self.subTest(name):
                self.assertEqual(entries[module.package].version.split("-")[0], module.version)

    def test_a_module_says_its_name_and_version(self):
        for name, module in self.modules.modules.items():
            with tarfile.open(HERE / registry.ARCHIVES / registry.archive_name(name, module)) as tar:
                text = content(tar, registry.MODULE_FILE).decode()
            with self.subTest(name):
                self.assertIn(f'name = "{name}"', text)
                self.assertIn(f'version = "{module.version}"', text)


class WithVersionTest(unittest.TestCase):
    def test_table(self):
        for text, expected in (
            (
                'module(\n    name = "x",\n    version = "0.0.0",\n)\n',
                'module(\n    name = "x",\n    version = "2.0",\n)\n',
            ),
            ('module(name = "x")\n', 'module(name = "x",\n    version = "2.0",\n)\n'),
            (
                'module(name = "x",)\nbazel_dep(name = "y", version = "1")\n',
                'module(name = "x",\n    version = "2.0",\n)\nbazel_dep(name = "y", version = "1")\n',
            ),
            (
                'bazel_dep(name = "y", version = "1")\n',
                'module(name = "x", version = "2.0")\nbazel_dep(name = "y", version = "1")\n',
            ),
        ):
            with self.subTest(text=text):
                self.assertEqual(vendor.with_version(text, "x", "2.0"), expected)


class ArchivesTest(unittest.TestCase):
    MODULE = registry.Module("2.0", "bazel-rules-x", "rules/x", ("tests/*",), False)

    def setUp(self):
        self.tree = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        folder = self.tree / vendor.MODULES / "rules/x"
        (folder / "tests").mkdir(parents=True)
        (folder / "MODULE.bazel").write_text('module(name = "rules_x", version = "0.0.0")\n')
        (folder / "x.bzl").write_text("X = 1\n")
        (folder / "tests/x_test.bzl").write_text("")
        licence = self.tree / "usr/share/doc/bazel-rules-x/copyright"
        licence.parent.mkdir(parents=True)
        licence.write_text("Apache-2.0\n")
        self.modules = registry.Modules({"rules_x": self.MODULE}, {"zlib": ("1",)})

    def test_the_same_files_give_the_same_bytes_whatever_their_dates(self):
        first = vendor.archives(self.modules, self.tree)
        os.utime(self.tree / vendor.MODULES / "rules/x/x.bzl", (1, 1))
        self.assertEqual(vendor.archives(self.modules, self.tree), first)
        with open(self.tree / "x.tar", "wb") as file:
            file.write(first["rules_x-2.0.tar"])
        with tarfile.open(self.tree / "x.tar") as tar:
            self.assertEqual(tar.getnames(), ["LICENSE", "MODULE.bazel", "x.bzl"])
            self.assertIn(b'version = "2.0"', content(tar, "MODULE.bazel"))

    def test_overrides(self):
        text = vendor.overrides(self.modules, {"rules_x-2.0.tar": b""})
        self.assertIn(
            '    module_name = "rules_x",\n    integrity = "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",\n',
            text,
        )
        self.assertIn('urls = ["https://mlgo.invalid/rules_x-2.0.tar"]', text)
        self.assertIn('module_name = "zlib",\n    path = "third_party/registry/stubs/zlib",\n', text)

    def test_a_module_file_without_marks(self):
        with self.assertRaisesRegex(ValueError, "MODULE.bazel: lacks the line '# begin: .* restore it from git"):
            vendor.with_overrides("module()\n", "")


if __name__ == "__main__":
    unittest.main()
