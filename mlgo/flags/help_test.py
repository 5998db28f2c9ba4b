import unittest

from absl import flags

from mlgo.flags import help as command_help


def _flags() -> list[flags.Flag]:
    values = flags.FlagValues()
    flags.DEFINE_integer("speed", 3, "How fast. In metres.", flag_values=values)
    flags.DEFINE_string("place", None, "Where to. It must exist. Default: home.", flag_values=values)
    flags.DEFINE_alias("location", "place", flag_values=values)
    flags.DEFINE_enum("mode", "walk", ("walk", "run"), "How.", flag_values=values)
    flags.DEFINE_bool("dry", False, "Without rain", flag_values=values)
    flags.DEFINE_multi_string("stop", [], "Place on the way; repeatable.", flag_values=values)
    return [values[name] for name in values]


class HelpTextTest(unittest.TestCase):
    def test_each_flag_has_one_entry_with_its_default(self):
        text = command_help.help_text("Goes.", _flags(), 100)
        expected = """\
This command:
  --[no]dry: Without rain (default: False).
  --mode=<walk|run>: How (default: walk).
  --place=STRING: Where to (default: home). Also --location.
  --speed=INT: How fast (default: 3).
  --stop=STRING: Place on the way; repeatable."""
        self.assertEqual(text.splitlines()[2:-2], expected.splitlines())

    def test_lines_are_not_wider_than_asked(self):
        text = command_help.help_text("Goes.", _flags(), 40)
        self.assertLessEqual(max(map(len, text.splitlines()[:-1])), 40)

    def test_flags_of_a_marked_function_have_its_title(self):
        @command_help.flag_group("Outer")
        def outer():
            flags.DEFINE_string("help_test_outer", None, "Outer flag.")
            inner()

        @command_help.flag_group("Inner")
        def inner():
            flags.DEFINE_string("help_test_inner", None, "Inner flag.")

        outer()
        own = [flags.FLAGS[name] for name in ("help_test_outer", "help_test_inner")]
        text = command_help.help_text("", own, 100)
        self.assertIn("Inner:\n  --help_test_inner=STRING: Inner flag.", text)
        self.assertIn("Outer:\n  --help_test_outer=STRING: Outer flag.", text)

    def test_a_word_after_two_dashes_asks_for_nothing(self):
        for words, asks in ((["--n=2", "--help"], True), (["--n=2", "--", "--help"], False), (["--helpful"], False)):
            self.assertEqual(command_help.asks_for_help(words), asks)
