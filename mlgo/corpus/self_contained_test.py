"""Files that a command needs are carried; places of this machine that remain are errors which name the option."""

import pathlib
import tempfile
import unittest

from mlgo.corpus.command import CompileCommand
from mlgo.corpus.self_contained import self_contained_command
from mlgo.run.exit_codes import RunError


class SelfContainedCommandTest(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.build = pathlib.Path(directory.name)
        (self.build / "a b.profdata").write_bytes(b"profile")
        self.added: list[pathlib.Path] = []

    def command(self, *recorded: str, **options) -> tuple[str, ...]:
        return self_contained_command(CompileCommand(["-cc1", *recorded]), self.build, self.add_file, **options)

    def add_file(self, path: pathlib.Path) -> str:
        self.added.append(path)
        return f"files/0123-{path.name}"

    def test_files_are_carried(self):
        profile = self.build / "a b.profdata"
        for option in (
            "-fprofile-instrument-use-path=",
            "-fprofile-sample-use=",
            "-fprofile-remapping-file=",
            "-fmemory-profile-use=",
            "-fbasic-block-sections=list=",
            "-fsanitize-coverage-allowlist=",
        ):
            for path in ("a b.profdata", str(profile)):
                self.added.clear()
                self.assertEqual(self.command("-O2", option + path), ("-O2", f"{option}files/0123-a b.profdata"))
                self.assertEqual(self.added, [profile])

    def test_files_of_llvm_options_are_carried(self):
        expected = ("-mllvm", "-sample-profile-file=files/0123-a b.profdata", "-O2")
        self.assertEqual(self.command("-mllvm", "-sample-profile-file=a b.profdata", "-O2"), expected)
        self.assertEqual(self.command("-mllvm", "-sample-profile-file", "-mllvm", "a b.profdata", "-O2"), expected)

    def test_outputs_go(self):
        self.assertEqual(
            self.command(
                "-split-dwarf-file",
                "/b/a.dwo",
                "-split-dwarf-output",
                "/b/a.dwo",
                "-fpass-plugin=/p.so",
                "-load",
                "/q.so",
                "-mllvm",
                "-print-on-crash-path=/x",
                "-mllvm",
                "-stats",
                "-opt-record-file",
                "/r",
                "-O1",
            ),
            ("-mllvm", "-stats", "-O1"),
        )

    def test_text_in_the_object_stays(self):
        for text in (
            ["-fprofile-instrument-path=/data/%m.profraw"],
            ["-object-file-name=/b/a.obj"],
            ["-main-file-name", "/a"],
        ):
            self.assertEqual(list(self.command(*text)), text)

    def test_missing_file(self):
        with self.assertRaisesRegex(
            RunError, "option -fprofile-sample-use=gone: names the file .*/gone, which does not"
        ):
            self.command("-fprofile-sample-use=gone")

    def test_path_that_nobody_knows(self):
        for recorded, named in (
            (("-mystery=/data/x",), "-mystery=/data/x"),
            (("-mystery", "/data/x"), "-mystery /data/x"),
            (("-mllvm", "-mystery=/data/x"), "-mllvm -mystery=/data/x"),
        ):
            with self.assertRaisesRegex(RunError, f"option {named}: names a place that exists on this machine only"):
                self.command(*recorded)
        (self.build / "lists").mkdir()
        with self.assertRaisesRegex(RunError, "-mllvm -mystery=./lists: names a place"):
            self.command("-mllvm", "-mystery=./lists")

    def test_thinlto_index(self):
        recorded = ("-O2", "-fthinlto-index=/b/x.o.thinlto.bc", "-mllvm", "-lto-embed-bitcode=post-merge-pre-opt")
        self.assertEqual(self.command(*recorded, module_name="d/x.o"), ("-O2", "-fthinlto-index=d/x.o.thinlto.bc"))
        self.assertEqual(self.command(*recorded), ("-O2",))
        self.assertEqual(self.command("-O2", module_name="d/x.o"), ("-O2",))

    def test_thinlto_bitcode_from_before_importing(self):
        for embedding in (["-fembed-bitcode=all"], ["-mllvm", "-lto-embed-bitcode=optimized"]):
            with self.assertRaisesRegex(
                RunError, "before ThinLTO imported into it.*-lto-embed-bitcode=post-merge-pre-opt"
            ):
                self.command("-O2", "-fthinlto-index=x.thinlto.bc", *embedding, module_name="x")


if __name__ == "__main__":
    unittest.main()
