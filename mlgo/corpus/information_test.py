import json
import tracemalloc

from mlgo.corpus import information
from mlgo.corpus.command import CompileCommand
from mlgo.corpus.corpus import Corpus
from mlgo.corpus.testing.made_up_corpus import made_up_corpus
from mlgo.corpus.writer import CorpusWriter
from mlgo.run.testing.folder_case import FolderCase


class InformationTest(FolderCase):
    def test_options(self):
        line = "-cc1 -O2 -triple x86_64 -mllvm -a=1 -mllvm -b -D -O3 -ffp-contract=on -pic-level 2 -v -unknown=1"
        expected = {"-cc1": "", "-O": "2", "-triple": "x86_64", "-mllvm -a": "1", "-mllvm -b": "", "-D": "-O3"}
        expected |= {"-ffp-contract": "on", "-pic-level": "2", "-v": "", "-unknown": "1"}
        self.assertEqual(list(information.options_of(CompileCommand(line.split()))), list(expected.items()))

    def test_commands_are_not_held_in_memory(self):
        commands = [("-cc1", f"-D{'x' * 300_000}", "-pic-level", str(number)) for number in range(40)]
        corpus = made_up_corpus(self.folder / "c", {f"m{words[-1]}": (b"BC", words) for words in commands})
        del commands
        tracemalloc.start()
        self.addCleanup(tracemalloc.stop)
        inspected = information.inspect(corpus)
        # The 40 commands have 12 MB.
        self.assertLess(tracemalloc.get_traced_memory()[1], 6e6)
        self.assertEqual(inspected.same_object, 0)

    def test_a_corpus(self):
        with CorpusWriter(self.folder / "c") as writer:
            carried = writer.add_file(self.file("a.profdata", "12345"))
            writer.add("a", b"BC" * 10, ("-cc1", "-O2", f"-fprofile-instrument-use-path={carried}"), licence="MIT")
            writer.add("b", b"BC" * 10, ("-cc1", "-O2"), licence="MIT")
            writer.add("c", b"BC" * 10, ("-cc1", "-Oz"))
            writer.add("d", b"other", ("-cc1", "-O2", "-fprofile-sample-use=/p", "-mllvm", "-stats"))
            writer.add("f", b"last", ("-cc1", "-O2", "-mllvm"))
            writer.finish()
        # A corpus of mlgo-utils may hold a module twice.
        description = json.loads((self.folder / "c/corpus_description.json").read_bytes())
        for suffix in (".bc", ".cmd"):
            self.file(f"c/e{suffix}", (self.folder / f"c/b{suffix}").read_bytes())
        description["modules"].append("e")
        self.file("c/corpus_description.json", json.dumps(description))
        read = []
        found = information.inspect(Corpus.load(self.folder / "c"), lambda: read.append(1))
        self.assertEqual((found.modules, len(read)), (6, 6))
        sizes = [found.bytes[kind] for kind in ("bitcode", "carried_files", "thinlto_indices")]
        self.assertEqual(sizes, [89, 5, 0])
        self.assertEqual(list(found.options)[:2], ["-O", "-cc1"])
        self.assertEqual(found.options["-O"], information.Option(5, {"2": 4, "z": 1}))
        self.assertEqual(found.levels, {"O2": 4, "Oz": 1})
        self.assertEqual(found.licences, {"NOASSERTION": 4, "MIT": 2})
        self.assertEqual((found.duplicates, found.same_object, found.duplicate_bytes), ((("a", "b", "c", "e"),), 1, 60))
        self.assertEqual(found.machine_paths, {"d": "-fprofile-sample-use=/p"})
        self.assertEqual(found.refused, {"-fprofile-sample-use=": 1, "-mllvm -stats": 1})
        self.assertEqual(found.unusable, {"f": "the recorded command's last option -mllvm lacks its argument"})
        json.dumps(found.to_json())
        text = "\n".join(information.lines(found))
        for expected in (
            "6 modules: 89 bytes of bitcode",
            "3 modules have the bitcode of another one (60 bytes), 1 of them also its command",
            "a = b = c = e",
            "1 commands need absolute paths, such as -fprofile-sample-use=/p of d",
            "refused unless allowed (--allow_option='-mllvm -stats'): in 1 commands, may do more than change code",
            "2  MIT",
            "5  -O: 2 (4), z (1)",
            "4  -O2, for regalloc_eviction, regalloc_priority",
            "1  -Oz, for inlining_for_size, regalloc_eviction, regalloc_priority",
        ):
            self.assertIn(expected, text)

    def test_a_command_for_all(self):
        settings = {"has_thinlto": True, "command_override": ["<UNSPECIFIED>"]}
        found = information.inspect(made_up_corpus(self.folder / "c", {"a": (b"BC", None)}, **settings))
        self.assertEqual(found.bytes, {"bitcode": 2, "commands": 0, "thinlto_indices": 5, "carried_files": 0})
        text = "\n".join(information.lines(found))
        self.assertIn("1 ThinLTO modules", text)
        self.assertIn("one command for all of them: <UNSPECIFIED>", text)
        self.assertEqual(found.levels, {"unknown": 1})

    def test_levels_of_a_build_that_is_not_optimised(self):
        found = information.inspect(made_up_corpus(self.folder / "c", {"a": (b"BC", ("-cc1",))}))
        self.assertIn("1  -O0, for no problem", "\n".join(information.lines(found)))
