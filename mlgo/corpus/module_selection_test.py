"""Which modules --module_filter and --sampling_rate select."""

import unittest

from mlgo.corpus.module_selection import chosen_modules
from mlgo.run.exit_codes import ExitCode, RunError

NAMES = [f"lib/m{index}.c" for index in range(10)] + ["tool/main.c"]


class ChosenModulesTest(unittest.TestCase):
    def test_all_of_them(self):
        self.assertEqual(chosen_modules(NAMES, None, 1.0, seed=1), NAMES)

    def test_a_filter_and_a_part_rounded_up_in_their_order(self):
        chosen = chosen_modules(NAMES, "^lib/", 0.21, seed=1)
        self.assertEqual((len(chosen), sorted(chosen)), (3, chosen))
        self.assertEqual(chosen_modules(NAMES, "^lib/", 0.21, seed=1), chosen)
        self.assertNotEqual(chosen_modules(NAMES, "^lib/", 0.21, seed=2), chosen)

    def test_refusals(self):
        with self.assertRaisesRegex(RunError, "is no regular expression"):
            chosen_modules(NAMES, "[", 1.0, seed=1)
        for module_filter, rate in (("absent", 1.0), (None, 0.0)):
            with self.assertRaisesRegex(RunError, "leave none of 11 modules") as caught:
                chosen_modules(NAMES, module_filter, rate, seed=1)
            self.assertEqual(caught.exception.exit_code, ExitCode.NOTHING_PRODUCED)


if __name__ == "__main__":
    unittest.main()
