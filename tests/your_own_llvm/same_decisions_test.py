"""An LLVM without our patches takes the decisions of ours, with the header and the object of `cmake_models`."""

import pathlib
import tempfile
import unittest

from mlgo.run.locate import runfile
from tests.your_own_llvm.agreement import Programs, compare


class SameDecisionsTest(unittest.TestCase):
    def test_outputs_are_equal(self):
        here = "tests/your_own_llvm"
        stock = Programs(runfile(f"{here}/stock_opt"), runfile(f"{here}/stock_llc"))
        ours = Programs(runfile(f"{here}/opt"), runfile(f"{here}/llc"))
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(compare(stock, ours, pathlib.Path(folder)), 24)


if __name__ == "__main__":
    unittest.main()
