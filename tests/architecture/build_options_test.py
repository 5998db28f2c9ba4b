"""//:build_options names the flags of this project that users set."""

import json
import re
import unittest

from mlgo.run import labels, locate
from tests.clones import clone

# Flags that only rules set, in transitions.
SET_BY_RULES = {"//toolchains/cc:bootstrap", "//toolchains/cc:of_llvm"}

_FLAG = re.compile(r'^\s*(?:bool|int|label|string|string_list)_flag\(\s*name = "?(\w+)"?,', re.MULTILINE)


class BuildOptionsTest(unittest.TestCase):
    def test_every_flag(self):
        root = clone.root()
        flags = set()
        for path in clone.files(root):
            if path.name == "BUILD.bazel":
                package = path.parent.relative_to(root)
                for name in _FLAG.findall(path.read_text(encoding="utf-8")):
                    flags.add(f"//{package}:{name}")
        # One for each policy slot: the list in release/BUILD.bazel calls it `name`.
        self.assertIn("//release:name", flags)
        slots = {f"//release:{slot}_policy" for slot in ("eviction", "inlining", "priority")}
        options = json.loads(locate.runfile(labels.OPTIONS).read_text(encoding="utf-8"))
        named = {option[2:].partition("=")[0] for option in options if option.startswith("--//")}
        expected = (flags - {"//release:name"} | slots) - SET_BY_RULES
        self.assertEqual(named, expected, "see build_options in //:BUILD.bazel")

    def test_the_compilation_mode(self):
        options = json.loads(locate.runfile(labels.OPTIONS).read_text(encoding="utf-8"))
        self.assertRegex(options[0], "^--compilation_mode=(fastbuild|opt|dbg)$")


if __name__ == "__main__":
    unittest.main()
