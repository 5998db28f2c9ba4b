"""The `main` of `python_tests`: runs the unit tests of the module that its first argument names.

The module finds the test's other arguments in `sys.argv[1:]`. What it leaves there goes to unittest, such as the name
of one test (`--test_arg=ClassName.test_name`).
"""

import importlib
import sys
import unittest


def main() -> int:
    """Returns the exit code: 1 also when the module holds no test."""
    module = sys.argv.pop(1)
    importlib.import_module(module)
    result = unittest.main(module, exit=False).result
    if not result.testsRun and not result.skipped:
        print(f"{module}: holds no test", file=sys.stderr)
        return 1
    return int(not result.wasSuccessful())


if __name__ == "__main__":
    raise SystemExit(main())
