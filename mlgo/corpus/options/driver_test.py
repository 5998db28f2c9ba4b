"""The driver's options are split as clang splits them, in every spelling that its table has."""

import unittest

from hypothesis import given, settings
from hypothesis import strategies as st

from mlgo.corpus.options.driver import belongs_to_build, is_level, named_files, output_of, parse_driver
from mlgo.corpus.options.table import chosen_table
from mlgo.run.testing.folder_case import FolderCase


def parsed(*words: str) -> list[tuple[str, tuple[str, ...]]]:
    return [(one.name, one.values) for one in parse_driver(words)]


class ParseTest(unittest.TestCase):
    def test_values_joined_and_separate(self):
        self.assertEqual(parsed("-oa.o", "-o", "b.o"), [("-o", ("a.o",)), ("-o", ("b.o",))])
        self.assertEqual(parsed("--output=a.o", "--output", "-c"), [("-o", ("a.o",)), ("-o", ("-c",))])
        self.assertEqual(parsed("-sectalign", "a", "b", "c", "-c"), [("-sectalign", ("a", "b", "c")), ("-c", ())])
        self.assertEqual(parsed("-Xarch_host", "-O3"), [("-Xarch_host", ("-O3",))])
        self.assertEqual(parsed("-Wl,-z,now"), [("-Wl,", ("-z,now",))])

    def test_an_alias_with_a_value_of_its_own(self):
        self.assertEqual(parsed("-fembed-bitcode", "-flto"), [("-fembed-bitcode=", ("all",)), ("-flto=", ("full",))])

    def test_inputs_and_what_is_unknown(self):
        self.assertEqual(parsed("a.c", "-", "-no-such-option"), [("", ()), ("", ()), ("-no-such-option", ())])
        self.assertEqual(parsed("--", "-c", "-o"), [("--", ("-c", "-o"))])
        self.assertEqual(parsed("-c", "-o"), [("-c", ()), ("-o", ())])

    def test_levels_are_no_other_options_that_begin_so(self):
        words = ["-ObjC", "-ObjC++", "-O2", "-Os", "-O0", "-Ofast", "--optimize=3", "-objc-isystem", "x"]
        levels = [one.words for one in parse_driver(words) if is_level(one)]
        self.assertEqual(levels, [("-O2",), ("-Os",), ("-O0",), ("-Ofast",), ("--optimize=3",)])

    def test_outputs(self):
        for words in (("-oa.o",), ("-o", "a.o"), ("--output=a.o",), ("--output", "a.o"), ("-MF", "-o", "-o", "a.o")):
            self.assertEqual(output_of([*words, "-c", "b.c"], "b.c"), "a.o", words)
        self.assertEqual(output_of(["-gen-cdb-fragment-path", "-o", "-c", "b.c"], "b.c"), "b.o")

    # Every option that takes the next word takes it here: no list by hand knows them all.
    @settings(max_examples=200, deadline=None)
    @given(st.sampled_from(sorted(name for name, one in chosen_table().driver.items() if one.kind == "Separate")))
    def test_no_value_is_taken_for_an_output(self, name):
        is_output = chosen_table().driver[name].alias[:1] == ("-o",)
        self.assertEqual(output_of([name, "-ob.o", "-c", "a.c"], "a.c"), "-ob.o" if is_output else "a.o")

    @settings(deadline=None)
    @given(st.lists(st.sampled_from([*chosen_table().driver, "a.c", "-", "x y", "-oa.o"]), max_size=6))
    def test_no_word_is_lost(self, words):
        self.assertEqual([word for one in parse_driver(words) for word in one.words], words)


class RulesTest(unittest.TestCase):
    def test_what_a_build_says_for_itself(self):
        for words in """
            -save-temps=obj | --save-temps | -gen-cdb-fragment-path d | -dependency-file a.d | -fembed-bitcode
            | --serialize-diagnostics a.dia | --write-dependencies | -MFa.d | -Wp,-MD,a.d | -ftime-trace=a.json
            | -fsave-optimization-record | -ggdb3 | -ffat-lto-objects
        """.split("|"):
            (one,) = parse_driver(words.split())
            self.assertTrue(belongs_to_build(one), words)
        for words in "-ObjC | -fPIC | -mcpu=x | -Wp,-DA | -fno-exceptions | -include -O2".split("|"):
            (one,) = parse_driver(words.split())
            self.assertFalse(belongs_to_build(one), words)


class NamedFilesTest(FolderCase):
    def setUp(self):
        super().setUp()
        for name in ("a.profdata", "p.so", "raw/default.profdata", "x.rsp", "my.decisions"):
            self.file(name)

    def names(self, *words, relative=False):
        return [str(path.relative_to(self.folder)) for path in named_files(words, self.folder if relative else None)]

    def test_absolute_names(self):
        folder = self.folder
        self.assertEqual(self.names(f"-fprofile-use={folder}/a.profdata", "-O2"), ["a.profdata"])
        self.assertEqual(self.names(f"-fprofile-use={folder}/raw"), ["raw/default.profdata"])
        self.assertEqual(self.names("-load", f"{folder}/p.so", f"-fplugin={folder}/p.so"), ["p.so"])
        self.assertEqual(self.names("-mllvm", f"-mlgo-decisions={folder}/my.decisions"), ["my.decisions"])
        self.assertEqual(self.names(f"-Wl,--version-script={folder}/a.profdata,{folder}/p.so"), ["a.profdata", "p.so"])
        self.assertEqual(self.names(f"@{folder}/x.rsp", f"-include{folder}/p.so"), ["x.rsp", "p.so"])

    def test_relative_names_need_a_folder(self):
        words = ("-fprofile-use=a.profdata", "p.so", "@x.rsp")
        self.assertEqual(self.names(*words), [])
        self.assertEqual(self.names(*words, relative=True), ["a.profdata", "p.so", "x.rsp"])

    def test_what_is_no_file(self):
        words = ("-I/usr", str(self.folder), "-DX=/nowhere/x", "\0", "/" * 5000, "", "-", "=", "files/0123-x")
        self.assertEqual(self.names(*words), [])
        self.assertEqual(self.names(*words, relative=True), [])
