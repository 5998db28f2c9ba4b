"""Function properties: what LLVM prints is read back, anything else is passed over or refused, never a crash."""

import unittest

import hypothesis
import numpy as np
from hypothesis import strategies

from mlgo.learning.function_properties import parse_function_properties
from mlgo.run.exit_codes import RunError

hypothesis.settings.register_profile("mlgo", deadline=None, database=None, derandomize=True, max_examples=100)
hypothesis.settings.load_profile("mlgo")

_TWO = """warning: overriding the module target triple
Printing analysis results of CFA for function 'lua_checkstack':
BasicBlockCount: 7
Uses: 1
TotalInstructionCount: 39

Printing analysis results of CFA for function 'a b'c':
BasicBlockCount: 5
Uses: -1
TotalInstructionCount: 30

"""

_NAMES = strategies.text(strategies.characters(blacklist_categories=("Cc", "Cs", "Zl", "Zp"), max_codepoint=0x2FFF), max_size=20)


class FunctionPropertiesTest(unittest.TestCase):
    def test_what_llvm_prints(self):
        found = parse_function_properties(_TWO, "lapi.c")
        self.assertEqual(found.functions, ("lua_checkstack", "a b'c"))
        self.assertEqual(found.names, ("BasicBlockCount", "Uses", "TotalInstructionCount"))
        np.testing.assert_array_equal(found.values, [[7, 1, 39], [5, -1, 30]])
        self.assertEqual(found.select([1]).functions, ("a b'c",))

    def test_a_module_without_functions(self):
        found = parse_function_properties("", "empty.c")
        self.assertEqual((found.functions, found.names, found.values.shape), ((), (), (0, 0)))

    def test_text_that_was_cut_off_is_refused(self):
        cut = _TWO[: _TWO.rindex("TotalInstructionCount")]
        with self.assertRaisesRegex(RunError, "of lapi.c: .*a b'c.* has other properties .*TotalInstructionCount.*Print them again"):
            parse_function_properties(cut, "lapi.c")
        with self.assertRaisesRegex(RunError, "has other properties"):
            parse_function_properties("Printing analysis results of CFA for function 'f':\n", "f.c")

    @hypothesis.given(
        strategies.lists(_NAMES, max_size=4),
        strategies.lists(strategies.integers(-(10**9), 10**12), min_size=1, max_size=5),
    )
    def test_any_name_and_number_comes_back(self, functions, numbers):
        body = "".join(f"Property{index}: {number}\n" for index, number in enumerate(numbers))
        text = "\n".join(f"Printing analysis results of CFA for function '{name}':\n{body}" for name in functions)
        found = parse_function_properties(text, "x")
        self.assertEqual(found.functions, tuple(functions))
        np.testing.assert_array_equal(found.values, np.array([numbers] * len(functions)).reshape(len(functions), -1)
                                      if functions else np.zeros((0, 0)))

    @hypothesis.given(strategies.text(max_size=200))
    def test_any_text_is_read_or_refused(self, text):
        for whole in (text, _TWO + text, _TWO[:100] + text):
            try:
                parse_function_properties(whole, "x")
            except RunError:
                pass


if __name__ == "__main__":
    unittest.main()
