"""The corpora of //third_party/corpora hold what docs/corpora.md says of them. Arguments: their names."""

import json
import re
import sys
import unittest

from mlgo.corpus import command
from mlgo.corpus.corpus import Corpus
from mlgo.run import locate

#: A row of the tables there: name, what it is, licence, modules.
_ROW = re.compile(r"^\| `(\w+)` \|(?:[^|]*\|){2} (\d+) \|", re.MULTILINE)
_DESCRIBED = dict(_ROW.findall(locate.runfile("docs/corpora.md").read_text("utf-8")))
EXPECTED = {name: int(_DESCRIBED[name]) for name in sys.argv[1:]}
del sys.argv[1:]


class ShippedTest(unittest.TestCase):
    def test_modules_of_both_levels(self):
        for name, expected in EXPECTED.items():
            fast, small = (Corpus.load(locate.runfile(f"mlgo/corpus/{corpus}")) for corpus in (name, f"{name}_oz"))
            self.assertEqual(len(fast.modules), expected, name)
            self.assertEqual([module.name for module in fast.modules], [module.name for module in small.modules])
            for corpus, level in ((fast, "-O2"), (small, "-Oz")):
                for module in corpus.modules:
                    self.assertIn(level, module.command, module.name)
                    self.assertEqual(command.paths_in(module.command), [], module.name)

    def test_every_module_has_a_licence(self):
        for name in EXPECTED:
            licences = json.loads((locate.runfile(f"mlgo/corpus/{name}") / "corpus_licences.json").read_bytes())[
                "modules"
            ]
            self.assertNotIn("NOASSERTION", licences.values(), name)
