import pathlib
import tempfile
import unittest

from toolchains.bazel import consent


class ConsentTest(unittest.TestCase):
    def setUp(self):
        self.archives = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.note = self.archives / "gone" / ("a" * 64)
        self.note.parent.mkdir()
        self.note.write_text("zlib 1.2\n")
        self.asked = []

    def ask(self, answer, words=("build", "//x"), is_terminal=True, **environ):
        def read(question):
            self.asked.append(question)
            return answer

        return consent.ask(words, environ, self.archives, is_terminal, read)

    def test_yes_is_asked_for_once(self):
        self.assertTrue(self.ask("y"))
        self.assertRegex(self.asked[0], r"1 pinned archives nowhere \(zlib 1.2\).*no longer the pinned one. \[y/N\] ")
        self.assertFalse(self.ask("y"))
        self.assertEqual(len(self.asked), 1)

    def test_the_environment_changes_with_what_is_gone(self):
        first = consent.with_gone({"A": "b"}, self.archives)
        self.assertEqual(sorted(first), ["A", consent.GONE_VARIABLE])
        (self.archives / "gone" / ("b" * 64)).write_text("xz 5.4\n")
        self.assertNotEqual(consent.with_gone({"A": "b"}, self.archives), first)
        self.assertEqual(consent.with_gone({"A": "b"}, self.archives / "no such folder"), {"A": "b"})

    def test_anything_else_is_no(self):
        for answer in ("", "n", "yep"):
            self.note.write_text("zlib 1.2\n")
            self.assertFalse(self.ask(answer))

    def test_nobody_is_asked_without_a_terminal_or_reason(self):
        self.assertFalse(self.ask("y", is_terminal=False))
        self.assertFalse(self.ask("y", words=("info",)))
        self.assertFalse(self.ask("y", words=("build", consent.CONFIG)))
        self.assertFalse(self.ask("y", MLGO_NEWEST_PACKAGES="1"))
        self.assertTrue(self.note.exists())
        (self.archives / self.note.name).write_text("it was found later")
        self.assertFalse(self.ask("y"))
        self.assertEqual(self.asked, [])


if __name__ == "__main__":
    unittest.main()
