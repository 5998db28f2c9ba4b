import json
import os
import pathlib
import unittest
import unittest.mock

from mlgo.evaluation.programs.catalogue import Catalogue, packages_from_flags
from mlgo.run.exit_codes import RunError
from mlgo.run.testing.folder_case import FolderCase


class CatalogueTest(FolderCase):
    def setUp(self):
        super().setUp()
        self.file("a.c", "int main(void) { return 0; }")
        kinds = {"fast": {}, "other": {}, "huge": {"slow": True}, "later": {"extra": True}, "once": {"exam": True}}
        paths = {name: self.describe(name, **kind) for name, kind in kinds.items()}
        self.catalogue = Catalogue("programs", paths)

    def describe(self, name: str, **more: bool) -> pathlib.Path:
        fields = {"name": name, "about": "a test", "sources": ["a.c"], "runs": [{"name": "go"}], **more}
        return self.file(f"{name}.json", json.dumps(fields))

    def names(self, *chosen: str, described: tuple[pathlib.Path, ...] = ()) -> list[str]:
        return [program.name for program in self.catalogue.programs(chosen, described, {}, self.folder)]

    def test_slow_programs_are_built_only_when_named(self):
        self.assertEqual(self.names(), ["fast", "other"])
        self.assertEqual(self.names("huge", "fast", "huge"), ["huge", "fast"])
        self.assertIn("huge: a test (slow: built only when named)", self.catalogue.lines())

    def test_extra_programs_are_built_when_named_or_with_all(self):
        self.assertEqual(self.names("later", "fast"), ["later", "fast"])
        self.assertEqual(self.names("all"), ["fast", "other", "later"])
        self.assertEqual(self.names("other", "all", "huge"), ["other", "fast", "later", "huge"])
        self.assertIn("later: a test (extra: built when named or with --programs=all)", self.catalogue.lines())

    def test_exam_programs_are_built_when_named_or_as_a_group(self):
        self.assertEqual(self.names("exam"), ["once"])
        self.assertEqual(self.names("exam", "all"), ["once", "fast", "other", "later"])
        self.assertIn("once: a test (exam: built when named or with --programs=exam)", self.catalogue.lines())

    def test_a_group_without_programs_is_unknown(self):
        catalogue = Catalogue("programs", {"fast": self.describe("fast")})
        with self.assertRaisesRegex(RunError, "names 'exam'. Known: all, fast$"):
            catalogue.programs(["exam"], (), {}, self.folder)

    def test_groups_of_built_in_programs(self):
        # Recorded results (models/) are of these groups.
        catalogue = Catalogue.of_command()
        groups: dict[str, list[str]] = {}
        for line in catalogue.lines():
            kind = line.rpartition(" (")[2].partition(":")[0] if line.endswith(")") else "default"
            groups.setdefault(kind, []).append(line.partition(":")[0])
        expected = {
            "default": "box2d brotli lua re2 sqlite yaml_cpp zstd",
            "extra": "bzip2 cmark cwebp graphite2 harfbuzz lz4 mbedtls minigzip mujs ninja opus_demo pcre2test tidy"
            " xmlwf xz",
            "exam": "bcpp cc65 cliquer clustalw hunspell nasm picosat potrace ragel voropp",
            "slow": "filecheck",
        }
        self.assertEqual(groups, {kind: names.split() for kind, names in expected.items()})

    def test_described_programs_take_the_place_of_the_default_ones(self):
        mine = self.describe("mine")
        self.assertEqual(self.names(described=(mine,)), ["mine"])
        self.assertEqual(self.names("fast", described=(mine,)), ["fast", "mine"])

    def test_names_are_known_and_come_once(self):
        with self.assertRaisesRegex(RunError, "names 'emacs'. Known: all, exam, fast, other, huge, later, once"):
            self.names("emacs")
        with self.assertRaisesRegex(RunError, "describes 'fast', which there is already"):
            self.names("fast", described=(self.describe("fast"),))

    def test_a_package_is_a_name_and_a_folder(self):
        self.assertEqual(packages_from_flags([f"x={self.folder}"])["x"], self.folder)
        with self.assertRaisesRegex(RunError, "is not NAME=FOLDER"):
            packages_from_flags(["x"])

    def test_files_of_gn_programs_lie_beside_their_target(self):
        described = self.file("x.json.runfiles/_main/mine.json", '{"name": "mine", "about": "a test"}')
        content: dict[str, object] = dict.fromkeys(("tree", "gn", "ninja", "python"), "_main/x")
        content |= {"fingerprints": [], "srcs": [], "descriptions": ["_main/mine.json"], "path": []}
        content |= {"env": {}, "gn_args": {}, "toolchain": {}}
        programs = self.file("x.json", json.dumps(content))
        with unittest.mock.patch.dict(os.environ, {"MLGO_GN_PROGRAMS": str(programs)}):
            catalogue = Catalogue.of_command()
        self.assertEqual((catalogue.name, catalogue.descriptions), ("x", {"mine": described}))

    def test_a_package_of_the_command_is_fetched_when_it_is_used(self):
        with unittest.mock.patch.dict(os.environ, {"MLGO_PROGRAM_PACKAGE_lua": "@corpora//:lua_root"}):
            packages = packages_from_flags([f"x={self.folder}"])
            self.assertEqual((sorted(packages), len(packages)), (["lua", "x"], 2))
            with self.assertRaisesRegex(RunError, "^label @corpora//:lua_root: can be built only by a command"):
                _ = packages["lua"]

    def test_a_package_is_a_tree_or_the_folder_of_a_file_at_its_top(self):
        (self.folder / "REPO.bazel").touch()
        for root in (self.folder, self.folder / "REPO.bazel"):
            with unittest.mock.patch.dict(os.environ, {"MLGO_PROGRAM_PACKAGE_x": str(root)}):
                self.assertEqual(packages_from_flags([])["x"], self.folder)
