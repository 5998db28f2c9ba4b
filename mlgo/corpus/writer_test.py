"""The corpus writer: writes only below its directory, depends only on what was added, and can be killed."""

import itertools
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile

from hypothesis import given, settings, strategies

from mlgo.corpus.contained_files import NameRefused, refusal
from mlgo.corpus.corpus import Corpus
from mlgo.corpus.writer import CorpusWriter, Duplicate
from mlgo.run.exit_codes import ExitCode, RunError
from mlgo.run.testing.folder_case import FolderCase

COMMAND = ("-cc1", "-O2", "-emit-obj")


def tree(root: pathlib.Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


class WriterTest(FolderCase):
    def setUp(self):
        super().setUp()
        self.out = self.folder / "out"


class FormatTest(WriterTest):
    def test_a_corpus_that_the_reader_loads(self):
        with CorpusWriter(self.out) as writer:
            self.assertTrue(writer.add("b/two.o", b"BC2", COMMAND))
            self.assertTrue(writer.add("a/one.o", b"BC1", (*COMMAND, "-DX=a b\udcff"), licence="MIT"))
            self.assertFalse((self.out / "corpus_description.json").exists())
            written = writer.finish()
        self.assertEqual((written.modules, written.duplicates), (("a/one.o", "b/two.o"), ()))
        corpus = Corpus.load(self.out)
        self.assertEqual([module.name for module in corpus.modules], ["a/one.o", "b/two.o"])
        self.assertEqual(corpus.modules[0].command, (*COMMAND, "-DX=a b\udcff"))
        self.assertEqual((self.out / "a/one.o.cmd").read_bytes(), b"-cc1\0-O2\0-emit-obj\0-DX=a b\xff\0")
        found = json.loads((self.out / "corpus_licences.json").read_text())
        self.assertEqual(found, {"modules": {"a/one.o": "MIT", "b/two.o": "NOASSERTION"}})

    def test_thinlto_and_override(self):
        with CorpusWriter(self.out, has_thinlto=True, command_override=["-O2"], durable=False) as writer:
            writer.add("m.o", b"BC", None, thinlto_index=b"")
            writer.finish()
        files = ["corpus_description.json", "corpus_licences.json", "m.o.bc", "m.o.thinlto.bc"]
        self.assertEqual(sorted(tree(self.out)), files)
        description = json.loads((self.out / "corpus_description.json").read_text())
        expected = {"global_command_override": ["-O2"], "has_thinlto": True, "modules": ["m.o"]}
        self.assertEqual(description, expected)

    def test_files_that_commands_read(self):
        profile = self.file("a.profdata", "profile")
        with CorpusWriter(self.out, durable=False) as writer:
            name = writer.add_file(profile)
            self.assertEqual(writer.add_file(profile), name)
            writer.add("m.o", b"BC", COMMAND)
            writer.finish()
        self.assertRegex(name, r"^files/[0-9a-f]{16}-a\.profdata$")
        self.assertEqual((self.out / name).read_bytes(), b"profile")
        with CorpusWriter(self.folder / "new") as writer, self.assertRaisesRegex(RunError, "absent.* cannot be read"):
            writer.add_file(self.folder / "absent")
        os.mkfifo(self.folder / "pipe")
        with (
            CorpusWriter(self.folder / "other") as writer,
            self.assertRaisesRegex(RunError, "it is a pipe, not a file"),
        ):
            writer.add_file(self.folder / "pipe")

    def test_an_override_known_late(self):
        with CorpusWriter(self.out, command_override=["?"], durable=False) as writer:
            writer.add("m", b"BC", None)
            writer.override_commands(("-cc1", "-O2"))
            writer.add_report({"objects": 1})
            writer.finish()
        description = json.loads((self.out / "corpus_description.json").read_text())
        self.assertEqual(description["global_command_override"], ["-cc1", "-O2"])
        self.assertEqual(json.loads((self.out / "extraction_report.json").read_text()), {"objects": 1})
        with CorpusWriter(self.out, durable=False) as writer:
            with self.assertRaisesRegex(RunError, "has a command per module"):
                writer.override_commands(())

    def test_a_name_too_long_leaves_nothing(self):
        with CorpusWriter(self.out, durable=False) as writer:
            with self.assertRaisesRegex(NameRefused, "too long"):
                writer.add("x" * 254, b"BC", COMMAND)
            writer.add("y", b"BC", COMMAND)
            self.assertEqual(writer.finish().modules, ("y",))

    def test_names_of_any_bytes(self):
        names = ["lib/libre2.a(dfa.o at 416)", "a b'\"$(x)\n", "\udcff\udc80", "é", "x" * 240, "files/a.o"]
        with CorpusWriter(self.out, durable=False) as writer:
            for index, name in enumerate(names):
                writer.add(name, b"BC%d" % index, COMMAND)
            self.assertEqual(writer.finish().modules, tuple(sorted(names)))
        self.assertEqual([module.name for module in Corpus.load(self.out).modules], sorted(names))

    def test_contents_that_are_refused(self):
        with CorpusWriter(self.out, durable=False) as writer:
            for arguments, expected in (
                (("m", b"", COMMAND), "has no bitcode"),
                (("m", b"BC", None), "has no command"),
                (("m", b"BC", ()), "command is empty"),
                (("m", b"BC", ("-cc1", "a\0b")), "holds a NUL"),
                (("m", b"BC", COMMAND, b"index"), "the corpus has no ThinLTO"),
            ):
                with self.assertRaisesRegex(RunError, expected):
                    writer.add(*arguments)
            with self.assertRaises(RunError) as caught:
                writer.finish()
        self.assertEqual(caught.exception.exit_code, ExitCode.NOTHING_PRODUCED)


class ContainmentTest(WriterTest):
    def test_names_that_lead_out(self):
        with CorpusWriter(self.out, durable=False) as writer:
            for name in ("", "/etc/m", "../m", "a/../../m", "a//m", "a/", ".", "./m", "a\0b", "\ud800"):
                with self.subTest(name), self.assertRaisesRegex(NameRefused, "so it could lie outside the corpus"):
                    writer.add(name, b"BC", COMMAND)
        self.assertEqual(sorted(os.listdir(self.folder)), ["out"])

    def test_links_that_lie_in_the_directory(self):
        outside = self.file("outside/m.bc", "precious").parent
        self.file("out/.corpus_unfinished")
        (self.out / "folder").symlink_to(outside)
        (self.out / "m.bc").symlink_to(outside / "m.bc")
        (self.out / "corpus_description.json").symlink_to(outside / "m.bc")
        os.link(outside / "m.bc", self.out / "hard.bc")
        os.mkfifo(self.out / "pipe.bc")
        with CorpusWriter(self.out, durable=False) as writer:
            with self.assertRaisesRegex(NameRefused, "symbolic link"):
                writer.add("folder/m", b"BC", COMMAND)
            for name in ("m", "hard", "pipe"):
                writer.add(name, b"BC of " + name.encode(), COMMAND)
            writer.finish()
        self.assertEqual(tree(outside), {"m.bc": b"precious"})
        self.assertEqual((self.out / "hard.bc").read_bytes(), b"BC of hard")
        for name in ("m.bc", "pipe.bc", "corpus_description.json"):
            self.assertTrue((self.out / name).is_file() and not (self.out / name).is_symlink(), name)

    def test_collisions_in_either_order(self):
        for first, second in (
            (("x", b"i"), ("x.thinlto", b"j")),
            (("x", b"i"), ("x.bc/y", b"j")),
            (("x", b"i"), ("x.cmd/y/z", b"j")),
            (("x", b"i"), ("x", b"j")),
        ):
            for index, order in enumerate(([first, second], [second, first])):
                out = self.folder / f"{second[0]}-{index}".replace("/", "_")
                with CorpusWriter(out, has_thinlto=True, durable=False) as writer:
                    said = "(its file .* belongs to|its folder .* is a file of|was added before with other content)"
                    with self.subTest(order), self.assertRaisesRegex(NameRefused, said):
                        for name, content in order:
                            writer.add(name, content, COMMAND, thinlto_index=content)

    def test_names_of_the_corpus_itself(self):
        with CorpusWriter(self.out, durable=False) as writer:
            writer.add("corpus_description.json", b"BC", COMMAND)  # Its files are corpus_description.json.bc and .cmd.
            with self.assertRaisesRegex(NameRefused, "belongs to the corpus itself"):
                writer._claim("module x", ("corpus_description.json",))

    @settings(deadline=None, max_examples=40)
    @given(strategies.text(alphabet="a./\0\udcff\ud800é ", max_size=8))
    def test_what_is_not_refused_stays_below(self, name):
        if refusal(name) is None:
            self.assertEqual(os.path.normpath(name), name)
            self.assertFalse(os.path.isabs(name) or name.split("/")[0] == "..")


class DeterminismTest(WriterTest):
    def test_any_order_gives_the_same_directory(self):
        calls = [
            ("b", b"one", COMMAND),
            ("a", b"one", COMMAND),  # A duplicate which sorts before b.
            ("c", b"one", (*COMMAND, "-g")),  # The same bitcode, another command.
            ("d", b"two", COMMAND),
        ]
        results = []
        for index, order in enumerate(itertools.permutations(calls)):
            with CorpusWriter(self.folder / f"{index}", durable=False) as writer:
                for call in order:
                    writer.add(*call)
                written = writer.finish()
            results.append(tree(self.folder / f"{index}"))
            self.assertEqual(written.duplicates, (Duplicate("b", "a"),))
            self.assertTrue(os.path.samefile(self.folder / f"{index}/a.bc", self.folder / f"{index}/c.bc"))
        self.assertEqual(results, [results[0]] * len(results))
        self.assertNotIn("b.bc", results[0])

    def test_the_lowest_rank_stays(self):
        for index, order in enumerate(itertools.permutations([("a", 1), ("b", 0), ("c", 0)])):
            with CorpusWriter(self.folder / f"{index}", durable=False) as writer:
                for name, rank in order:
                    writer.add(name, b"BC", COMMAND, rank=rank)
                self.assertEqual(writer.result().modules, ("b",))

    @settings(max_examples=15, deadline=None)
    @given(strategies.lists(strategies.tuples(*map(strategies.sampled_from, ("abcde", "xyz"))), min_size=1))
    def test_each_content_once_under_its_first_name(self, pairs):
        modules = dict(pairs)
        with tempfile.TemporaryDirectory() as folder:
            with CorpusWriter(folder, durable=False) as writer:
                for name, content in modules.items():
                    writer.add(name, content.encode(), COMMAND)
                    self.assertFalse(writer.add(name, content.encode(), COMMAND))
                written = writer.finish()
            expected = {min(name for name in modules if modules[name] == content) for content in modules.values()}
            self.assertEqual(set(written.modules), expected)
            self.assertEqual({path.stem for path in pathlib.Path(folder).glob("*.bc")}, expected)


class ResumeTest(WriterTest):
    def fill(self, contents: dict[str, bytes]) -> None:
        with CorpusWriter(self.out, durable=False) as writer:
            for name, content in contents.items():
                writer.add(name, content, COMMAND)
            writer.finish()

    def test_killed_at_any_point(self):
        contents = {f"folder{index % 7}/m{index}": b"%d" % index * 5000 for index in range(300)}
        self.fill(contents)
        expected = tree(self.out)
        program = (
            "import sys\nfrom mlgo.corpus.writer import CorpusWriter\n"
            "with CorpusWriter(sys.argv[1]) as writer:\n"
            "    for index in range(300):\n"
            "        writer.add(f'folder{index % 7}/m{index}', b'%d' % index * 5000, ('-cc1', '-O2', '-emit-obj'))\n"
            "        print(index, flush=True)\n"
        )
        for stop in (1, 40, 250):
            out = self.folder / f"killed{stop}"
            environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
            command = [sys.executable, "-c", program, str(out)]
            with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) as child:
                assert child.stdout is not None
                for _ in range(stop):
                    child.stdout.readline()
                child.send_signal(signal.SIGKILL)
                child.stdout.read()
            self.assertFalse((out / "corpus_description.json").exists())
            self.assertTrue((out / ".corpus_unfinished").exists())
            kept = (out / "folder0/m0.bc").stat()
            (out / "folder0/m0.cmd").write_bytes(b"half")
            self.out = out
            self.fill(contents)
            self.assertEqual(tree(out), expected)
            self.assertEqual((out / "folder0/m0.bc").stat().st_ino, kept.st_ino)

    def test_what_an_earlier_corpus_left(self):
        self.fill({"old/m": b"1", "same": b"2"})
        self.file("out/notes.txt", "the user's own")
        self.file("out/.0123456789abcdef.partial", "unfinished")
        self.file("out/part/corpus_description.json", "another corpus")
        self.file("out/part/m.bc", "of it")
        self.fill({"new": b"3", "same": b"2"})
        kept = "corpus_description.json corpus_licences.json new.bc new.cmd notes.txt part/corpus_description.json"
        self.assertEqual(sorted(tree(self.out)), [*kept.split(), "part/m.bc", "same.bc", "same.cmd"])
        self.assertFalse((self.out / "old").exists())

    def test_a_directory_that_is_no_corpus(self):
        self.file("out/thesis.bc", "years of work")
        with self.assertRaisesRegex(RunError, "holds files and is not a corpus. give a new"):
            CorpusWriter(self.out, durable=False)

    def test_a_corpus_stays_until_something_is_added(self):
        with CorpusWriter(self.out) as writer:
            writer.add("a", b"BC", COMMAND)
            writer.finish()
        with CorpusWriter(self.out) as writer:
            self.assertEqual(len(Corpus.load(self.out).modules), 1)
            writer.add("b", b"BC", COMMAND)
            self.assertFalse((self.out / "corpus_description.json").exists())

    def test_two_writers(self):
        with CorpusWriter(self.out, durable=False):
            with self.assertRaisesRegex(RunError, "is being written by another process"):
                CorpusWriter(self.out, durable=False)
