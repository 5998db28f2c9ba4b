import shutil
import unittest

from mlgo.corpus import split
from mlgo.corpus.combination import combine
from mlgo.corpus.command import CompileCommand
from mlgo.corpus.corpus import Corpus, CorpusError, Module
from mlgo.corpus.fitting import chosen_modules
from mlgo.corpus.selection import copy_modules, equal_modules, part_of_corpus
from mlgo.corpus.split import write_parts
from mlgo.corpus.writer import CorpusWriter
from mlgo.run.exit_codes import ExitCode, RunError
from mlgo.run.testing.folder_case import FolderCase

NAMES = [f"lib/m{index}.c" for index in range(10)] + ["tool/main.c"]


class ChosenModulesTest(unittest.TestCase):
    def test_all_of_them(self):
        self.assertEqual(chosen_modules(NAMES, None, 1.0, seed=1), NAMES)

    def test_a_filter_and_a_part_rounded_up_in_their_order(self):
        chosen = chosen_modules(NAMES, "^lib/", 0.21, seed=1)
        self.assertEqual((len(chosen), sorted(chosen)), (3, chosen))
        self.assertEqual(chosen_modules(NAMES, "^lib/", 0.21, seed=1), chosen)
        self.assertNotEqual(chosen_modules(NAMES, "^lib/", 0.21, seed=2), chosen)

    def test_refusals(self):
        with self.assertRaisesRegex(RunError, "is no regular expression"):
            chosen_modules(NAMES, "[", 1.0, seed=1)
        for module_filter, rate in (("absent", 1.0), (None, 0.0)):
            with self.assertRaisesRegex(RunError, "leave none of 11 modules") as caught:
                chosen_modules(NAMES, module_filter, rate, seed=1)
            self.assertEqual(caught.exception.exit_code, ExitCode.NOTHING_PRODUCED)


class PartTest(FolderCase):
    def write(self, override: bool = False, merge: bool = True) -> Corpus:
        """Eight modules, each with a profile of its own among its options, and m8, which equals m1."""
        with CorpusWriter(self.folder / "whole", False, ("-cc1", "-O2") if override else None, merge=merge) as writer:
            for index in range(9):
                number = 1 if index == 8 else index
                profile = self.file(f"p{number}.profdata", str(number))
                command = None if override else ("-cc1", f"-fprofile-use={writer.add_file(profile)}")
                writer.add(f"m{index}", b"BC\xc0\xde%d" % number, command)
            writer.finish()
        return Corpus.load(self.folder / "whole", ["-mllvm -stats"])

    def test_digests_are_those_of_written_parts(self):
        for override in (False, True):
            with self.subTest(override=override):
                whole = self.write(override)
                parts = split.with_both_parts(split.by_hash(module.name for module in whole.modules))
                write_parts(whole, parts, self.folder / "parts")
                for part in split.PARTS:
                    written = Corpus.load(self.folder / "parts" / part, ["-mllvm -stats"])
                    found = part_of_corpus(whole, [name for name in parts if parts[name] == part])
                    self.assertEqual(found.digest, written.digest)
                    self.assertEqual(found.carried_files, written.carried_files)
                    names = [module.name for module in found.modules]
                    self.assertEqual(names, [module.name for module in written.modules])
                    self.assertEqual(found.select(names[:1]).carried_files, written.carried_files)

    def test_equal_modules(self):
        self.assertEqual(equal_modules(self.write(merge=False).modules), {"m8": "m1"})
        self.assertEqual(equal_modules(self.write().modules), {})


class CopyingTest(FolderCase):
    def test_carried_files_come_with_the_modules_that_name_them(self):
        carried = {}
        with CorpusWriter(self.folder / "whole") as writer:
            for name in ("a", "b", "c", "unnamed"):
                carried[name] = writer.add_file(self.file(name, name))
            writer.add("one", b"BC\xc0\xde1", ("-cc1", f"-fa={carried['a']}:{carried['b']}", "-O2"))
            writer.add("two", b"BC\xc0\xde2", ("-cc1", f"-fb={carried['b']}"))
            writer.add("three", b"BC\xc0\xde3", ("-cc1", f"-fc={carried['c']}"))
            writer.finish()
        corpus = Corpus.load(self.folder / "whole")
        with CorpusWriter(self.folder / "part") as writer:
            copy_modules(corpus, corpus.select(["one", "two"]).modules, writer)
            writer.finish()
        self.assertEqual(set(Corpus.load(self.folder / "part").carried_files), {carried["a"], carried["b"]})

    def test_links_to_secrets_of_this_machine_bring_none_into_a_copy(self):
        secret, profile = self.folder / "secret", self.folder / "a"
        secret.write_text("secret", encoding="utf-8")
        profile.write_text("profile", encoding="utf-8")
        with CorpusWriter(self.folder / "whole", has_thinlto=True) as writer:
            carried = writer.add_file(profile)
            writer.add("one", b"BC\xc0\xde", ("-cc1", f"-fa={carried}"), b"")
            writer.finish()
        for name, message in (
            ("one.bc", "does not start as bitcode does"),
            ("one.thinlto.bc", "does not start as bitcode does"),
            (carried, "has other content than its name"),
        ):
            with self.subTest(name):
                hostile = self.folder / name.replace("/", "_") / "part"
                shutil.copytree(self.folder / "whole", hostile)
                (hostile / name).unlink()
                (hostile / name).symlink_to(secret)
                corpus = Corpus.load(hostile)
                with CorpusWriter(hostile.with_name("copy"), has_thinlto=True) as writer:
                    with self.assertRaisesRegex(CorpusError, message):
                        copy_modules(corpus, corpus.modules, writer)
                if name == carried:
                    with self.assertRaisesRegex(CorpusError, message):
                        combine(hostile.parent)
                copies = [path for path in hostile.parent.rglob("*") if path.is_file() and not path.is_symlink()]
                self.assertFalse([path for path in copies if b"secret" in path.read_bytes()])

    def test_the_work_of_a_module_does_not_grow_with_the_carried_files(self):
        class Counted(str):
            """A command's word that counts how often a file is looked for in it."""

            looked = 0

            def __contains__(self, other):
                Counted.looked += 1
                return super().__contains__(other)

        with CorpusWriter(self.folder / "whole") as writer:
            for number in range(60):
                carried = writer.add_file(self.file(f"f{number}", str(number)))
                writer.add(f"m{number}", b"BC\xc0\xde%d" % number, ("-cc1", f"-f={carried}"))
            writer.finish()
        corpus = Corpus.load(self.folder / "whole")
        names = corpus.carried_files

        class Selected(Module):
            """A module whose command counts."""

            @property
            def recorded_command(self) -> CompileCommand:
                return CompileCommand(map(Counted, super().recorded_command))

        with CorpusWriter(self.folder / "copy") as writer:
            copy_modules(corpus, (Selected(module.name, module._contents) for module in corpus.modules), writer)
            writer.finish()
        self.assertEqual(Corpus.load(self.folder / "copy").carried_files, names)
        # Looked for in every command, the files would be looked for 60 times as often.
        self.assertLessEqual(Counted.looked, 4 * len(names))
