from mlgo.identity import code
from mlgo.run.testing.folder_case import FolderCase

_COMMAND = '''"""Compares policies."""
flags.DEFINE_integer("seed", 1, "Seed of the bootstraps.")
limit = 3
'''
#: What can change no result.
_NO_RESULT = ("reporting/page.py", "score/README.md", "score/problem_score_test.py", "score/testing/fake.py")


class CodeTest(FolderCase):
    def setUp(self):
        super().setUp()
        for name in (*_NO_RESULT, "score/problem_score.py", "run/files.py"):
            self.file(name, "x = 1\n")
        self.file("evaluate.py", _COMMAND)
        self.file("commands/measuring.py", _COMMAND)

    def changed(self, name, content):
        """The parts whose digest another content of the file `name` changes."""
        before = code.code_digests(self.folder)
        self.file(name, content)
        now = code.code_digests(self.folder)
        return {part for part in {*before, *now} if before.get(part) != now.get(part)}

    def test_parts(self):
        self.assertEqual(set(code.code_digests(self.folder)), {"*.py", "commands", "run", "score"})

    def test_what_can_change_a_result_counts(self):
        self.assertEqual(self.changed("score/problem_score.py", "x = 2\n"), {"score"})
        self.assertEqual(self.changed("score/reader.so", "1"), {"score"})
        self.assertEqual(self.changed("compiler/limited_exec", "1"), {"compiler"})
        self.assertEqual(self.changed("evaluate.py", _COMMAND.replace("limit = 3", "limit = 4")), {"*.py"})
        other_default = _COMMAND.replace('"seed", 1', '"seed", 2')
        self.assertEqual(self.changed("commands/measuring.py", other_default), {"commands"})

    def test_what_cannot_does_not(self):
        for name in _NO_RESULT:
            self.assertEqual(self.changed(name, "x = 2\n"), set(), name)
        for was, now in (("Seed of the bootstraps.", "Seed of all draws."), ("Compares policies.", "Compares two.")):
            reworded = _COMMAND.replace(was, now)
            self.assertEqual(self.changed("evaluate.py", reworded), set())
            self.assertEqual(self.changed("commands/measuring.py", f"# A comment.\n{reworded}"), set())

    def test_a_cache_depends_on_the_folders_below_its_results(self):
        before = [code.digest_of_code(folders, self.folder) for folders in (code.COMPILES, code.SEARCHES)]
        self.file("search/moves.py", "")
        after = [code.digest_of_code(folders, self.folder) for folders in (code.COMPILES, code.SEARCHES)]
        self.assertEqual([one == other for one, other in zip(before, after)], [True, False])
        self.file("run/files.py", "x = 2\n")
        self.assertNotEqual(code.digest_of_code(code.COMPILES, self.folder), after[0])

    def test_the_real_code(self):
        self.assertIn("identity", code.code_digests())
