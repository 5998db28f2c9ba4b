"""What the aspect makes of //mlgo/corpus/testdata/linked:program: every object's own flags, once per object."""

import json
import unittest

from mlgo.corpus.corpus import Corpus
from mlgo.run import locate

FOLDER = "mlgo/corpus/testdata/linked"
# A bitcode file's symbol names stand in it as plain bytes.
FUNCTIONS = {
    "generated.c": b"of_generated",
    "main.cc": b"of_cxxopts",
    f"part.c@@{FOLDER}/one": b"of_one",
    f"part.c@@{FOLDER}/two": b"of_two",
    "scale.c": b"of_local_defines",
}


class AspectTest(unittest.TestCase):
    def corpus(self, name: str) -> Corpus:
        return Corpus.load(locate.runfile(f"mlgo/corpus/{name}"))

    def bitcode(self, corpus: str, module: str) -> bytes:
        return (locate.runfile(f"mlgo/corpus/{corpus}") / f"{module}.bc").read_bytes()

    def test_each_object_with_its_own_flags(self):
        names = [module.name for module in self.corpus("linked").modules]
        self.assertEqual(names, [f"{FOLDER}/{name}" for name in FUNCTIONS])
        for name, function in FUNCTIONS.items():
            bitcode = self.bitcode("linked", f"{FOLDER}/{name}")
            for other in FUNCTIONS.values():
                self.assertEqual(other in bitcode, other == function, (name, other))

    def test_what_gives_no_bitcode_is_listed(self):
        report = json.loads((locate.runfile("mlgo/corpus/linked") / "extraction_report.json").read_bytes())
        assembly = {"name": f"{FOLDER}/low.S", "kind": "no_bitcode", "reason": f"assembly, of {FOLDER}/scale"}
        self.assertEqual(report["left_out"], [assembly])

    def test_a_corpus_is_optimised_however_it_is_built(self):
        for corpus, level in (("linked", "-O2"), ("linked_oz", "-Oz")):
            for module in self.corpus(corpus).modules:
                self.assertIn(level, module.command)
                self.assertIn("-ffunction-sections", module.command)  # A flag of -c opt.
        self.assertNotEqual(self.bitcode("linked", f"{FOLDER}/scale.c"), self.bitcode("linked_oz", f"{FOLDER}/scale.c"))

    def test_licences(self):
        self.assertEqual({module.licence for module in self.corpus("linked_oz").modules}, {"MIT"})

    def test_a_sample_holds_what_was_asked_for(self):
        (module,) = self.corpus("sample").modules
        self.assertEqual(module.name, f"{FOLDER}/main.cc")
        self.assertEqual(module.read_bitcode(), self.bitcode("linked", module.name))

    def test_corpora_are_combined_under_the_names_of_their_projects(self):
        combined, parts = self.corpus("combined"), {"a": self.corpus("linked"), "b": self.corpus("tiny")}
        expected = {f"{name}/{module.name}": module for name, part in parts.items() for module in part.modules}
        self.assertEqual([module.name for module in combined.modules], sorted(expected))
        for module in combined.modules:
            self.assertEqual(module.read_bitcode(), expected[module.name].read_bitcode())
            self.assertEqual(module.command, expected[module.name].command)
