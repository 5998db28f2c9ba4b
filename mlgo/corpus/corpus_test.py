import json
import os
import re

from mlgo.corpus.corpus import Corpus, CorpusError, Module, join_command, split_command
from mlgo.run.exit_codes import ExitCode
from mlgo.run.testing.folder_case import FolderCase


class CorpusCase(FolderCase):
    """A corpus of two modules in `folder`."""

    def setUp(self):
        super().setUp()
        self.write({"b/two.c": b"BC2", "a/one.c": b"BC1"})

    def write(self, modules: dict[str, bytes], folder: str = ".") -> None:
        for name, bitcode in modules.items():
            self.file(f"{folder}/{name}.bc", bitcode)
            self.file(f"{folder}/{name}.cmd", b"-cc1\0-O2\0")
        self.describe({"modules": list(modules), "has_thinlto": False}, folder)

    def describe(self, description, folder: str = ".") -> None:
        self.file(f"{folder}/corpus_description.json", json.dumps(description))

    def refused(self, expected: str, exit_code=ExitCode.USER_ERROR):
        with self.assertRaisesRegex(CorpusError, re.escape(expected)) as caught:
            Corpus.load(self.folder)
        self.assertEqual(caught.exception.exit_code, exit_code)


class CorpusTest(CorpusCase):
    def test_modules_are_sorted(self):
        corpus = Corpus.load(self.folder)
        self.assertEqual([module.name for module in corpus.modules], ["a/one.c", "b/two.c"])
        self.assertEqual(corpus.modules[0].read_bitcode(), b"BC1")
        self.assertEqual(corpus.modules[0].command, ("-cc1", "-O2"))

    def test_digest_depends_on_content_only(self):
        digest = Corpus.load(self.folder).digest
        self.write({"a/one.c": b"BC1", "b/two.c": b"BC2"}, "elsewhere")
        self.assertEqual(Corpus.load(self.folder / "elsewhere").digest, digest)
        for modules in ({"a/one.c": b"BC1", "b/two.c": b"BC3"}, {"a/one.c": b"BC1"}):
            self.write(modules, "elsewhere")
            self.assertNotEqual(Corpus.load(self.folder / "elsewhere").digest, digest)
        self.file("a/one.c.cmd", b"-cc1\0-O3\0")
        self.assertNotEqual(Corpus.load(self.folder).digest, digest)

    def test_select(self):
        corpus = Corpus.load(self.folder)
        self.assertEqual([module.name for module in corpus.select(["b/two.c"]).modules], ["b/two.c"])
        with self.assertRaisesRegex(CorpusError, "has no module 'c'. check the names"):
            corpus.select(["c"])

    def test_missing_files(self):
        (self.folder / "a/one.c.bc").unlink()
        self.refused("one.c.bc: does not exist, but corpus_description.json lists its module. make the corpus again")
        self.file("a/one.c.bc", b"x")
        (self.folder / "a/one.c.cmd").unlink()
        self.refused("one.c.cmd: does not exist")

    def test_empty_files(self):
        self.file("a/one.c.bc", b"")
        self.file("b/two.c.cmd", b"")
        corpus = Corpus.load(self.folder)
        module = corpus.modules[0]
        for what in (module.read_bitcode, lambda: module.bitcode_size, lambda: corpus.digest):
            with self.assertRaisesRegex(CorpusError, "one.c.bc: is empty. make"):
                what()
        with self.assertRaisesRegex(CorpusError, "two.c.cmd: is empty. make"):
            print(corpus.modules[1].command)

    def test_a_module_without_a_corpus(self):
        self.file("x", b"BC")
        module = Module.at("m", self.folder / "x", ["-cc1"])
        self.assertEqual((module.command, module.read_bitcode(), module.bitcode_size), (("-cc1",), b"BC", 2))
        self.assertEqual(module.bitcode_file(), self.folder / "x")
        self.assertIsNone(module.thinlto_index_file())
        self.assertEqual(module.licence, "NOASSERTION")

    def test_a_thinlto_corpus(self):
        modules = ["a/one.c", "b/two.c"]
        self.describe({"modules": modules, "has_thinlto": True, "global_command_override": ["-cc1", "-O3"]})
        self.refused("a/one.c.thinlto.bc: does not exist")
        for name in modules:
            (self.folder / f"{name}.cmd").unlink()
            self.file(f"{name}.thinlto.bc", b"INDEX")
        corpus = Corpus.load(self.folder)
        self.assertTrue(corpus.has_thinlto)
        self.assertEqual(corpus.modules[1].command, ("-cc1", "-O3"))
        self.assertEqual(corpus.modules[1].thinlto_index_file(), self.folder / "b/two.c.thinlto.bc")
        digest = corpus.digest
        self.file("a/one.c.thinlto.bc", b"OTHER")
        self.assertNotEqual(Corpus.load(self.folder).digest, digest)

    def test_a_command_that_nobody_filled_in(self):
        self.describe({"modules": ["a/one.c"], "global_command_override": ["<UNSPECIFIED>"]})
        corpus = Corpus.load(self.folder)
        with self.assertRaisesRegex(CorpusError, "corpus_description.json: leaves .* open .*--link_command"):
            print(corpus.modules[0].command)
        self.assertEqual(len(corpus.digest), 64)

    def test_an_empty_override_is_none(self):
        # As mlgo-utils' make_corpus writes it without --default_args.
        self.describe({"modules": ["a/one.c", "b/two.c"], "global_command_override": []})
        digest = Corpus.load(self.folder).digest
        self.assertIsNone(Corpus.load(self.folder).command_override)
        (self.folder / "a/one.c.cmd").unlink()
        self.refused("a/one.c.cmd: does not exist")
        (self.folder / "b/two.c.cmd").unlink()
        corpus = Corpus.load(self.folder)
        self.assertEqual([module.command for module in corpus.modules], [(), ()])
        self.assertEqual(corpus.command_override, ())
        self.assertNotEqual(corpus.digest, digest)

    def test_carried_files(self):
        digest = Corpus.load(self.folder).digest
        self.file("files/README", "not ours")
        self.assertEqual(Corpus.load(self.folder).digest, digest)
        self.file("files/0123456789abcdef-a.profdata", b"profile")
        corpus = Corpus.load(self.folder)
        self.assertEqual(corpus.carried_files, ("files/0123456789abcdef-a.profdata",))
        self.assertNotEqual(corpus.digest, digest)
        self.assertEqual(corpus.modules[0].file(corpus.carried_files[0]).read_bytes(), b"profile")

    def test_licences(self):
        self.assertEqual(Corpus.load(self.folder).modules[0].licence, "NOASSERTION")
        self.file("corpus_licences.json", json.dumps({"modules": {"b/two.c": "MIT OR Apache-2.0"}}))
        licences = [module.licence for module in Corpus.load(self.folder).modules]
        self.assertEqual(licences, ["NOASSERTION", "MIT OR Apache-2.0"])
        for broken in ("[]", '{"modules": ["a"]}', '{"modules": {"a": 1}}', "{"):
            self.file("corpus_licences.json", broken)
            with self.assertRaisesRegex(CorpusError, "corpus_licences.json.*is not"):
                print(Corpus.load(self.folder).modules[0].licence)

    def test_description(self):
        for description, expected in (
            ([], 'is not an object with a list "modules"'),
            ({"modules": "a"}, 'is not an object with a list "modules"'),
            ({"modules": ["a/one.c", "a/one.c"]}, "lists 'a/one.c' twice"),
            ({"modules": ["../one.c"]}, "lists '../one.c', which is not a relative path inside the corpus"),
            ({"modules": ["/one.c"]}, "lists '/one.c', which is not"),
            ({"modules": ["a/./one.c"]}, "lists 'a/./one.c', which is not"),
            ({"modules": [1]}, "lists 1, which is not"),
            ({"modules": ["\ud800"]}, "lists '\\ud800', which is not"),
            ({"modules": ["a/one.c"], "has_thinlto": "no"}, "which is neither true nor false"),
            ({"modules": ["a/one.c"], "global_command_override": "-O2"}, "that is not a list of arguments"),
            ({"modules": ["a/one.c"], "global_command_override": ["\0"]}, "that is not a list of arguments"),
            ({"modules": ["a", "a.thinlto"], "has_thinlto": True}, "so that a.thinlto.bc has two meanings"),
        ):
            self.describe(description)
            self.refused(expected)
        self.describe({"modules": []})
        self.refused("lists no module", ExitCode.NOTHING_PRODUCED)
        self.file("corpus_description.json", "{")
        self.refused("is not JSON at line 1")
        (self.folder / "corpus_description.json").unlink()
        self.refused("corpus_description.json): does not exist. make the corpus again")
        (self.folder / ".corpus_unfinished").touch()
        self.refused("corpus_description.json): does not exist. run the command that was writing this corpus again")

    def test_commands_survive(self):
        for command in (("-cc1",), ("-cc1", "", "a b"), ("-cc1", "\udcff")):
            self.assertEqual(split_command(join_command(command)), command)
        self.assertEqual(split_command(b"-cc1\0-O2"), ("-cc1", "-O2"))


class StrangeFilesTest(CorpusCase):
    """What lies where a file of a corpus should be, and what reading it says: none of it is waited for or read."""

    STRANGE = {
        "a pipe": (os.mkfifo, "it is a pipe, not a file"),
        "an endless device": (lambda path: path.symlink_to("/dev/zero"), "it is a device, not a file"),
        "a directory": (os.mkdir, "it is a directory, not a file"),
        "a dangling link": (lambda path: path.symlink_to("nowhere"), "No such file"),
        "a sparse file": (lambda path: os.truncate(path, 200 * 1024**3), "it has 214748364800 bytes, more than the"),
    }

    def each(self, name: str):
        """Makes each of STRANGE at `name`; yields its message."""
        for what, (make, message) in self.STRANGE.items():
            path = self.folder / name
            path.rmdir() if path.is_dir() else path.unlink(missing_ok=True)
            if what == "a sparse file":
                path.touch()
            make(path)
            with self.subTest(what, name=name):
                yield message

    def test_description(self):
        for message in self.each("corpus_description.json"):
            self.refused("larger than" if "bytes" in message else message)

    def test_bitcode(self):
        (module, _) = Corpus.load(self.folder).modules
        for message in self.each("a/one.c.bc"):
            with self.assertRaisesRegex(CorpusError, f"one.c.bc: cannot be read: .*{message}"):
                module.read_bitcode()

    def test_command(self):
        (module, _) = Corpus.load(self.folder).modules
        for message in self.each("a/one.c.cmd"):
            with self.assertRaisesRegex(CorpusError, f"one.c.cmd: .*({message}|more than the 4194304 allowed)"):
                str(module.command)

    def test_carried_files_that_would_be_folders_are_none(self):
        for name in ("0123456789abcdef-..", "0123456789abcdef-.", "0123456789abcdef-...", "0123456789abcdef-a"):
            self.file(f"files/{name}")
        expected = ("files/0123456789abcdef-...", "files/0123456789abcdef-a")
        self.assertEqual(Corpus.load(self.folder).carried_files, expected)

    def test_the_corpus_itself(self):
        os.mkfifo(self.folder / "pipe")
        with self.assertRaisesRegex(CorpusError, "pipe: is no directory"):
            Corpus.load(self.folder / "pipe")
