"""Command lines as text: against the shell's own rules, and what response files have of their own."""

import shlex
import unittest

from hypothesis import given, settings, strategies

from mlgo.corpus.extraction.quoting import expand_response_files, response_file_reader, split_response, split_shell
from mlgo.run.exit_codes import RunError
from mlgo.run.testing.folder_case import FolderCase

# Blanks that only Unicode knows are part of a path.
_WORDS = strategies.lists(strategies.text(alphabet="ab -o\"'\\$\n\t\u00a0\udcff", max_size=6), max_size=5)


class ShellTest(unittest.TestCase):
    def test_known_answers(self):
        for text, expected in (
            ("", []),
            ("  clang\t-o  a.o\n", ["clang", "-o", "a.o"]),
            ("-DX=\\\"a\\\" '-DY=b c'", ['-DX="a"', "-DY=b c"]),
            ('"a\\b" "a\\"b" \'a\\b\'', ["a\\b", 'a"b', "a\\b"]),
            ("a\\ b'c'\"d\"", ["a bcd"]),
            ("'' \"\"", ["", ""]),
            ("a\\\nb", ["ab"]),
            ("dir\u00a0x/a.o", ["dir\u00a0x/a.o"]),
            ("'never closed", ["never closed"]),
            ("end\\", ["end"]),
        ):
            self.assertEqual(split_shell(text), expected, text)

    @settings(deadline=None, max_examples=40)
    @given(_WORDS)
    def test_inverts_quoting(self, words):
        self.assertEqual(split_shell(shlex.join(words)), words)

    @settings(deadline=None, max_examples=40)
    @given(strategies.text(alphabet="ab \"'\\\n", max_size=20))
    def test_agrees_with_a_shell_parser(self, text):
        try:
            expected = shlex.split(text)
        except ValueError:  # Quotes that are never closed: here that is lenient.
            split_shell(text)
            return
        if "\\\n" not in text:  # shlex does not join lines.
            self.assertEqual(split_shell(text), expected)


class ResponseFileTest(FolderCase):
    def test_backslashes_escape_in_single_quotes_too(self):
        self.assertEqual(split_response("'a\\'b' \"a\\\\b\" C\\:x"), ["a'b", "a\\b", "C:x"])

    def test_files_that_name_files(self):
        self.file("one.rsp", "-o 'a b.o'\n@two.rsp @absent")
        self.file("two.rsp", b"caf\xe9.c\n")
        self.file("loop.rsp", "x @loop.rsp")

        def expand(*words):
            return list(expand_response_files(words, response_file_reader(str(self.folder))))

        self.assertEqual(expand("-c", "@one.rsp", "@"), ["-c", "-o", "a b.o", "caf\udce9.c", "@absent", "@"])
        with self.assertRaisesRegex(RunError, "response file loop.rsp of a command: names itself. Give"):
            expand("@loop.rsp")

    def test_files_that_name_a_file_twice_and_so_on(self):
        read = {**{str(level): f"x @{level + 1} @{level + 1}" for level in range(40)}, "many": "x " * 2_000_001}.get
        for words in (["@0"], ["@many"], ["@many2"] * 300):
            with self.subTest(words[0]), self.assertRaisesRegex(RunError, "more than 256 files, or of 2,000,000 words"):
                list(expand_response_files(words, lambda name: "x" if name == "many2" else read(name)))
