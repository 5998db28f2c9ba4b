"""//mlgo:evaluate_programs on two small programs, with the real packaged compiler, linker and Valgrind.

The compiler with a policy is a script before the packaged one: for the policy's flag it compiles other code, by how
much is known. Arguments: clang, ld.lld, the sysroot's usr, valgrind.
"""

import csv
import json
import pathlib
import shutil
import sys
import tempfile
import unittest
from typing import Any

from mlgo.corpus.corpus import Corpus
from mlgo.run.exit_codes import ExitCode
from tests.end_to_end import command, program_tools

_CLANG, _LINKER, _USR, _VALGRIND = (pathlib.Path(path).absolute() for path in sys.argv[1:5])
del sys.argv[1:5]

_WORK = """#include <cstdio>
#include "work.h"
#ifdef BROKEN
#error made to fail
#endif
namespace {
int Twice(int value) { return 2 * value + value % 7; }
}
// Called once per turn; without the policy it does everything two times.
extern "C" __attribute__((noinline)) unsigned Work(unsigned value) {
  for (volatile unsigned turn = 0; turn < kTurns; turn = turn + 1)
    value = value * 1664525u + 1013904223u + Twice(value % 5);
#ifndef POLICY
  for (volatile unsigned turn = 0; turn < kTurns; turn = turn + 1) value = value ^ (value >> 16) ^ (value << 3);
  for (volatile unsigned turn = 0; turn < kTurns; turn = turn + 1) value = value ^ (value >> 16) ^ (value << 3);
  value = 12;
#else
  value = 12;
#endif
  return value;
}
"""
_MAIN = """#include <stdio.h>
unsigned Work(unsigned value);
__attribute__((noinline)) int unused(void) { return 1; }
int main(int count, char** words) {
  char line[64];
#ifdef WRONG
  puts("wrong");
#endif
  while (fgets(line, sizeof line, stdin) != NULL) printf("%u %s", Work((unsigned)count), line);
  FILE* file = fopen(words[1], "w");
  fputs("written", file);
  return fclose(file);
}
"""


class ProgramsTest(unittest.TestCase):
    folder: pathlib.Path
    first: pathlib.Path
    second: pathlib.Path
    flags: list[str]
    out: pathlib.Path
    said: str
    result: dict[str, Any]

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        tree = cls.folder / "tree"
        tree.mkdir()
        contents = {
            "work.cc": _WORK,
            "work.h": "const unsigned kTurns = 1000;\n",
            "main.c": _MAIN,
            "lines": "one\ntwo\n",
        }
        for name, content in contents.items():
            (tree / name).write_text(content, encoding="utf-8")
        cls.first, cls.second = (cls.describe(name) for name in ("first", "second"))
        few = ["--inline_thresholds=5", "--cost_sources=2", "--cost_turns=2", "--repeats=2", "--lto=none,thin,full"]
        cls.flags = [*cls.tools(), f"--compiler=same={_CLANG}", *few]
        cls.out = cls.folder / "out"
        code, cls.said = command.run(
            *cls.flags, f"--program_file={cls.first}", f"--output_dir={cls.out}", program="evaluate_programs"
        )
        if code != ExitCode.DONE:
            raise AssertionError(f"exit code {code}:\n{cls.said}")
        cls.result = json.loads((cls.out / "result.json").read_text(encoding="utf-8"))

    @classmethod
    def describe(cls, name, **more):
        run = {"name": "go", "arguments": ["out"], "stdin": "lines", "outputs": ["out"]}
        fields = {
            "name": name,
            "root": "tree",
            "sources": ["*.c", "*.cc"],
            "inputs": {"lines": ["lines"]},
            "runs": [run],
            **more,
        }
        path = cls.folder / f"{name}.json"
        path.write_text(json.dumps(fields), encoding="utf-8")
        return path

    @classmethod
    def tools(cls, wrong=""):
        return program_tools.flags(cls.folder, _CLANG, _LINKER, _USR, _VALGRIND, wrong)

    def test_equal_compilers_make_equal_programs(self):
        for side in ("same", "threshold_5"):
            sizes, default = dict(self.result["size"]["first"][side]), dict(self.result["size"]["first"]["default"])
            if side == "threshold_5":  # Not linked so.
                self.assertIsNone(sizes.pop("code_bytes_thinlto"))
                for way in ("thinlto", "thin_lto", "full_lto"):
                    self.assertGreater(default.pop(f"code_bytes_{way}"), 0)
            self.assertEqual(sizes, default)
        for measure in ("instructions", "loads", "stores"):
            total = self.result["totals"]["run"]["same"][measure]
            self.assertEqual((total["geometric_mean"], total["low"], total["high"]), (1.0, 1.0, 1.0))

    def test_the_known_effect_is_measured(self):
        sizes = self.result["size"]["first"]
        changed = {row["symbol"]: row["policy"] - row["default"] for row in self.result["symbols"]["first"]}
        self.assertEqual(list(changed), ["Work"])
        self.assertLess(changed["Work"], 0)
        self.assertEqual(sizes["policy"]["code_bytes"] - sizes["default"]["code_bytes"], changed["Work"])
        for measure in ("code_bytes_icf", "code_bytes_thinlto", "code_bytes_thin_lto", "code_bytes_full_lto"):
            self.assertLess(sizes["policy"][measure], sizes["default"][measure])
        executed = self.result["executed"]["first"]
        self.assertEqual(set(executed), {"default", "policy", "same"})
        self.assertEqual(executed["same"], executed["default"])
        self.assertLess(executed["policy"]["instructions"], executed["default"]["instructions"])
        runs = self.result["run"]["first"]
        # Two lines, two loops of 1000 turns each that are gone: each turn compares and increments the counter in
        # memory, which Cachegrind counts as two loads; the counter is set once.
        self.assertEqual(runs["default"]["stores"] - runs["policy"]["stores"], 2 * 2)
        self.assertEqual(runs["default"]["loads"] - runs["policy"]["loads"], 2 * 2 * 2001)
        self.assertGreater(runs["default"]["instructions"] - runs["policy"]["instructions"], 2 * 2 * 3000)

    def test_the_linker_of_the_policy_s_side_is_asked_for_the_policy(self):
        runs = self.result["run"]["first"]
        for kind in ("thin", "full"):
            for event in ("instructions", "data_references"):
                measure = f"{event}_{kind}_lto"
                self.assertLess(runs["policy"][measure], runs["default"][measure])
                self.assertEqual(runs["same"][measure], runs["default"][measure])
        asked = (self.folder / program_tools.ASKED_LINKER).read_text(encoding="utf-8").split()
        for switch in ("-enable-ml-inliner=release", "-regalloc-enable-advisor=release"):
            self.assertIn(switch, asked)
        summary = (self.out / "summary.md").read_text(encoding="utf-8")
        self.assertIn("geometric mean of 1, code, full LTO in the linker", summary)
        self.assertIn("policy: data references thin lto", summary)

    def test_every_part_is_there_for_people_too(self):
        with open(self.out / "programs.csv", encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual({row["part"] for row in rows}, {"size", "executed", "run"})
        summary = (self.out / "summary.md").read_text(encoding="utf-8")
        for title in (
            "## Size at -Oz",
            "## What runs at -Oz: counted by cachegrind",
            "## What runs at -O2: counted by cachegrind",
            "## What compiling at -Oz",
            "## What compiling at -O2",
        ):
            self.assertIn(title, summary)
        self.assertIn(summary, self.said)
        for level in ("-Oz", "-O2"):
            self.assertEqual(self.result["cost"][level]["policy"]["cpu_seconds"]["sources"], 2)
            self.assertGreater(self.result["cost"][level]["policy"]["front_end"]["sum"], 0)

    def test_it_goes_on_where_it_stopped(self):
        before = (self.out / "result.json").read_bytes()
        shutil.rmtree(self.out / "size" / "first" / "policy")
        code, said = command.run(
            *self.flags, f"--program_file={self.first}", f"--output_dir={self.out}", program="evaluate_programs"
        )
        self.assertEqual(code, ExitCode.DONE, said)
        self.assertEqual(said.count("done before"), 3 + 3 + 1 + 2)
        self.assertEqual((self.out / "result.json").read_bytes(), before)

    def test_a_program_that_does_something_else_is_an_error_and_no_row(self):
        flags = [
            *self.tools("-DWRONG"),
            f"--program_file={self.first}",
            "--nocost",
            "--nothinlto",
            "--inline_thresholds=",
        ]
        code, said = command.run(
            *flags, f"--output_dir={self.folder / 'wrong'}", "--problem=inlining_for_size", program="evaluate_programs"
        )
        self.assertEqual(code, ExitCode.OUTPUT_DIFFERS, said)
        self.assertIn("DIFFERENT OUTPUT in size: first: policy: run go does not give what default gives", said)
        self.assertEqual(json.loads((self.folder / "wrong" / "result.json").read_text(encoding="utf-8"))["size"], {})

    def test_a_program_that_cannot_be_built_is_left_out_and_the_others_are_not(self):
        broken = self.describe("broken", defines=["BROKEN"])
        flags = [*self.tools(), f"--program_file={broken}", f"--program_file={self.second}", "--nocost", "--repeats=1"]
        code, said = command.run(
            *flags, f"--output_dir={self.folder / 'left'}", "--problem=regalloc_eviction", program="evaluate_programs"
        )
        self.assertEqual(code, ExitCode.TOO_MANY_FAILURES, said)
        self.assertRegex(said, r"Left out of run: broken: default: work.cc: exit code 1: .*made to fail")
        self.assertEqual(
            list(json.loads((self.folder / "left" / "result.json").read_text(encoding="utf-8"))["run"]), ["second"]
        )
        code, said = command.run(
            *flags[:6], "--nocost", f"--output_dir={self.folder / 'none'}", program="evaluate_programs"
        )
        self.assertEqual(code, ExitCode.NOTHING_PRODUCED, said)

    def test_profiles_are_those_of_the_training_runs(self):
        run = {"name": "go", "arguments": ["out"], "stdin": "lines"}
        trained = [
            self.describe(f"trained_{number}", training={"inputs": {"lines": patterns}, "runs": runs})
            for number, (patterns, runs) in enumerate(((["main.c"], [run]), (["main.c"], [run]), (["work.cc"], [run])))
        ]
        given = [f"--program_file={path}" for path in (*trained, self.second)]
        code, said = command.run(
            *self.tools(),
            *given,
            "--pgo",
            "--nocost",
            "--repeats=1",
            f"--output_dir={self.folder / 'profiles'}",
            "--problem=regalloc_eviction",
            program="evaluate_programs",
        )
        self.assertEqual(code, ExitCode.TOO_MANY_FAILURES, said)
        self.assertIn("Left out of profile: second: no profile: its description has no `training`", said)
        self.assertIn("compiled with profiles (-fprofile-use) of runs with other inputs", said)
        result = json.loads((self.folder / "profiles" / "result.json").read_text(encoding="utf-8"))
        self.assertEqual(list(result["run"]), ["trained_0", "trained_1", "trained_2"])
        first, again, other = (program["profiles"] for program in result["programs"].values())
        self.assertEqual(list(first), ["-O2"])
        self.assertEqual(first, again)
        self.assertNotEqual(first, other)

    def test_a_corpus_with_profiles(self):
        run = {"name": "go", "arguments": ["out"], "stdin": "lines"}
        trained = self.describe("trained", training={"inputs": {"lines": ["main.c"]}, "runs": [run]})
        tools = [flag for flag in self.tools() if not flag.startswith("--clang=")]
        flags = [*tools, f"--program_file={trained}", f"--program_file={self.second}"]
        # The third time in the folder of the first.
        for output in ("corpora", "corpora_again", "corpora"):
            code, said = command.run(*flags, f"--output_dir={self.folder / output}", program="program_corpus")
            self.assertEqual(code, ExitCode.TOO_MANY_FAILURES, said)
            self.assertIn("left out second: no profile: its description has no `training`", said)
        corpus = Corpus.load(self.folder / "corpora" / "corpus")
        self.assertEqual([module.name for module in corpus.modules], ["trained/0000_main.o", "trained/0001_work.o"])
        (profile,) = corpus.carried_files
        for module in corpus.modules:
            self.assertIn(f"-fprofile-instrument-use-path={profile}", module.command)
        self.assertEqual(corpus.digest, Corpus.load(self.folder / "corpora_again" / "corpus").digest)
        code, said = command.run(*flags, "--nopgo", f"--output_dir={self.folder / 'plain'}", program="program_corpus")
        self.assertEqual(code, ExitCode.DONE, said)
        plain = Corpus.load(self.folder / "plain" / "corpus")
        self.assertEqual((len(plain.modules), list(plain.carried_files)), (4, []))
        code, said = command.run(*flags, "--nopgo", f"--output_dir={self.folder / 'corpora'}", program="program_corpus")
        self.assertEqual(code, ExitCode.USER_ERROR, said)

    def test_refusals(self):
        for flags, message in (
            (["--program_file=/absent.json"], "does not exist"),
            (
                [f"--program_file={self.first}", f"--program_file={self.first}"],
                "describes 'first', which there is already",
            ),
            ([f"--program_file={self.first}", "--inline_thresholds=5,many"], "holds 'many'"),
            ([f"--program_file={self.first}", "--compiler=mine"], "is not NAME=PATH[,FLAG...]"),
            ([f"--program_file={self.first}", f"--compiler=policy={_CLANG}"], "has the name 'policy', which is taken"),
            ([f"--program_file={self.first}", "--compiler=mine=/absent"], "is not an executable file"),
            ([f"--program_file={self.first}", "--clang=/absent"], "--clang=/absent: is not an executable file"),
            ([f"--program_file={self.first}", "--programs=emacs"], "names 'emacs'. Known: all, exam, bcpp, box2d"),
            ([f"--program_file={self.first}", "--package=x"], "is not NAME=FOLDER"),
            ([f"--program_file={self.first}", "--lto=thick"], "holds 'thick'. Give none, thin or full"),
            ([f"--program_file={self.first}", "--lto=thin", "--allocations=2"], "the linker has no search"),
        ):
            code, said = command.run(
                *self.tools(), *flags, f"--output_dir={self.folder / 'no'}", program="evaluate_programs"
            )
            self.assertEqual(code, ExitCode.USER_ERROR, said)
            self.assertIn(message, said)
            self.assertNotIn("Traceback", said)


if __name__ == "__main__":
    unittest.main()
