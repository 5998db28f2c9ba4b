"""Files that a command needs are carried; places of this machine that remain are errors which name the option."""

import os
import pathlib

from mlgo.corpus.command import CompileCommand
from mlgo.corpus.self_contained import FileRoots, roots_of_build, self_contained_command
from mlgo.run.exit_codes import RunError
from mlgo.run.testing.folder_case import FolderCase


class SelfContainedCommandTest(FolderCase):
    def setUp(self):
        super().setUp()
        self.profile = self.file("a b.profdata", "profile")
        self.added: list[pathlib.Path] = []

    def command(self, *recorded: str, **options) -> tuple[str, ...]:
        return self_contained_command(CompileCommand(["-cc1", *recorded]), self.folder, self.add_file, **options)

    def add_file(self, path: pathlib.Path) -> str:
        self.added.append(path)
        return f"files/0123-{path.name}"

    def test_files_are_carried(self):
        options = "-fprofile-instrument-use-path= -fprofile-sample-use= -fprofile-remapping-file= -fmemory-profile-use="
        for option in (*options.split(), "-fbasic-block-sections=list=", "-fsanitize-coverage-allowlist="):
            for path in ("a b.profdata", str(self.profile)):
                self.added.clear()
                self.assertEqual(self.command("-O2", option + path), ("-O2", f"{option}files/0123-a b.profdata"))
                self.assertEqual(self.added, [self.profile])

    def test_files_of_llvm_options_are_carried(self):
        expected = ("-mllvm", "-sample-profile-file=files/0123-a b.profdata", "-O2")
        self.assertEqual(self.command("-mllvm", "-sample-profile-file=a b.profdata", "-O2"), expected)
        self.assertEqual(self.command("-mllvm", "-sample-profile-file", "-mllvm", "a b.profdata", "-O2"), expected)

    def test_outputs_go(self):
        outputs = "-split-dwarf-file /b/a.dwo -split-dwarf-output /b/a.dwo -fpass-plugin=/p.so -load /q.so -mllvm"
        words = f"{outputs} -print-on-crash-path=/x -mllvm -stats -opt-record-file /r -O1"
        self.assertEqual(self.command(*words.split()), ("-mllvm", "-stats", "-O1"))

    def test_text_in_the_object_stays(self):
        for text in ("-fprofile-instrument-path=/data/%m.profraw", "-object-file-name=/b/a.obj", "-main-file-name /a"):
            self.assertEqual(list(self.command(*text.split())), text.split())

    def test_missing_file(self):
        wrong = "option -fprofile-sample-use=gone: names the file .*/gone, which does not"
        with self.assertRaisesRegex(RunError, wrong):
            self.command("-fprofile-sample-use=gone")

    def test_path_that_nobody_knows(self):
        for words in ("-mystery=/data/x", "-mystery /data/x", "-mllvm -mystery=/data/x"):
            with self.assertRaisesRegex(RunError, f"option {words}: names a place that exists on this machine only"):
                self.command(*words.split())
        (self.folder / "lists").mkdir()
        with self.assertRaisesRegex(RunError, "-mllvm -mystery=./lists: names a place"):
            self.command("-mllvm", "-mystery=./lists")

    def test_thinlto_index(self):
        recorded = ("-O2", "-fthinlto-index=/b/x.o.thinlto.bc", "-mllvm", "-lto-embed-bitcode=post-merge-pre-opt")
        self.assertEqual(self.command(*recorded, module_name="d/x.o"), ("-O2", "-fthinlto-index=d/x.o.thinlto.bc"))
        self.assertEqual(self.command(*recorded), ("-O2",))
        self.assertEqual(self.command("-O2", module_name="d/x.o"), ("-O2",))

    def test_thinlto_bitcode_from_before_importing(self):
        for embedding in (["-fembed-bitcode=all"], ["-mllvm", "-lto-embed-bitcode=optimized"]):
            wrong = "before ThinLTO imported into it.*-lto-embed-bitcode=post-merge-pre-opt"
            with self.assertRaisesRegex(RunError, wrong):
                self.command("-O2", "-fthinlto-index=x.thinlto.bc", *embedding, module_name="x")


class FileRootsTest(FolderCase):
    def setUp(self):
        super().setUp()
        profiles = [self.file(f"{name}/below/a.profdata") for name in ("build", "build-of-others")]
        self.build, self.outside = (profile.parents[1] for profile in profiles)

    def test_files_of_the_build(self):
        (self.build / "link").symlink_to("below/a.profdata")
        for name in ("below/a.profdata", "link", "below/../below/a.profdata"):
            FileRoots([self.build]).check(self.build / name)
        FileRoots([self.folder / "absent", self.outside]).check(self.outside / "below" / "a.profdata")

    def test_a_root_may_be_a_link(self):
        (self.folder / "home").symlink_to("build")
        FileRoots([self.folder / "home"]).check(self.build / "below" / "a.profdata")
        FileRoots([self.build]).check(self.folder / "home" / "below" / "a.profdata")

    def test_files_outside_are_refused_by_name_with_the_flag(self):
        (self.build / "link").symlink_to(self.outside / "below")
        (self.build / "circle").symlink_to("circle")
        for path in (
            "/etc/hostname",
            self.outside / "below" / "a.profdata",
            self.build / "link" / "a.profdata",
            self.build / ".." / "build-of-others" / "below" / "a.profdata",
        ):
            with self.subTest(path):
                folder = os.path.dirname(os.path.realpath(path))
                message = rf"^file {path}: lies outside of the build.*; --allow_file_root={folder} allows it"
                with self.assertRaisesRegex(RunError, message):
                    FileRoots([self.build]).check(path)
        FileRoots([self.build]).check(self.build / "circle")

    def test_the_copy_is_not_made(self):
        copied: list[pathlib.Path] = []

        def copy(path: pathlib.Path) -> str:
            copied.append(path)
            return "files/a"

        add = FileRoots([self.build]).guarded(copy)
        with self.assertRaisesRegex(RunError, "file /etc/hostname: lies outside of the build"):
            add(pathlib.Path("/etc/hostname"))
        self.assertEqual(copied, [])
        self.assertEqual(add(self.build / "below" / "a.profdata"), "files/a")

    def test_outputs_of_bazel(self):
        (self.build / "bazel-out").symlink_to(self.outside)
        roots_of_build([self.build]).check(self.build / "bazel-out" / "below" / "a.profdata")
