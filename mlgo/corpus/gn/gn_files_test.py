"""What gn is given: arguments and the root target."""

import unittest

from mlgo.corpus.gn import gn_files
from mlgo.run.exit_codes import RunError


class GnFilesTest(unittest.TestCase):
    def test_arguments_sorted_by_name(self):
        text = gn_files.args_text({"use_thin_lto": "true", "chrome_pgo_phase": " 0 ", "clang_version": '"22"'})
        self.assertEqual(text, 'chrome_pgo_phase = 0\nclang_version = "22"\nuse_thin_lto = true\n')

    def test_what_is_no_argument(self):
        for arguments, words in (
            ({"a b": "1"}, "gn argument 'a b': is no name"),
            ({"": "1"}, "is no name"),
            ({"a": " "}, "has no value"),
            ({"a": '1\nimport("//x.gni")'}, "has no value on one line"),
        ):
            with self.subTest(arguments), self.assertRaisesRegex(RunError, words):
                gn_files.args_text(arguments)

    def test_group_of_all_targets(self):
        text = gn_files.root_build_file(["//a", "//b:c d"])
        self.assertIn('group("corpus")', text)
        self.assertIn('    "//a",\n    "//b:c d",\n', text)

    def test_library_takes_whole_archives(self):
        text = gn_files.root_build_file(["//a:b"], gn_files.LIBRARY_FLAGS)
        self.assertIn('ldflags = [ "-Wl,--whole-archive", ', text)
        self.assertIn('output_name = "mlgo_corpus"', text)
        self.assertEqual(gn_files.LIBRARY_FILE, "libmlgo_corpus.so")

    def test_what_is_no_label(self):
        for target in ("a", "//a:", '//a"', "//a:b:c", "//$x", "a//b", ""):
            with self.subTest(target), self.assertRaisesRegex(RunError, "is no gn label"):
                gn_files.root_build_file([target])
        with self.assertRaisesRegex(RunError, "targets: are none"):
            gn_files.root_build_file([])


if __name__ == "__main__":
    unittest.main()
