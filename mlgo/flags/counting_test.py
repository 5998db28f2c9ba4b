"""--program: which programs it gives, and what it refuses."""

import json
import pathlib
import tempfile
import unittest

from absl import flags

from mlgo.flags.counting import define_counting_flags, programs_from_flags
from mlgo.problems.problem import load_problem
from mlgo.run.exit_codes import RunError

define_counting_flags()
_EVICTION, _INLINING = load_problem("regalloc_eviction"), load_problem("inlining_for_size")


class ProgramsGivenTest(unittest.TestCase):
    def setUp(self):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        (folder / "main.c").write_text("int main(void) { return 0; }\n", encoding="utf-8")
        content = {"name": "jq", "root": ".", "sources": ["main.c"], "runs": [{"name": "run", "arguments": []}]}
        self.description = folder / "jq.json"
        self.description.write_text(json.dumps(content), encoding="utf-8")

    def given(self, problem, *paths):
        flags.FLAGS.unparse_flags()
        flags.FLAGS(["evaluate", *(f"--program={path}" for path in paths)])
        self.addCleanup(flags.FLAGS["program"].unparse)
        return [program.name for program in programs_from_flags(problem)]

    def test_descriptions_are_read(self):
        self.assertEqual(self.given(_EVICTION, self.description), ["jq"])
        flags.FLAGS["program"].unparse()
        self.assertEqual(self.given(_EVICTION), [])

    def test_code_size_is_not_about_executed_instructions(self):
        with self.assertRaisesRegex(RunError, "counts executed instructions, which inlining_for_size is not about"):
            self.given(_INLINING, self.description)

    def test_a_name_that_comes_twice_is_refused(self):
        with self.assertRaisesRegex(RunError, "--program: describes 'jq' twice"):
            self.given(_EVICTION, self.description, self.description)


if __name__ == "__main__":
    unittest.main()
