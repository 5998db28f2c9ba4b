import pathlib
import unittest

from hypothesis import example, given, settings
from hypothesis import strategies as st

from mlgo.corpus.command import CommandError, CompileCommand, RefusedOptionsError
from mlgo.corpus.options import clang_rules, llvm_rules
from mlgo.corpus.options.parsing import LLVM, parse_command
from mlgo.corpus.options.table import chosen_table, read_table
from mlgo.corpus.options.verdict import CARRIED_FILE
from mlgo.problems.slots import policy_slots

_FILE = "files/0123456789abcdef-a"


class KeptTest(unittest.TestCase):
    def test_options_that_change_code(self):
        for words in (
            "-O2 -triple x86_64-pc-linux-gnu -target-cpu x86-64-v3 -target-feature -x87 -target-feature +avx2",
            "-mrelocation-model pic -pic-level 2 -pic-is-pie -mframe-pointer=all -funwind-tables=2 -fsanitize=address",
            "-main-file-name -I -object-file-name=/b/a.obj -fno-builtin-memcpy -ffp-contract=on",
            "-mllvm -tail-dup-size=2",
            "-mllvm -inline-threshold=5 -mllvm --inline-threshold=-5 -mllvm -regalloc=greedy -mllvm -enable-gvn-hoist",
            "-mllvm -inline-threshold -mllvm 5 -mllvm -enable-gvn-hoist=false -mllvm -x86-align-branch=jcc+fused",
            f"-fprofile-instrument-use-path={_FILE}.profdata -mllvm -sample-profile-file={_FILE}",
            f"-fbasic-block-sections=list={_FILE} -mllvm -sample-profile-file -mllvm {_FILE}",
        ):
            self.assertEqual(CompileCommand(words.split()).portable, tuple(words.split()))


class RefusedTest(unittest.TestCase):
    def refused(self, *words: str, name: str | None = None) -> None:
        """Checks that `words` are refused, by names of their own. Args: name: an option that is named."""
        with self.subTest(words):
            with self.assertRaisesRegex(RefusedOptionsError, "has .*, which may do more than change code") as raised:
                print(CompileCommand(["-O2", *words, "-faddrsig"]).portable)
            for option in raised.exception.options:
                last = option.rpartition(" ")[2].lstrip("-")
                self.assertTrue(any(word.lstrip("-").startswith(last) for word in words), option)
            if name is not None:
                self.assertIn(name, raised.exception.options)

    def test_options_of_llvm_that_print_write_or_run(self):
        for option in f"""
            -print-changed=diff -print-changed-diff-path={_FILE} -print-after-all -info-output-file=x -training-log=x
            -ir-dump-directory=x -dot-cfg-dir=x -stats --stats -time-passes -load=x.so -debug-pass=Structure
            -opt-bisect-limit=3 -exec-on-ir-change=x -inliner-interactive-channel-base=x -pass-remarks-output=x
            -crash-diagnostics-dir=x -polly-export -no-such-option -no-such-option=3
        """.split():
            name = f"-mllvm -{option.lstrip('-').partition('=')[0]}"
            self.refused("-mllvm", option, name=name)

    def test_options_of_clang_that_print_write_or_run(self):
        words = "-fdump-record-layouts -ast-view -fdebug-pass-manager -version -emit-html -mmlir=x"
        for option in words.split():
            self.refused(option)
        self.refused("-mdebug-pass", "Structure", name="-mdebug-pass")

    def test_words_that_are_no_option(self):
        for word in ("m.c", "", "-", "-no-such-option"):
            self.refused(word)
        for word in ("5", "", "---stats"):
            self.refused("-mllvm", word)

    def test_response_files_wherever_they_stand(self):
        for words in (
            [f"@{_FILE}"],
            ["-main-file-name", f"@{_FILE}"],
            ["-target-cpu", f"@{_FILE}"],
            ["-D", f"@{_FILE}"],
            ["-mllvm", f"@{_FILE}"],
            ["-mllvm", "-sample-profile-file", "-mllvm", f"@{_FILE}"],
        ):
            self.refused(*words)
            # Nor can a user allow what such a file would bring.
            with self.assertRaisesRegex(RefusedOptionsError, "which may do more than change code"):
                print(CompileCommand(words, CompileCommand(words).refused).portable)

    def test_values_of_another_kind(self):
        for option in (
            *(f"-inline-threshold{value}" for value in ("=a", "=", "", "=5\n", "=٣", " =5")),
            *("-enable-gvn-hoist=2", "-regalloc=/x.so"),
        ):
            self.refused("-mllvm", option)
        for words in (
            *(["-pic-level", "two"], ["-target-cpu", "a/b"], ["-target-cpu", "-load"]),
            *(["-mframe-pointer=some"], ["-pic-is-pie=1"], ["-main-file-name", "a\nb"]),
        ):
            self.refused(*words)

    def test_files_that_the_corpus_does_not_carry(self):
        places = ("files/a", "files/0123456789abcdef-../x", f"./{_FILE}", f"../{_FILE}", f"{_FILE}/x")
        for path in ("/etc/passwd", *places):
            self.refused(f"-fprofile-instrument-use-path={path}")
            self.refused("-mllvm", f"-sample-profile-file={path}")
            self.refused(f"-fbasic-block-sections=list={path}")

    def test_a_value_may_not_hide_an_option(self):
        # LLVM takes the next word as the value of an option that needs one, and not as that of a truth value.
        self.refused("-mllvm", "-inline-threshold", "-mllvm", "-load=x.so")
        self.refused("-mllvm", "-enable-gvn-hoist", "-mllvm", "-load=x.so")
        self.refused("-mllvm", "-sample-profile-file", "-mllvm", "-load=x.so")

    def test_the_longest_spelling_counts(self):
        for words, name in (
            (["-fmemory-profile-use=x"], "-fmemory-profile-use="),
            (["-mabi=ieeelongdouble"], "-mabi=ieeelongdouble"),
            (["-include", "a.h"], "-include"),
        ):
            self.assertEqual([option.name for option in parse_command(words)], [name])


class TablesTest(unittest.TestCase):
    def test_lists_name_options_that_some_major_has(self):
        tables = [read_table(path) for path in sorted(pathlib.Path(__file__).parent.glob("llvm*.json"))]
        clang = set().union(*(table.clang for table in tables))
        llvm = set().union(*(table.llvm for table in tables))
        self.assertGreater(len(clang), 1000)
        for listed in (clang_rules._KEPT, clang_rules._STRINGS, clang_rules.READS):
            self.assertEqual(set(listed) - clang, set())
        for listed in (llvm_rules.READS, llvm_rules.WRITES, llvm_rules._TEXTS, llvm_rules.DECIDING):
            self.assertEqual(listed - llvm, set())
        self.assertIn(llvm_rules.EMBEDDING, llvm)

    def test_switches_of_policies_are_those_of_the_slots(self):
        self.assertEqual(llvm_rules.SWITCHES, {slot["advisor_flag"] for slot in policy_slots().values()})
        self.assertEqual(llvm_rules.SELECTORS, {slot["selector_flag"] for slot in policy_slots().values()})

    def test_strings_of_llvm_are_listed_once(self):
        self.assertFalse(llvm_rules.READS & llvm_rules.WRITES)


_OPTIONS = [*chosen_table().clang, *(f"-{name}" for name in chosen_table().llvm)]
_VALUES = st.sampled_from(
    ["", "1", "-1", "all", _FILE, f"list={_FILE}", "/etc/passwd", "@x", "a b", "x86-64", "-load", "\n"]
)
_WORDS = st.one_of(
    st.sampled_from([LLVM, "-cc1"]),
    st.builds(lambda option, value: option + value, st.sampled_from(_OPTIONS), _VALUES),
    st.builds(lambda option, value: f"-{option}={value}", st.sampled_from(_OPTIONS), _VALUES),
    _VALUES,
    st.text(max_size=12),
)


class AnyWordsTest(unittest.TestCase):
    @given(st.lists(_WORDS, max_size=8))
    @example(["-mllvm", "-regalloc", "-mllvm", "-load=x"])
    @settings(max_examples=400, deadline=None)
    def test_refused_or_only_options_of_the_table(self, words):
        try:
            kept = CompileCommand(words).portable
        except CommandError:
            return
        table = chosen_table()
        for option in parse_command(kept):
            self.assertNotIn("@", {word[:1] for word in option.words})
            if option.words[0] != LLVM:
                self.assertIn(option.name, table.clang)
                self.assertNotRegex("".join(option.words), r"[\x00-\x1f]")
                continue
            name = option.name.removeprefix("-mllvm -")
            self.assertIn(name, table.llvm)
            self.assertNotIn(name, llvm_rules.WRITES)
            if name in llvm_rules.READS:
                assert option.value is not None
                self.assertRegex(option.value, CARRIED_FILE)
        # What was kept is kept as it is: the compile's command is what was judged.
        self.assertEqual(CompileCommand(kept).portable, kept)
