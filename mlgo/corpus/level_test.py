from mlgo.corpus.command import CompileCommand
from mlgo.corpus.level import levels_of, notes
from mlgo.corpus.testing.made_up_bitcode import FOR_SIZE, MIN_SIZE, OPTIMIZE_NONE, made_up_bitcode
from mlgo.corpus.testing.made_up_corpus import made_up_corpus
from mlgo.run.testing.folder_case import FolderCase

_SMALL = made_up_bitcode([[MIN_SIZE, FOR_SIZE]] * 3)
_FOR_SPEED = made_up_bitcode([[]] * 3 + [[MIN_SIZE, FOR_SIZE]])
_NOT_OPTIMISED = made_up_bitcode([[OPTIMIZE_NONE]] * 3)


class LevelTest(FolderCase):
    def levels(self, command: tuple[str, ...], *contents: bytes, **settings) -> list[str]:
        """The levels of modules with `contents` and `command`."""
        own = None if settings.get("command_override") else command
        modules = {name: (content, own) for name, content in zip("abcdef", contents)}
        return list(levels_of(made_up_corpus(self.folder, modules, **settings)).values())

    def test_the_last_level_of_a_command_counts(self):
        for level, commands in {
            "O0": "-cc1 | -cc1 -O0 | -cc1 -O2 -O0",
            "O1": "-cc1 -O | -cc1 -Og | -cc1 -O1",
            "O2": "-cc1 -O2 -D -O0 | -cc1 -O2 -mllvm -O0 | -O2",
            "O3": "-cc1 -Oz -O3 | -cc1 -O4 | -cc1 -O9 | -cc1 -Ofast",
            "Os": "-cc1 -Os",
            "Oz": "-cc1 -O3 -Oz",
        }.items():
            for words in commands.split("|"):
                self.assertEqual(CompileCommand(words.split()).level, level, words)

    def test_whoever_makes_a_corpus_is_told_of_modules_that_are_not_optimised(self):
        modules = {"a": (b"a", ("-cc1", "-O2")), "b": (b"b", ("-cc1", "-O0")), "c": (b"c", ("-cc1",))}
        corpus = made_up_corpus(self.folder, modules)
        levels, note = notes(corpus)
        self.assertEqual(levels, "optimisation levels: 2 modules at -O0, 1 modules at -O2")
        self.assertIn("note: 2 of 3 modules are compiled at -O0, such as b; no policy decides", note)
        self.assertEqual(notes(corpus.select(["a"])), ["optimisation levels: 1 modules at -O2"])

    def test_a_recorded_command_tells_the_level(self):
        self.assertEqual(self.levels(("-cc1", "-O2"), _SMALL, _FOR_SPEED), ["O2", "O2"])

    def test_a_thinlto_back_end_is_at_the_level_of_its_functions(self):
        found = self.levels(("-cc1", "-O2"), _SMALL, _FOR_SPEED, _NOT_OPTIMISED, b"BC", has_thinlto=True)
        self.assertEqual(found, ["Oz", "O2", "O0", "O2"])
        self.assertEqual(self.levels(("-cc1", "-O0"), _SMALL, has_thinlto=True), ["O0"])

    def test_one_command_for_all_does_not_make_code_small(self):
        contents = (_SMALL, _FOR_SPEED, _NOT_OPTIMISED, made_up_bitcode([[FOR_SIZE]]))
        self.assertEqual(self.levels((), *contents, command_override=("-Oz",)), ["Oz", "O2", "O0", "Os"])
