"""The examples in the help of commands are one command a line, so that they can be typed as they stand.

Tools that fill text to a width once joined some of them.
"""

import ast
import unittest

from tests.clones import clone

_COMMAND = "./bazelw "
#: An example is indented in the module's docstring.
_INDENT = "    "


def joined(documentation: str) -> list[str]:
    """The examples of a docstring in which a command starts after the beginning of its line."""
    lines = [line for line in documentation.splitlines() if line.startswith(_INDENT)]
    return [line for line in lines if _COMMAND in line.strip()[1:]]


class ExamplesTest(unittest.TestCase):
    def test_every_command(self):
        found = {}
        for path in clone.root().glob("mlgo/*.py"):
            documentation = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
            found[path.name] = (documentation.count(_COMMAND), joined(documentation))
        self.assertGreater(sum(count for count, _ in found.values()), 40)
        self.assertEqual({name: lines for name, (_, lines) in found.items() if lines}, {})

    def test_joined(self):
        documentation = "Text.\n\n    ./bazelw run //a -- --x ./bazelw run\n    //b\n    ./bazelw run //c\n"
        self.assertEqual(joined(documentation), ["    ./bazelw run //a -- --x ./bazelw run"])


if __name__ == "__main__":
    unittest.main()
