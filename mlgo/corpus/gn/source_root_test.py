import os
import pathlib
import subprocess
import sys
import unittest

from mlgo.corpus.gn import source_root
from mlgo.corpus.gn.gn_build import environment_of
from mlgo.run.exit_codes import RunError
from mlgo.run.testing.folder_case import FolderCase


class SourceRootTest(FolderCase):
    def setUp(self):
        super().setUp()
        self.tree, self.work = self.file("the tree/.gn").parent, self.folder / "the work"
        (self.tree / "lib").mkdir()
        self.node = self.file("a node", "node")

    def prepare(self, **changes) -> source_root.Layout:
        given = {
            "toolchain": {"bin/clang": self.folder},
            "contents": {"out/corpus/args.gn": "a = 1\n"},
            "fingerprints": {"a": 1},
            "placed": {},
            "copied": [],
            **changes,
        }
        return source_root.prepare(self.work, self.tree, **given)

    def test_the_tree_is_seen_and_not_written_to(self):
        layout = self.prepare()
        self.assertEqual(sorted(os.listdir(layout.source)), [".gn", "lib", "mlgo_toolchain", "out"])
        self.assertEqual((layout.source / "lib").resolve(), self.tree / "lib")
        self.assertEqual((layout.build / "../../mlgo_toolchain/bin/clang").resolve(), self.folder)
        self.assertEqual(sorted(os.listdir(self.tree)), [".gn", "lib"])

    def test_placed_files_lie_among_those_of_the_tree(self):
        for name in ("lib/a", "lib/deep/b", "lib/deep/old"):
            self.file(f"the tree/{name}", name)
        for _ in range(2):
            placed = ("lib/deep/bin/node", "lib/deep/old", "new/node")
            layout, expected = self.prepare(placed=dict.fromkeys(placed, self.node)), dict.fromkeys(placed, "node")
            for name, text in (expected | {"lib/a": "lib/a", "lib/deep/b": "lib/deep/b"}).items():
                self.assertEqual((layout.source / name).read_text(encoding="utf-8"), text, name)
        self.assertEqual(sorted(os.listdir(self.tree / "lib/deep")), ["b", "old"])
        for name in ("../a", "/a", "a/./b", "a//b", ""):
            with self.subTest(name), self.assertRaisesRegex(RunError, "is no path from the project's root"):
                self.prepare(placed={name: self.node})

    def test_a_folder_that_the_build_made_gives_way_to_one_of_the_tree(self):
        layout = self.prepare(placed={"lib/node": self.node})
        (layout.source / "lib/made").mkdir()
        (self.tree / "lib/made").mkdir()
        self.assertEqual(self.prepare(placed={"lib/node": self.node}), layout)
        self.assertTrue((layout.source / "lib/made").is_symlink())
        self.assertTrue((self.tree / "lib/made").is_dir())

    def test_copied_folders_know_where_the_build_sees_them(self):
        self.file("the tree/lib/deep/where.py", "print(__file__)\n")
        self.file("the tree/lib/deep/script.py", "import where\n")

        def place_of_module(**changes) -> pathlib.Path:
            script = self.prepare(**changes).build / "../../lib/deep/script.py"
            # Of the environment, PYTHONSAFEPATH would hide the modules beside the script.
            command = [sys.executable, "-B", str(script)]
            return pathlib.Path(subprocess.check_output(command, text=True, env={}).strip())

        self.assertEqual(place_of_module(), self.tree / "lib/deep/where.py")
        for _ in range(2):
            found = place_of_module(copied=["lib/deep"], placed={"lib/node": self.node})
            self.assertEqual(found, self.work / "src/lib/deep/where.py")
        self.assertTrue((self.work / "src/lib/node").is_file())
        self.assertEqual(found.stat().st_mtime_ns, (self.tree / "lib/deep/where.py").stat().st_mtime_ns)
        for name, message in (("lib/deeper", "is not in the tree"), ("../x", "is no path from the project's root")):
            with self.subTest(name), self.assertRaisesRegex(RunError, message):
                self.prepare(copied=[name], fingerprints={"copied": [name]})

    def test_the_same_goes_on_with_the_same_time_stamps(self):
        layout = self.prepare()
        built = layout.build / "a.o"
        built.write_text("", encoding="utf-8")
        stamp = (layout.build / "args.gn").stat().st_mtime_ns
        self.prepare()
        self.assertTrue(built.exists())
        self.assertEqual((layout.build / "args.gn").stat().st_mtime_ns, stamp)

    def test_another_one_begins_anew(self):
        built = self.prepare().build / "a.o"
        built.write_text("", encoding="utf-8")
        self.prepare(fingerprints={"a": 2})
        self.assertFalse(built.exists())

    def test_what_is_no_tree_for_us(self):
        (self.tree / "mlgo_corpus").mkdir()
        with self.assertRaisesRegex(RunError, "has mlgo_corpus, which we add"):
            self.prepare()
        (self.tree / ".gn").unlink()
        with self.assertRaisesRegex(RunError, "has no file .gn"):
            self.prepare()

    def test_programs_are_started_from_where_they_lie(self):
        layout = self.prepare()
        program = self.script("it's a program", 'echo "$0" "$@"')
        source_root.add_programs(layout, {"python3": program})
        said = subprocess.run([layout.programs / "python3", "a b"], capture_output=True, text=True, check=True).stdout
        self.assertEqual(said, f"{program} a b\n")

    def test_environment_is_ours_alone(self):
        layout = self.prepare()
        environment = environment_of(layout, ["llvm/bin"], {"CC": "clang"})
        self.assertEqual(set(environment), {"PATH", "LC_ALL", "PYTHONPYCACHEPREFIX", "CC"})
        first = [str(layout.programs), str(layout.source / "mlgo_toolchain/llvm/bin")]
        self.assertEqual(environment["PATH"].split(":")[:2], first)
        with self.assertRaisesRegex(RunError, "PATH: is set by the build"):
            environment_of(layout, [], {"PATH": "/"})


class GnFilesTest(unittest.TestCase):
    def test_arguments_sorted_by_name(self):
        text = source_root.args_text({"use_thin_lto": "true", "chrome_pgo_phase": " 0 ", "clang_version": '"22"'})
        self.assertEqual(text, 'chrome_pgo_phase = 0\nclang_version = "22"\nuse_thin_lto = true\n')

    def test_what_is_no_argument(self):
        for arguments, words in (
            ({"a b": "1"}, "gn argument 'a b': is no name"),
            ({"": "1"}, "is no name"),
            ({"a": " "}, "has no value"),
            ({"a": '1\nimport("//x.gni")'}, "has no value on one line"),
        ):
            with self.subTest(arguments), self.assertRaisesRegex(RunError, words):
                source_root.args_text(arguments)

    def test_group_of_all_targets(self):
        text = source_root.root_build_file(["//a", "//b:c d"])
        self.assertIn('group("corpus")', text)
        self.assertIn('    "//a",\n    "//b:c d",\n', text)

    def test_library_takes_whole_archives(self):
        text = source_root.root_build_file(["//a:b"], source_root.LIBRARY_FLAGS)
        self.assertIn('ldflags = [ "-Wl,--whole-archive", ', text)
        self.assertIn('output_name = "mlgo_corpus"', text)
        self.assertEqual(source_root.LIBRARY_FILE, "libmlgo_corpus.so")

    def test_what_is_no_label(self):
        for target in ("a", "//a:", '//a"', "//a:b:c", "//$x", "a//b", ""):
            with self.subTest(target), self.assertRaisesRegex(RunError, "is no gn label"):
                source_root.root_build_file([target])
        with self.assertRaisesRegex(RunError, "targets: are none"):
            source_root.root_build_file([])
