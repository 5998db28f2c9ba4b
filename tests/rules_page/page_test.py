"""docs/rules.md is what the .bzl files say, and made-up .bzl files are read as Bazel reads them."""

import pathlib
import tempfile
import unittest

from tests.clones import clone
from tests.rules_page import page
from tests.rules_page.docstrings import Module, WrongFile

_PRIVATE = """
_COMMON = {"deps": attr.label_list(doc = "What it " + "needs.", mandatory = True)}
thing = rule(doc = "A thing.", attrs = _COMMON | {"size": attr.int(doc = "Bytes."), "_tool": attr.label()})
silent = rule(attrs = {})
ThingInfo = provider(doc = "Of a thing.", fields = {"files": "Its files."})
"""
_PUBLIC = '''"""Things."""
load(":private.bzl", "silent", _ThingInfo = "ThingInfo", _thing = "thing")
load("@other//:x.bzl", "x")
ThingInfo = _ThingInfo
thing = _thing
def macro(name, **kwargs):
    """Makes things.

    More.

    Args:
      name: of the thing; a name
        of two lines.
      **kwargs: the rest.

    Returns:
      Nothing.
    """
'''


class RulesPageTest(unittest.TestCase):
    def test_page_is_current(self):
        root = clone.root()
        current = (root / page.PAGE).read_text(encoding="utf-8")
        self.assertEqual(current, page.page(root), "run ./bazelw run //tests/rules_page:update")

    def test_symbols(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "p").mkdir()
            (root / "p/private.bzl").write_text(_PRIVATE, encoding="utf-8")
            (root / "p/defs.bzl").write_text(_PUBLIC, encoding="utf-8")
            module = Module(root, "p/defs.bzl")
            self.assertEqual(module.doc, "Things.")
            thing = module.symbol("thing")
            self.assertEqual((thing.name, thing.kind, thing.doc), ("thing", "rule", "A thing."))
            self.assertEqual(thing.arguments, {"deps": "What it needs. Required.", "size": "Bytes."})
            self.assertEqual(module.symbol("ThingInfo").arguments, {"files": "Its files."})
            macro = module.symbol("macro")
            self.assertEqual(macro.doc, "Makes things.\n\nMore.\n\nReturns: Nothing.")
            self.assertEqual(macro.arguments, {"name": "of the thing; a name of two lines.", "kwargs": "the rest."})
            for name in ("silent", "absent"):
                with self.assertRaisesRegex(WrongFile, name):
                    module.symbol(name)


if __name__ == "__main__":
    unittest.main()
