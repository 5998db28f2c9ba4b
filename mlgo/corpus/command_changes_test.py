"""--add_flags, --delete_flags, --replace_flags on commands, and on a corpus with the files that they name."""

import pathlib
import unittest

from mlgo.corpus.command_changes import command_changes
from mlgo.corpus.corpus import Corpus, CorpusError
from mlgo.corpus.options.parsing import CommandError
from mlgo.corpus.testing.made_up_corpus import made_up_corpus
from mlgo.run.exit_codes import RunError
from mlgo.run.testing.folder_case import FolderCase

_COMMAND = ("-cc1", "-triple", "x86_64", "-O2", "-split-dwarf-file", "a.dwo", "-mllvm", "-import-instr-limit=5")


def _changes(add=(), delete=(), replace=None):
    return command_changes(add, delete, replace or {}, lambda name: pathlib.Path("/user") / name)


class CommandChangesTest(unittest.TestCase):
    def test_options_are_added_at_the_end_and_left_out_with_their_values(self):
        changes = _changes(["-mllvm", "-inline-threshold=3"], ["-split-dwarf-file", "-import-instr-limit", "-g"])
        self.assertEqual(changes.apply(_COMMAND), ("-cc1", "-triple", "x86_64", "-O2", "-mllvm", "-inline-threshold=3"))

    def test_only_whole_names_count(self):
        self.assertEqual(_changes(delete=["-split", "-O", "-tri"]).apply(_COMMAND), _COMMAND[:3] + _COMMAND[4:])

    def test_a_value_is_replaced_in_the_form_that_it_has(self):
        changes = _changes(replace={"-import-instr-limit": "30", "-triple": "aarch64"})
        found = changes.apply(_COMMAND)
        self.assertEqual(found, ("-cc1", "-triple", "aarch64", *_COMMAND[3:6], "-mllvm", "-import-instr-limit=30"))
        self.assertEqual(_changes(replace={"-O": "z"}).apply(("-O2", "-Os")), ("-Oz", "-Oz"))

    def test_what_is_missing_cannot_be_replaced(self):
        with self.assertRaisesRegex(CommandError, "has no -target-cpu to replace"):
            _changes(replace={"-target-cpu": "x"}).apply(_COMMAND)
        with self.assertRaisesRegex(CommandError, "has no value to replace"):
            _changes(replace={"-disable-free": "x"}).apply(("-disable-free",))

    def test_contradictions_are_refused(self):
        for add, delete, replace, message in (
            (["-O2"], ["-O"], {}, "--add_flags and --delete_flags: both name -O"),
            (["-O2"], [], {"-O": "1"}, "--add_flags and --replace_flags: both name -O"),
            ([], ["-O"], {"-O": "1"}, "--delete_flags and --replace_flags: both name -O"),
            ([], [], {"-fthinlto-index": "x"}, "is set for each module"),
            (["-triple"], [], {}, "--add_flags: ends after -triple"),
            ([], [], {"-fprofile-instrument-use-path": "absent"}, "file /user/absent: cannot be read"),
        ):
            with self.subTest(message), self.assertRaisesRegex(RunError, message):
                _changes(add, delete, replace)


class ChangedCorpusTest(FolderCase):
    def setUp(self):
        super().setUp()
        self.profile = self.folder / "app.profdata"
        self.profile.write_bytes(b"profile")
        command = ("-cc1", "-O2", "-fprofile-instrument-use-path=/build/a")
        self.corpus = made_up_corpus(self.folder / "c", {"a": (b"a", command), "b": (b"b", command)})

    def changes(self, **flags):
        return command_changes(flags.get("add", ()), (), flags.get("replace", {}), pathlib.Path)

    def test_a_profile_of_the_user_becomes_a_carried_file(self):
        changed = self.corpus.changed(self.changes(replace={"-fprofile-instrument-use-path": str(self.profile)}))
        for module in changed.modules:
            (name,) = module.command.carried_files
            self.assertEqual(module.file(name).read_bytes(), b"profile")
            self.assertEqual(changed.carried_files, (name,))
            self.assertNotIn(str(self.folder), " ".join(module.command))

    def test_the_digest_depends_on_commands_and_on_files(self):
        def digest():
            replace = {"-fprofile-instrument-use-path": str(self.profile)}
            return self.corpus.changed(self.changes(replace=replace)).digest

        first = digest()
        self.profile.write_bytes(b"another")
        self.assertEqual(len({first, digest(), self.corpus.digest}), 3)
        self.assertNotEqual(self.corpus.changed(self.changes(add=["-ffast-math"])).digest, self.corpus.digest)
        self.assertIs(self.corpus.changed(self.changes()), self.corpus)

    def test_a_copy_has_the_same_changes(self):
        changed = self.corpus.with_override(["-cc1", "-O1"]).changed(self.changes(add=["-ffast-math"]))
        again = changed.reopened(self.folder / "c")
        self.assertEqual([m.command for m in again.modules], [("-cc1", "-O1", "-ffast-math")] * 2)
        self.assertEqual(again.digest, changed.digest)
        self.assertEqual([m.name for m in changed.select(["b"]).reopened(self.folder / "c").modules], ["b"])

    def test_an_added_file_of_the_description_s_author_stays_refused(self):
        with self.assertRaisesRegex(CorpusError, "nowhere: does not exist"):
            Corpus.load(self.folder / "nowhere")
        with self.assertRaisesRegex(CommandError, "-fprofile-instrument-use-path="):
            print(self.corpus.modules[0].command.portable)
