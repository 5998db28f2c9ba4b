"""--compiler=NAME=PATH[,FLAG...]."""

import sys
import unittest

from mlgo.evaluation.other_compilers import other_compilers
from mlgo.run.exit_codes import RunError


class OtherCompilersTest(unittest.TestCase):
    def test_a_name_a_path_and_flags(self):
        plain, with_flags = other_compilers(
            [f"a={sys.executable}", f"b={sys.executable},-mllvm,-x"], lambda name: False
        )
        self.assertEqual((plain.name, plain.flags), ("a", ()))
        self.assertEqual((with_flags.name, with_flags.flags), ("b", ("-mllvm", "-x")))
        self.assertTrue(plain.clang.is_file())

    def test_names_are_taken_once(self):
        for values, message in (
            (["mine"], "--compiler=mine: is not NAME=PATH"),
            (["policy=/bin/true"], "has the name 'policy', which is taken"),
            (["a=/bin/true", "a=/bin/false"], "has the name 'a', which is taken"),
            (["a=/no/such/clang"], "/no/such/clang"),
        ):
            with self.subTest(values=values), self.assertRaisesRegex(RunError, message):
                other_compilers(values, "policy".__eq__)


if __name__ == "__main__":
    unittest.main()
