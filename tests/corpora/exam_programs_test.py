"""The descriptions of the exam's programs fit the pinned sources: each pattern finds its files, each patch applied."""

import unittest

from mlgo.evaluation.programs.catalogue import EXAM, Catalogue, packages_from_flags
from mlgo.evaluation.programs.program import is_c_plus_plus
from mlgo.run import locate


class ExamProgramsTest(unittest.TestCase):
    def test_ten_programs_half_of_them_in_c_plus_plus_each_with_runs_for_a_profile(self):
        nothing = locate.runfile("mlgo/evaluation/programs/descriptions")
        programs = Catalogue.of_command().programs([EXAM], [], packages_from_flags([]), nothing)
        self.assertEqual(len(programs), 10)
        in_c_plus_plus = [program for program in programs if any(map(is_c_plus_plus, program.sources))]
        self.assertEqual(len(in_c_plus_plus), 5)
        self.assertEqual([program.name for program in programs if program.training is None], [])


if __name__ == "__main__":
    unittest.main()
