"""Options that may do more than change code are found before a compile, with counts and the flag that allows them."""

from mlgo.corpus.command import CommandError
from mlgo.corpus.command_check import check_commands, find_refused, notes
from mlgo.corpus.corpus import Corpus, CorpusError
from mlgo.corpus.testing.made_up_corpus import made_up_corpus
from mlgo.run.testing.folder_case import FolderCase

_STATS = ("-mllvm", "-stats")


class RefusalTest(FolderCase):
    def corpus(self, *commands: tuple[str, ...]) -> Corpus:
        return made_up_corpus(self.folder, {name: (name.encode(), words) for name, words in zip("abcdef", commands)})

    def test_all_are_listed_with_counts(self):
        corpus = self.corpus(("-O2", *_STATS), ("-O2",), ("-O2", *_STATS, "-ast-view"))
        self.assertEqual(find_refused(corpus), {"-mllvm -stats": ["a", "c"], "-ast-view": ["c"]})
        with self.assertRaises(CorpusError) as raised:
            check_commands(corpus)
        self.assertEqual(
            str(raised.exception),
            f"corpus {self.folder}: has commands with options that may do more than change code: -mllvm -stats (2"
            " modules, such as a), -ast-view (c). Build and extract it without them, or, if you trust the corpus, give"
            " --allow_option='-mllvm -stats' --allow_option='-ast-view'",
        )
        self.assertIn("-mllvm -stats (2 modules, such as a), -ast-view (c)", notes(corpus)[0])

    def test_no_flag_is_advised_for_a_response_file(self):
        for word, name in (("@a.rsp", "@a.rsp"), ("-target-cpu", "@b.rsp")):
            command = ("-O2", word) if word == name else ("-O2", word, name)
            corpus = Corpus.load(self.corpus(command).path, [word, name])
            with self.assertRaises(CorpusError) as raised:
                check_commands(corpus)
            self.assertIn(f"{name} (a). Build and extract it without them", str(raised.exception))
            self.assertNotIn("--allow_option", str(raised.exception))
            self.assertIn("no compile takes them", notes(corpus)[0])
            with self.assertRaisesRegex(CommandError, f"has {name}, .*. Write the words of response files into"):
                print(corpus.modules[0].command.portable)

    def test_allowed_options_are_kept_and_part_of_the_digest(self):
        plain = self.corpus(("-O2", *_STATS))
        path = plain.path
        for spelling in ("-mllvm -stats", "-mllvm  --stats", "-mllvm -stats=true"):
            allowed = Corpus.load(path, [spelling])
            check_commands(allowed)
            (module,) = allowed.modules
            self.assertEqual(module.command.portable, ("-O2", *_STATS))
            self.assertNotEqual(allowed.digest, plain.digest)
            self.assertEqual(allowed.digest, Corpus.load(path, ["-mllvm -stats"]).digest)
        self.assertEqual(Corpus.load(path, []).digest, plain.digest)
        with self.assertRaisesRegex(CorpusError, "-mllvm -stats"):
            check_commands(Corpus.load(path, ["-mllvm -stats-json", "-stats", "-mllvm"]))

    def test_harmless_commands(self):
        corpus = self.corpus(("-cc1", "-O2", "-triple", "x86_64-linux-gnu"))
        check_commands(corpus)
        self.assertEqual(notes(corpus), [])

    def test_one_command_for_all_counts_for_each_module(self):
        corpus = made_up_corpus(self.folder, {"a": (b"a", None), "b": (b"b", None)}, command_override=("-O2", *_STATS))
        self.assertEqual(find_refused(corpus), {"-mllvm -stats": ["a", "b"]})

    def test_an_option_without_its_argument_names_the_module(self):
        with self.assertRaisesRegex(CorpusError, "last option -mllvm, of a: lacks its argument"):
            check_commands(self.corpus(("-O2", "-mllvm")))
