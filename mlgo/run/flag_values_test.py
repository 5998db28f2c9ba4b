import unittest

from hypothesis import given, settings, strategies

from mlgo.run import flag_values
from mlgo.run.exit_codes import RunError


class PercentTest(unittest.TestCase):
    def test_with_and_without_the_sign(self):
        for text, share in (("0.1%", 0.001), ("0.1", 0.001), (" 2 ", 0.02), ("0%", 0.0), ("-1%", -0.01)):
            found = flag_values.parse_percent("--limit", text)
            assert found is not None
            self.assertAlmostEqual(found, share, msg=text)
        self.assertIsNone(flag_values.parse_percent("--limit", None))

    def test_other_text_is_refused(self):
        for text in ("", "%", "a lot", "0.1%%", "nan", "inf"):
            with self.assertRaisesRegex(RunError, "--limit=.*: is not a percentage. Give one such as 0.1%"):
                flag_values.parse_percent("--limit", text)

    @settings(deadline=None)
    @given(strategies.text())
    def test_every_text_is_a_finite_number_or_a_run_error(self, text):
        try:
            share = flag_values.parse_percent("--limit", text)
        except RunError:
            return
        assert share is not None
        self.assertTrue(abs(share) < float("inf"))


class NamedPathsTest(unittest.TestCase):
    def test_a_name_is_given_or_the_last_part(self):
        found = flag_values.named_paths("--policy", ["mine=/a/b", "/c/d", "/e/f/policy"])
        expected = {"mine": "/a/b", "d": "/c/d", "f": "/e/f/policy"}
        self.assertEqual({name: str(path) for name, path in found.items()}, expected)

    def test_a_name_comes_once(self):
        wrong = "would have the name 'b', which is taken or not usable. Give --policy=NAME=PATH"
        with self.assertRaisesRegex(RunError, f"--policy=/c/b: {wrong}"):
            flag_values.named_paths("--policy", ["/a/b", "/c/b"])

    def test_a_reserved_name_and_one_that_is_no_folder_are_refused(self):
        for value in ("default=/a", "a b=/a", "=/a", "a/b=/a", ".=/a", "..=/a"):
            with self.assertRaisesRegex(RunError, "would have the name"):
                flag_values.named_paths("", [value], ("default",))
