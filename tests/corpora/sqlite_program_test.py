"""The description of SQLite's program fits what `@corpora//:sqlite_root` holds: generated sources are there, too."""

import unittest

from mlgo.evaluation.programs.program import load_program
from mlgo.run import locate


class SqliteProgramTest(unittest.TestCase):
    def test_every_pattern_finds_its_files(self):
        description = locate.runfile("mlgo/evaluation/programs/descriptions/sqlite.json")
        root = locate.of_environment("MLGO_PROGRAM_PACKAGE_sqlite")
        assert root
        program = load_program(description, {"sqlite": root})
        self.assertLessEqual({"shell.c", "parse.c", "opcodes.c", "src/vdbe.c"}, {path for path, _ in program.units()})


if __name__ == "__main__":
    unittest.main()
