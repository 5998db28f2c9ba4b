import json
import os
import pathlib
import tempfile
import unittest

from toolchains.bazel import registry
from toolchains.bazel.errors import LauncherError

WORKSPACE = pathlib.Path(os.path.abspath(__file__)).parents[2]
TEMPLATES = WORKSPACE / "third_party" / "registry"


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
                self.assertEqual(registry.with_version(text, "x", "2.0"), expected)


class FilesTest(unittest.TestCase):
    MODULES = registry.Modules(
        {"platforms": "tools/platforms"}, {"rules_shell": ("0.3.0", "rules/shell")}, {"protobuf": ("3.19.6", "21.7")}
    )

    def files(self):
        return registry.files(
            self.MODULES,
            {"rules_shell": 'module(name = "rules_shell", version = "0.0.0")\n'},
            "/px/base",
            "/px/registry",
        )

    def test_bundled_module(self):
        files = self.files()
        self.assertEqual(
            files["modules/rules_shell/0.3.0/MODULE.bazel"], 'module(name = "rules_shell", version = "0.3.0")\n'
        )
        self.assertEqual(
            json.loads(files["modules/rules_shell/0.3.0/source.json"]),
            {"type": "local_path", "path": "/px/base/rules/shell"},
        )

    def test_stub_has_every_version_and_an_empty_package(self):
        files = self.files()
        self.assertEqual(json.loads(files["modules/protobuf/metadata.json"])["versions"], ["3.19.6", "21.7"])
        self.assertIn("modules/protobuf/21.7/source.json", files)
        self.assertEqual(files["stubs/protobuf/BUILD.bazel"], "")

    def test_paths_in_any_alphabet_reach_the_server_byte_by_byte(self):
        flags = registry.flags(self.MODULES, "/ä/base", "/ä/registry")
        # A URL is decoded as UTF-8: C3 83 and C2 A4 are the characters C3 and A4, which are the bytes of ä.
        self.assertEqual(flags[0], "--registry=file:///%C3%83%C2%A4/registry")
        # An rc file is read byte by byte.
        self.assertEqual(flags[-1], "--override_module=platforms=/ä/base/tools/platforms")
        self.assertEqual(registry.in_server(os.fsdecode(b"/\xc3\xa4/\xff")), "/\xc3\xa4/\xff")

    def test_flags(self):
        self.assertEqual(
            registry.flags(self.MODULES, "/p x/base", "/p x/registry"),
            [
                "--registry=file:///p%20x/registry",
                "--lockfile_mode=off",
                "--override_module=platforms=/p x/base/tools/platforms",
            ],
        )


class WriteTest(unittest.TestCase):
    def setUp(self):
        self.staging = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory())) / "staging"

    def write(self):
        registry.write(TEMPLATES, self.staging / "registry", "/px/usr/share/bazel", "/px/registry")

    def test_tracked_tables_make_a_registry(self):
        for name in ("pkg", "shell"):
            folder = self.staging / "usr/share/bazel/rules" / name
            folder.mkdir(parents=True)
            (folder / "MODULE.bazel").write_text(f'module(name = "rules_{name}", version = "0.0.0")\n')
        self.write()
        self.assertTrue((self.staging / "registry/stubs/buildozer/buildozer_binary.bzl").is_file())
        for source in self.staging.glob("registry/modules/*/*/source.json"):
            path = json.loads(source.read_text())["path"]
            self.assertTrue(path.startswith("/px/"), path)
            self.assertTrue((self.staging / pathlib.PurePath(path).relative_to("/px") / "MODULE.bazel").is_file(), path)

    def test_a_folder_that_debian_has_moved_is_named(self):
        with self.assertRaisesRegex(
            LauncherError, r"^rules/pkg/MODULE\.bazel of Debian's Bazel: cannot be read .* Correct .*modules\.json"
        ):
            self.write()

    def test_damaged_tables(self):
        path = self.staging.parent / "modules.json"
        for text in ("{", '{"overrides": {}}', '{"overrides": {}, "modules": {"a": 1}, "stubs": {}}', "[]"):
            path.write_text(text)
            with (
                self.subTest(text=text),
                self.assertRaisesRegex(LauncherError, "modules.json: cannot be used .* Restore it from git"),
            ):
                registry.load(path)


if __name__ == "__main__":
    unittest.main()
