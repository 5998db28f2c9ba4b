import json
import os
import pathlib
import shutil
import tempfile
import unittest

from toolchains.bazel import registry
from toolchains.bazel.errors import LauncherError

WORKSPACE = pathlib.Path(os.path.abspath(__file__)).parents[2]
TEMPLATES = WORKSPACE / "third_party" / "registry"
TRACKED = registry.load(TEMPLATES / "modules.json")
MODULES = registry.Modules(
    {
        "platforms": registry.Module("0.0.10", "bazel-platforms", "tools/platforms", (), False),
        "rules_shell": registry.Module("0.4.0", "bazel-rules-shell", "rules/shell", (), True),
    },
    {"protobuf": ("3.19.6", "21.7")},
)


class IndexTest(unittest.TestCase):
    def index(self):
        return registry.index(MODULES, {"rules_shell": 'module(name = "rules_shell", version = "0.4.0")\n'}, "/px/r")

    def test_module(self):
        files = self.index()
        self.assertEqual(
            files["modules/rules_shell/0.4.0/MODULE.bazel"], 'module(name = "rules_shell", version = "0.4.0")\n'
        )
        self.assertEqual(
            json.loads(files["modules/rules_shell/0.4.0/source.json"]),
            {"type": "local_path", "path": "/px/r/sources/rules_shell"},
        )

    def test_stub_has_every_version(self):
        files = self.index()
        self.assertEqual(json.loads(files["modules/protobuf/metadata.json"])["versions"], ["3.19.6", "21.7"])
        self.assertIn('version = "21.7"', files["modules/protobuf/21.7/MODULE.bazel"])


class FlagsTest(unittest.TestCase):
    def test_paths_in_any_alphabet_reach_the_server_byte_by_byte(self):
        flags = registry.flags(MODULES, "/ä/registry")
        # A URL is decoded as UTF-8: C3 83 and C2 A4 are the characters C3 and A4, which are the bytes of ä.
        self.assertEqual(flags[0], "--registry=file:///%C3%83%C2%A4/registry")
        # An rc file is read byte by byte.
        self.assertEqual(flags[-1], "--override_module=platforms=/ä/registry/sources/platforms")
        self.assertEqual(registry.in_server(os.fsdecode(b"/\xc3\xa4/\xff")), "/\xc3\xa4/\xff")

    def test_modules_that_only_this_workspace_asks_for_are_not_overridden(self):
        self.assertEqual(
            registry.flags(MODULES, "/p x/r"),
            ["--registry=file:///p%20x/r", "--override_module=platforms=/p x/r/sources/platforms"],
        )


class WriteTest(unittest.TestCase):
    def setUp(self):
        self.scratch = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def test_tracked_archives_make_a_registry(self):
        tree = self.scratch / "registry"
        registry.write(TRACKED, TEMPLATES, tree, "/px/registry")
        self.assertTrue((tree / "stubs/buildozer/buildozer_binary.bzl").is_file())
        sources = list(tree.glob("modules/*/*/source.json"))
        self.assertGreater(len(sources), 4)
        for source in sources:
            path = json.loads(source.read_text())["path"]
            self.assertTrue(
                (tree / pathlib.PurePath(path).relative_to("/px/registry") / "MODULE.bazel").is_file(), path
            )
        for flag in registry.flags(TRACKED, "/px/registry")[1:]:
            folder = pathlib.PurePath(flag.split("=", 2)[2]).relative_to("/px/registry")
            self.assertTrue((tree / folder / "MODULE.bazel").is_file(), flag)

    def test_an_archive_that_is_missing_or_damaged_is_named(self):
        templates = self.scratch / "templates"
        shutil.copytree(TEMPLATES, templates)
        archive = sorted((templates / "archives").iterdir())[0]
        archive.chmod(0o644)
        archive.write_bytes(b"no archive")
        remedy = rf"^third_party/registry/archives/{archive.name}: cannot be used .*\. Restore it from git\.$"
        with self.assertRaisesRegex(LauncherError, remedy):
            registry.write(TRACKED, templates, self.scratch / "one", "/px")
        archive.unlink()
        with self.assertRaisesRegex(LauncherError, remedy):
            registry.write(TRACKED, templates, self.scratch / "two", "/px")

    def test_damaged_tables(self):
        path = self.scratch / "modules.json"
        for text in (
            "{",
            '{"modules": {}}',
            '{"modules": {"a": 1}, "stubs": {}}',
            '{"modules": {"a": {}}, "stubs": {}}',
            "[]",
        ):
            path.write_text(text)
            with (
                self.subTest(text=text),
                self.assertRaisesRegex(LauncherError, "modules.json: cannot be used .* Restore it from git"),
            ):
                registry.load(path)


if __name__ == "__main__":
    unittest.main()
