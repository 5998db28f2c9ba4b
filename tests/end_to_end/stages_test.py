"""The stages of a training run as commands of their own, one after another, as ml-compiler-opt's documents use them."""

import csv
import json
import pathlib
import tempfile
import unittest

from mlgo.compiler.testing import fake_clang
from mlgo.problems.regalloc_eviction.problem import PROBLEM
from mlgo.problems.regalloc_priority.problem import PROBLEM as PRIORITY
from mlgo.run.exit_codes import ExitCode
from tests.end_to_end import command


class StagesTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        (self.folder / "bin").mkdir()
        (self.folder / "corpus").mkdir()
        self.clang = fake_clang.install(self.folder / "bin", PROBLEM)
        modules = {
            f"a/m{index}.cpp": fake_clang.FakeModule.bitcode({f"f{index}": 9, f"g{index}": 5}) for index in range(8)
        }
        fake_clang.write_corpus(self.folder / "corpus", modules)
        self.trace_flags = [
            f"--clang_path={self.clang}",
            "--problem=regalloc_eviction",
            f"--data_path={self.folder / 'corpus'}",
        ]

    def run_well(self, program: str, *flags: str) -> str:
        code, said = command.run(*flags, program=program)
        self.assertEqual(code, ExitCode.DONE, said)
        return said

    def refused(self, code: ExitCode, message: str, program: str, *flags: str) -> None:
        found, said = command.run(*flags, program=program)
        self.assertEqual(found, code, said)
        self.assertRegex(said, message)
        self.assertNotIn("Traceback", said)

    def test_code_for_speed_is_refused_for_inlining_for_size(self):
        flags = [*self.trace_flags, "--problem=inlining_for_size", f"--output_path={self.folder / 'trace'}"]
        message = "has 8 of 8 modules at -O2 .*, and inlining_for_size needs -Os or -Oz, because .* at -Oz and extract"
        self.refused(ExitCode.USER_ERROR, message, "generate_default_trace", *flags)
        self.assertFalse((self.folder / "trace").exists())

    def test_from_a_corpus_to_a_policy(self):
        trace, vocabulary, clone = (self.folder / name for name in ("trace", "vocabulary", "clone"))
        flags = [*self.trace_flags, f"--output_path={trace}", "--sampling_rate=0.7"]
        said = self.run_well("generate_default_trace", *flags)
        self.assertRegex(
            said, r"traced 6 of 6 modules, 0 without decisions, 0 failed; 84 decisions -> .*/trace/trace/default"
        )
        self.assertIn("done before", self.run_well("generate_default_trace", *flags))
        self.refused(
            ExitCode.USER_ERROR,
            "holds a run with another configuration:\n  configuration.sampling_rate: was 0.7, now 0.5",
            "generate_default_trace",
            *flags[:-1],
            "--sampling_rate=0.5",
        )

        said = self.run_well(
            "sparse_bucket_generator", f"--input={trace}", f"--output_dir={vocabulary}", "--num_buckets=50"
        )
        self.assertRegex(said, "vocabulary of 21 features from 6 modules -> .*/vocabulary")
        self.assertEqual(len((vocabulary / "progress.buckets").read_text().split()), 50)

        said = self.run_well(
            "train_bc",
            f"--data_path={trace}",
            f"--vocabulary={vocabulary}",
            f"--root_dir={clone}",
            "--validation_modules=2",
            "--gin_bindings=BcConfig.epochs=2",
        )
        # One in four of the six modules, although two were asked for.
        self.assertRegex(said, r"repeats \d+\.\d\d% of the 14 decisions in 1 modules that it was not trained on")

        performance = self.folder / "performance.csv"
        said = self.run_well(
            "generate_default_trace",
            *flags[:-2],
            f"--output_path={self.folder / 'of_policy'}",
            f"--policy_path={clone / 'policy'}",
            f"--output_performance_path={performance}",
        )
        self.assertRegex(said, "traced 8 of 8 modules")
        with open(performance, encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(
            [(row["module"], row["function"]) for row in rows[:2]], [("a/m0.cpp", "f0"), ("a/m0.cpp", "g0")]
        )
        self.assertEqual(len(rows), 16)
        self.assertTrue(any(row["score"] != row["default_score"] for row in rows))

        flags = [*self.trace_flags, f"--root_dir={self.folder / 'model'}", f"--warmstart_policy_dir={clone / 'policy'}"]
        said = self.run_well("train_locally", *flags, "--num_modules=2", "--iterations=1", "--validation_modules=2")
        self.assertRegex(said, r"Validation score of the chosen weights \(iteration [01]\)")
        record = json.loads((self.folder / "model" / "policy" / "policy.json").read_text(encoding="utf-8"))
        start = json.loads((clone / "policy" / "policy.json").read_text(encoding="utf-8"))
        self.assertEqual(record["normalizer_digest"], start["normalizer_digest"])
        self.assertEqual(record["training"]["warm_start"]["policy_sha256"], start["sha256"])
        self.assertFalse((self.folder / "model" / "vocabulary").exists(), "a policy brings its normaliser along")

    def test_refusals(self):
        trace = f"--output_path={self.folder / 'trace'}"
        for flags, code, message in (
            ([*self.trace_flags, trace, "--module_filter=[["], ExitCode.USER_ERROR, "is no regular expression"),
            (
                [*self.trace_flags, trace, "--module_filter=nothing"],
                ExitCode.NOTHING_PRODUCED,
                "leave none of 8 modules",
            ),
            (
                [*self.trace_flags, trace, "--problem=x"],
                ExitCode.USER_ERROR,
                "--problem=x: .*Give one of these, or add a folder",
            ),
            ([*self.trace_flags[:2], trace], ExitCode.USER_ERROR, "corpus.* See --help"),
        ):
            with self.subTest(message):
                self.refused(code, message, "generate_default_trace", *flags)
        nowhere = self.folder / "nowhere"
        self.refused(
            ExitCode.USER_ERROR,
            "--trace=.*nowhere: is no finished trace",
            "sparse_bucket_generator",
            f"--input={nowhere}",
            f"--output_dir={nowhere}",
        )
        self.refused(
            ExitCode.USER_ERROR,
            "--trace=.*nowhere: is no finished trace",
            "train_bc",
            f"--data_path={nowhere}",
            f"--root_dir={nowhere}",
        )
        # A compiler that logs decisions of another problem only.
        self.refused(
            ExitCode.USER_ERROR,
            f"has no ML support for {PRIORITY.name}",
            "generate_default_trace",
            f"--problem={PRIORITY.name}",
            self.trace_flags[0],
            self.trace_flags[2],
            trace,
        )


if __name__ == "__main__":
    unittest.main()
