"""The commands around corpora, called as a user calls them: what they write, what they say, how they end."""

import contextlib
import io
import json
import pathlib

from mlgo import combine_training_corpus, corpus_info, make_corpus, split_corpus
from mlgo.corpus import split
from mlgo.corpus.contained_files import ContainedFiles
from mlgo.corpus.corpus import Corpus
from mlgo.corpus.writer import CorpusWriter
from mlgo.run.exit_codes import ExitCode, RunError
from mlgo.run.testing.folder_case import FolderCase

BITCODE = b"BC\xc0\xde"


class CommandCase(FolderCase):
    def run_command(self, command, *arguments: str | pathlib.Path) -> tuple[str, str]:
        stdout, stderr = io.TextIOWrapper(io.BytesIO(), encoding="utf-8"), io.StringIO()
        with contextlib.redirect_stdout(stdout), contextlib.redirect_stderr(stderr):
            self.assertEqual(command.run([str(argument) for argument in arguments]), ExitCode.DONE)
        stdout.flush()
        return stdout.buffer.getvalue().decode(), stderr.getvalue()

    def refused(self, command, arguments, expected, exit_code=ExitCode.USER_ERROR):
        with self.assertRaisesRegex(RunError, expected) as caught, contextlib.redirect_stderr(io.StringIO()):
            command.run([str(argument) for argument in arguments])
        self.assertEqual(caught.exception.exit_code, exit_code)

    def corpus(self, name: str, count: int = 40, profile: bytes | None = None, **settings) -> pathlib.Path:
        with CorpusWriter(self.folder / name, **settings) as writer:
            command = ["-cc1", "-O2"]
            if profile is not None:
                carried = writer.add_file(self.file("a.profdata", profile))
                command.append(f"-fprofile-instrument-use-path={carried}")
            for index in range(count):
                content = BITCODE + bytes([index]) * (1 + index * 7 % count)
                own = None if "command_override" in settings else command
                thinlto = BITCODE if "has_thinlto" in settings else None
                writer.add(f"d{index % 8}/m{index}", content, own, thinlto, licence="MIT")
            writer.finish()
        return self.folder / name


class OneWriterTest(CommandCase):
    """Of two commands that write to one folder, the later one stops with a sentence."""

    def test_of_two_at_a_time_one_is_refused(self):
        self.file("in/a.bc", BITCODE)
        corpus, out = self.corpus("parts/zstd"), self.folder / "out"
        for command, folder, flags in (
            (make_corpus, out, ("--input_dir", self.folder / "in", "--output_dir", out)),
            (split_corpus, out, ("--corpus", corpus, "--output_dir", out)),
            (combine_training_corpus, self.folder / "parts", ("--root_dir", self.folder / "parts")),
        ):
            with ContainedFiles(folder):
                self.refused(command, flags, "is being written by another process. wait for it, or choose another")

    def test_an_unfinished_part_is_not_left_out(self):
        self.corpus("parts/zstd")
        with CorpusWriter(self.folder / "parts/lua") as writer:
            writer.add("m", BITCODE, ("-cc1",))
        expected = "parts/lua: is not finished. wait for its writer, run its command again, or move the folder away"
        self.refused(combine_training_corpus, ("--root_dir", self.folder / "parts"), expected)

    def test_a_corpus_is_not_replaced_in_silence(self):
        self.file("in/a.bc", BITCODE)
        out = self.corpus("out")
        flags = ("--input_dir", self.folder / "in", "--output_dir", out)
        self.assertIn(f"note: {out} held a corpus, which is replaced", self.run_command(make_corpus, *flags)[1])


class MakeCorpusTest(CommandCase):
    def setUp(self):
        super().setUp()
        self.input = self.folder / "in"
        contents = {"b.bc": BITCODE + b"b", "a/x y.o.bc": BITCODE + b"a", "c.bc": b"", "d.bc": b"text", "e.o": b""}
        for name, content in contents.items():
            self.file(f"in/{name}", content)

    def test_modules_and_their_command(self):
        out, words = self.folder / "out", "-O2 -mllvm '-x=a b'"
        flags = ("--input_dir", self.input, "--output_dir", out, "--default_args", words)
        _, said = self.run_command(make_corpus, *flags)
        corpus = Corpus.load(self.folder / "out")
        self.assertEqual([module.name for module in corpus.modules], ["a/x y.o", "b"])
        self.assertEqual(corpus.modules[0].command, ("-O2", "-mllvm", "-x=a b"))
        self.assertIn("may do more than change code: -mllvm -x (2 modules, such as a/x y.o)", said)
        self.assertIn("left out: c.bc is empty", said)
        self.assertIn("left out: d.bc does not start as bitcode does", said)
        self.assertIn("done 2 of 4 files, 0 duplicates, 2 without bitcode", said)
        first = corpus.digest
        self.run_command(make_corpus, *flags)
        self.assertEqual(Corpus.load(self.folder / "out").digest, first)

    def test_placeholders_as_mlgo_utils_tests_have_them(self):
        """Its tests make corpora of empty files, in folders, and combine them: each is a module of its own."""
        for name in ("test1", "test2"):
            self.file(f"placeholders/nested/{name}.bc")
        flags = ("--input_dir", self.folder / "placeholders", "--default_args=-O3 -c")
        refused = (*flags, "--output_dir", self.folder / "refused")
        self.refused(make_corpus, refused, "would have no module", ExitCode.NOTHING_PRODUCED)
        for part in ("one", "two"):
            output = self.folder / "all" / part
            _, said = self.run_command(make_corpus, *flags, "--allow_empty", "--output_dir", output)
            self.assertIn("note: 2 modules are empty (--allow_empty); they cannot be compiled\n", said)
            self.assertIn("done 2 of 2 files, 0 duplicates, 0 without bitcode", said)
            self.assertTrue((output / "nested" / "test1.bc").is_file())
            description = json.loads((output / "corpus_description.json").read_text())
            self.assertEqual(description["global_command_override"], ["-O3", "-c"])
            self.assertIs(description["has_thinlto"], False)
            self.assertEqual(description["modules"], ["nested/test1", "nested/test2"])
        (self.folder / "all" / "empty_folder").mkdir()
        (self.folder / "all" / "empty.log").touch()
        self.run_command(combine_training_corpus, "--root_dir", self.folder / "all")
        combined = Corpus.load(self.folder / "all")
        names = [f"{part}/nested/{name}" for part in ("one", "two") for name in ("test1", "test2")]
        self.assertEqual([module.name for module in combined.modules], names)
        with self.assertRaisesRegex(RunError, r"nested/test1\.bc.*: is empty\. "):
            combined.modules[0].read_bitcode()

    def test_only_empty_files_are_placeholders(self):
        output = self.folder / "out"
        _, said = self.run_command(make_corpus, "--input_dir", self.input, "--output_dir", output, "--allow_empty")
        self.assertIn("left out: d.bc does not start as bitcode does", said)
        self.assertIn("note: 1 modules are empty", said)
        self.assertEqual([module.name for module in Corpus.load(output).modules], ["a/x y.o", "b", "c"])

    def test_no_arguments(self):
        self.run_command(make_corpus, "--input_dir", self.input, "--output_dir", self.folder / "out")
        corpus = Corpus.load(self.folder / "out")
        self.assertEqual((corpus.command_override, corpus.modules[1].command), ((), ()))

    def test_refusals(self):
        out = ("--output_dir", self.folder / "out")
        self.refused(make_corpus, ("--input_dir", self.folder / "none", *out), "is not a directory")
        (self.folder / "empty").mkdir()
        self.refused(
            make_corpus, ("--input_dir", self.folder / "empty", *out), "has no .bc file", ExitCode.NOTHING_PRODUCED
        )
        self.refused(
            make_corpus, ("--input_dir", self.input, *out, "--default_args", "'-O2"), "not quoted as in a shell"
        )
        self.refused(
            make_corpus, ("--input_dir", self.input, *out, "--default_args=-O2 -mllvm"), "-mllvm lacks its argument"
        )
        corpus = self.corpus("corpus", 2)
        flags = ("--input_dir", corpus, "--output_dir", self.folder / "corpus/../corpus")
        self.refused(make_corpus, flags, "is the input, whose commands would be lost")
        self.assertTrue((corpus / "d0/m0.cmd").exists())
        for name in ("a/x y.o.bc", "b.bc"):
            (self.input / name).unlink()
        self.refused(make_corpus, ("--input_dir", self.input, *out), "would have no module", ExitCode.NOTHING_PRODUCED)


class CombineTest(CommandCase):
    def test_two_corpora(self):
        one, two = self.corpus("all/one", 5, b"first profile"), self.corpus("all/two", 3, b"second profile")
        _, said = self.run_command(combine_training_corpus, "--root_dir", self.folder / "all")
        self.assertIn("done 8 modules of 2 corpora", said)
        combined = Corpus.load(self.folder / "all")
        self.assertEqual(len(combined.modules), 8)
        self.assertEqual(combined.modules[0].name, "one/d0/m0")
        self.assertEqual({module.licence for module in combined.modules}, {"MIT"})
        for part in (one, two):
            for module in Corpus.load(part).modules:
                (same,) = combined.select([f"{part.name}/{module.name}"]).modules
                self.assertEqual((same.command, same.read_bitcode()), (module.command, module.read_bitcode()))
                (named,) = [word.partition("=")[2] for word in same.command if "files/" in word]
                self.assertEqual(same.file(named).read_bytes(), module.file(named).read_bytes())
                self.assertTrue((self.folder / "all" / named).is_file())
        self.assertEqual(len(combined.carried_files), 2)
        digest = combined.digest
        self.run_command(combine_training_corpus, "--root_dir", self.folder / "all", "--verbosity", "ERROR")
        self.assertEqual(Corpus.load(self.folder / "all").digest, digest)

    def test_links_in_a_part_or_in_the_root_lead_no_file_elsewhere(self):
        """A part's file that is a link is copied, not made one file with what it leads to; the root's is refused."""
        corpus = self.corpus("all/one", 1, b"profile")
        (carried,) = Corpus.load(corpus).carried_files
        secret = self.folder / "secret"
        (corpus / carried).rename(secret)
        (corpus / carried).symlink_to(secret)
        flags = ("--root_dir", self.folder / "all")
        self.run_command(combine_training_corpus, *flags)
        self.assertEqual((self.folder / "all" / carried).read_bytes(), b"profile")
        self.assertEqual(secret.stat().st_nlink, 1)
        outside = self.folder / "outside"
        (self.folder / "all" / "files").rename(outside)
        (outside / pathlib.Path(carried).name).unlink()
        (self.folder / "all" / "files").symlink_to(outside)
        self.refused(combine_training_corpus, flags, "is or lies below a symbolic link")
        self.assertEqual(list(outside.iterdir()), [])

    def test_refusals(self):
        flags = ("--root_dir", self.folder / "all")
        self.refused(combine_training_corpus, flags, "is not a directory")
        (self.folder / "all").mkdir()
        self.refused(
            combine_training_corpus, flags, "has no ./corpus_description.json|has no \\*/", ExitCode.NOTHING_PRODUCED
        )
        self.corpus("all/one", 2)
        self.corpus("all/two", 2, command_override=["-cc1", "-O3"])
        self.refused(
            combine_training_corpus,
            flags,
            "one and two differ in global_command_override .absent and \\['-cc1', '-O3'\\]",
        )
        self.assertFalse((self.folder / "all/corpus_description.json").exists())
        (self.folder / "all/two/d0/m0.bc").unlink()
        self.refused(combine_training_corpus, flags, "m0.bc: does not exist")


class SplitTest(CommandCase):
    def parts(self, *flags: str, source: pathlib.Path | None = None) -> tuple[set[str], set[str], str]:
        source = source or self.corpus("c")
        _, said = self.run_command(
            split_corpus, "--corpus", str(source), "--output_dir", str(self.folder / "s"), *flags
        )
        train, held_out = (
            {module.name for module in Corpus.load(self.folder / "s" / part).modules} for part in split.PARTS
        )
        whole = {module.name for module in Corpus.load(source).modules}
        self.assertEqual((train | held_out, train & held_out), (whole, set()))
        return train, held_out, said

    def test_by_hash_as_the_rules_do(self):
        train, held_out, said = self.parts()
        self.assertEqual({split.part_of(name) for name in held_out}, {split.HELD_OUT})
        self.assertEqual({split.part_of(name) for name in train}, {split.TRAIN})
        self.assertRegex(said, f"train: {len(train)} modules, [0-9,]+ bytes of bitcode -> ")
        self.assertEqual(self.parts()[:2], (train, held_out))

    def test_what_commands_name_goes_along(self):
        self.parts(source=self.corpus("c", profile=b"profile"))
        for part in split.PARTS:
            corpus = Corpus.load(self.folder / "s" / part)
            self.assertEqual(corpus.file(corpus.carried_files[0]).read_bytes(), b"profile")
            self.assertEqual(corpus.modules[0].licence, "MIT")
            self.assertIn(corpus.carried_files[0], " ".join(corpus.modules[0].command))

    def test_thinlto(self):
        source = self.corpus("c", has_thinlto=True, command_override=["<UNSPECIFIED>"])
        self.parts(source=source)
        corpus = Corpus.load(self.folder / "s/held_out")
        self.assertEqual((corpus.has_thinlto, corpus.command_override), (True, ("<UNSPECIFIED>",)))
        self.assertEqual(corpus.modules[0].read_thinlto_index(), BITCODE)

    def test_refusals(self):
        source = self.corpus("c")
        single = self.corpus("single", 1)
        self.refused(
            split_corpus,
            ("--corpus", single, "--output_dir", self.folder / "s"),
            "none of its 1 modules would be in",
            ExitCode.NOTHING_PRODUCED,
        )
        self.refused(split_corpus, ("--corpus", source, "--output_dir", source), "would be written over the corpus")
        profiled = self.corpus("p", profile=b"profile")
        (carried,) = (profiled / "files").iterdir()
        carried.write_bytes(b"another")
        self.refused(
            split_corpus,
            ("--corpus", profiled, "--output_dir", self.folder / "s"),
            "has other content than its name says",
        )


class CorpusInfoTest(CommandCase):
    def test_text_and_json(self):
        source = self.corpus("c", 3)
        said, _ = self.run_command(corpus_info, "--corpus", source)
        for expected in (Corpus.load(source).digest, "3 modules: ", "3  MIT", "3  -O 2"):
            self.assertIn(expected, said)
        said, _ = self.run_command(corpus_info, "--corpus", source, "--json")
        content = json.loads(said)
        found = (content["modules"], content["options"]["-O"]["values"], content["decisions"])
        self.assertEqual(found, (3, {"2": 3}, {}))
