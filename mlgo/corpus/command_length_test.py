"""The length of a command is judged by constants, in bytes, word by word and in all."""

import unittest

from mlgo.corpus.command import CommandError, compile_command
from mlgo.corpus.command_length import MOST_BYTES, MOST_WORD_BYTES, check_length


class CommandLengthTest(unittest.TestCase):
    def test_the_longest_words_and_commands_are_accepted(self):
        check_length([], "it")
        check_length(["a" * MOST_WORD_BYTES], "it")
        check_length(["-O2"] * (MOST_BYTES // 12), "it")

    def test_one_more_is_refused(self):
        for words, message in (
            (["a" * (MOST_WORD_BYTES + 1)], "it: has a word of 131,072 bytes, more than the 131,071 allowed. Make it"),
            (["é" * 65_536], "has a word of 131,072 bytes"),
            (["\udcff" * (MOST_WORD_BYTES + 1)], "has a word of 131,072 bytes"),
            (["-O2"] * (MOST_BYTES // 12 + 1), "has 87,382 words, 1,048,584 bytes in memory, more than the 1,048,576"),
        ):
            with self.subTest(words[0][:3]), self.assertRaisesRegex(CommandError, message):
                check_length(words, "it")

    def test_only_what_the_compiler_is_given_counts(self):
        # Macros are the front end's; bitcode needs none.
        compile_command(["-cc1", *["-D", "A" * 1000] * 2000], "in.bc", "out.o")
        with self.assertRaisesRegex(CommandError, "a module's command: has 200,007 words"):
            compile_command(["-cc1", *["-O2"] * 200_000], "in.bc", "out.o")


if __name__ == "__main__":
    unittest.main()
