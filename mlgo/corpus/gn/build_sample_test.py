"""What a sample of compiles says about a build."""

import dataclasses
import unittest

from mlgo.corpus.gn import build_sample, sample_compiles
from mlgo.corpus.gn.attempt import Memory
from mlgo.corpus.gn.build_sample import Made, Needed
from mlgo.corpus.gn.sample_compiles import Compiled
from mlgo.run.exit_codes import ExitCode, RunError

_LOG = """ninja: Entering directory `out'
[1/4] CXX obj/a.o
FAILED: obj/b.o obj/b.d \n../clang++ -Werror -c b.cc
../b.cc:1:2: warning: odd
../b.cc:3:4: error: no such thing
2 errors generated.
[3/4] ACTION //x
FAILED: gen/x.h \npython3 x.py
x.py gives up
ninja: build stopped: cannot make progress due to previous errors.
"""


_MEMORY = Memory(ninja_bytes=200_000_000, command_bytes=1_500_000_000)
_MADE = Made(files=3, whole=6, bytes=2_000_000_000)


class BuildSampleTest(unittest.TestCase):
    def test_compiles_are_told_by_their_rules(self):
        rules = build_sample.rules_of(
            ["obj/a.o: cxx", "obj/b.o: clang_x64_cc", "obj/c.o: asm", "lib.a: alink", "gen/d.o: rustc", "x: y.o: cxx"]
        )
        inputs = ["obj/b.o", "obj/a.o", "obj/c.o", "lib.a", "gen/d.o", "../../a.cc", "obj/a.o"]
        self.assertEqual(build_sample.compiles(inputs, rules), ["obj/a.o", "obj/b.o"])
        self.assertEqual(rules["x: y.o"], "cxx")

    def test_the_seed_chooses_and_a_larger_sample_holds_a_smaller_one(self):
        objects = [f"{number:03}.o" for number in range(100)]
        small, large = build_sample.chosen(objects, 10, 7), build_sample.chosen(objects, 20, 7)
        self.assertEqual((len(small), len(large)), (10, 20))
        self.assertLess(set(small), set(large))
        self.assertEqual(small, build_sample.chosen(objects, 10, 7))
        self.assertNotEqual(small, build_sample.chosen(objects, 10, 8))
        for steps in (0, 101):
            with self.assertRaisesRegex(RunError, f"--steps={steps}: is not between 1 and 100"):
                build_sample.chosen(objects, steps, 7)

    def test_failures_with_reasons(self):
        self.assertEqual(
            build_sample.failures(_LOG),
            {"obj/b.o obj/b.d": "../b.cc:3:4: error: no such thing", "gen/x.h": "x.py gives up"},
        )

    def test_extrapolation(self):
        needed = Needed(50.0, 30.0, {"gen/x.h": "gives up"}, True, _MEMORY)
        compiled = {
            "a.o": Compiled(2.0, 400_000_000, 10),
            "b.o": Compiled(
                9.0, 800_000_000, failure="b.cc: note\nb.cc:1: \x1b[0;1;31merror: \x1b[0mno\n1 error generated"
            ),
            "d.o": Compiled(4.0, 500_000_000, 30),
        }
        content = build_sample.report(1000, ["a.o", "b.o", "c.o", "d.o"], compiled, needed, 1, _MADE)
        self.assertEqual(content["not_reached"], ["c.o"])
        self.assertEqual(content["failed"], {"b.o": "b.cc:1: error: no"})
        # Two were compiled.
        self.assertAlmostEqual(content["extrapolated"]["cpu_hours"], 3.0 * 1000 / 3600)
        self.assertAlmostEqual(content["extrapolated"]["gigabytes"], 20 * 1000 / 1e9)
        said = build_sample.text(content)
        for words in (
            "4 of 1,000 C and C++ compiles, seed 1",
            "2 of 3 that were tried, 66.7%; 1 not reached",
            "0.5 GB for the largest compile, 1.5 GB for the largest step before, 0.2 GB for Ninja",
            "3 of 6 that the build makes, 2.0 GB",
            "4.0 GB for other files",
            "failed        b.o: b.cc:1: error: no",
            "failed before gen/x.h: gives up",
        ):
            self.assertIn(words, said)
        self.assertNotIn("--minutes", said)
        ended = dataclasses.replace(needed, is_complete=False)
        self.assertIn(
            "ended by --minutes", build_sample.text(build_sample.report(9, ["a.o"], compiled, ended, 1, _MADE))
        )

    def test_nothing_compiled(self):
        none = Needed(0.0, 0.0, {}, False, _MEMORY)
        with self.assertRaisesRegex(RunError, "sample of 1 compiles: none was made .*the time limit") as caught:
            build_sample.report(9, ["a.o"], {}, none, 1, _MADE)
        self.assertEqual(caught.exception.exit_code, ExitCode.NOTHING_PRODUCED)

    def test_a_compile_reads_headers_and_its_source(self):
        commands = {"a.o": "clang++ -MF a.o.d -c gen/a.cc -o a.o", "b.o": "clang -c '../../b b.c' -o b.o"}
        inputs = [
            "gen/b.cc",
            "gen/a.h",
            "gen/a.cc",
            "all.stamp",
            "gen/list.inc",
            "gen/a.h",
            "../../b b.c",
            "gen/page.js",
        ]
        self.assertEqual(
            sample_compiles.read_by(commands, inputs), ["../../b b.c", "gen/a.cc", "gen/a.h", "gen/list.inc"]
        )


if __name__ == "__main__":
    unittest.main()
