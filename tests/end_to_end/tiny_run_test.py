"""The main command on four real modules with the real compiler: it works, and equal seeds give equal bytes."""

import csv
import json
import pathlib
import tempfile
import unittest

from mlgo.run.exit_codes import ExitCode
from tests.end_to_end import command, real_modules


class TinyRunTest(unittest.TestCase):
    folder: pathlib.Path
    first: pathlib.Path
    second: pathlib.Path
    other: pathlib.Path
    said: str

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        # Two copies in different places: where a corpus lies must not matter.
        for place in ("here", "there/below"):
            real_modules.smallest("train", 4, cls.folder / place / "train")
            real_modules.smallest("held_out", 2, cls.folder / place / "held_out")
        cls.first, cls.said = cls.run_command("first", "here", "--workers=2")
        cls.second, _ = cls.run_command("second", "there/below", "--workers=1")
        cls.other, _ = cls.run_command("other", "here", "--workers=2", "--seed=2")

    @classmethod
    def run_command(cls, name: str, place: str, *flags: str) -> tuple[pathlib.Path, str]:
        output = cls.folder / name
        code, said = command.run(
            f"--clang={real_modules.development_clang()}",
            f"--train_corpus={cls.folder / place / 'train'}",
            f"--held_out_corpus={cls.folder / place / 'held_out'}",
            f"--output_dir={output}",
            *command.TINY,
            *flags,
        )
        if code != ExitCode.DONE:
            raise AssertionError(f"exit code {code}:\n{said}")
        return output, said

    def test_ends_with_what_a_user_needs(self):
        self.assertRegex(self.said, r"policy: [+-]\d+\.\d\d % \[.*\] 95 % interval; \d+ better, \d+ worse")
        # Four modules may teach nothing that is better than the start.
        install = rf'//release:install -- --prefix="\$HOME/mlgo-clang" --eviction_policy={self.first}/policy'
        self.assertRegex(self.said, rf"{install}|found nothing to install that is better than the compiler's default")
        self.assertRegex(self.said, "(Better|No better|Not shown to be better) than what it started from")
        for name in ("policy/saved_model.pb", "policy/tflite/model.tflite", "policy/BUILD.bazel", "learning_curve.svg"):
            self.assertTrue((self.first / name).is_file(), name)

    def test_record_says_where_the_policy_comes_from(self):
        training = json.loads((self.first / "policy" / "policy.json").read_text())["training"]
        self.assertEqual(training["configuration"]["run"]["seed"], 1)
        self.assertEqual(len(training["inputs"]["train_corpus"]), 64)
        self.assertGreater(training["trace"]["train"]["decisions"], 50)
        self.assertEqual(training["held_out"], json.loads((self.first / "held_out" / "result.json").read_text()))
        with open(self.first / "held_out" / "functions.csv", encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(len(rows), training["held_out"]["all_functions"]["policy"]["functions"])

    def test_metrics_hold_every_iteration_and_validation(self):
        lines = [json.loads(line) for line in (self.first / "metrics.jsonl").read_text().splitlines()]
        self.assertEqual(
            [(line["kind"], line["iteration"]) for line in lines],
            [("validation", 0), ("iteration", 0), ("validation", 1), ("iteration", 1), ("validation", 2)],
        )

    def test_equal_seed_gives_equal_bytes_anywhere_with_any_workers(self):
        self.assertEqual(command.differing(self.first, self.second), [])

    def test_other_seed_gives_another_warm_start_and_another_policy(self):
        differing = command.differing(self.first, self.other)
        for name in ("warm_start/result.json", "learning/latest.json", "policy/weights.npz"):
            self.assertIn(name, differing)
        # What no random number takes part in stays the same.
        self.assertEqual([name for name in differing if name.startswith(("optimised/", "trace/"))], [])


class OtherProblemsTest(unittest.TestCase):
    """The other problems, and other algorithms, on a few real modules."""

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def run_command(self, program: str, corpus: str, *flags: str) -> str:
        real_modules.smallest(f"{corpus}train", 4, self.folder / "train")
        real_modules.smallest(f"{corpus}held_out", 2, self.folder / "held_out")
        code, said = command.run(
            f"--clang={real_modules.development_clang()}",
            f"--train_corpus={self.folder / 'train'}",
            f"--held_out_corpus={self.folder / 'held_out'}",
            f"--output_dir={self.folder / 'output'}",
            *command.TINY,
            *flags,
            program=program,
        )
        self.assertEqual(code, ExitCode.DONE, said)
        self.assertTrue((self.folder / "output" / "policy" / "tflite" / "model.tflite").is_file())
        return said

    def test_priority(self):
        said = self.run_command("train_regalloc", "", "--problem=regalloc_priority")
        self.assertRegex(said, r"policy: [+-]\d+\.\d\d % \[.*\] 95 % interval; .* functions in \d+ modules")
        # With LLVM 23 the weights that were chosen are those that it started from.
        is_start = "\nNo better than what it started from: it is the same" in said
        self.assertIn("found nothing to install that is better" if is_start else " --priority_policy=", said)

    def test_inlining_by_evolution_strategies(self):
        said = self.run_command(
            "train_inlining", "oz_", "--algorithm=es", "--warm_start=none", "--gin_bindings=EsConfig.pairs=2"
        )
        self.assertRegex(said, r"policy: [+-]\d+\.\d\d % \[.*\] 95 % interval; .* equal of 2 modules")
        # Two iterations from nothing may end worse than the default; then no command is offered.
        self.assertRegex(said, " --inlining_policy=|found nothing to install that is better than the compiler")
        self.assertFalse((self.folder / "output" / "optimised").exists())

    def test_inlining_as_it_is_by_default(self):
        said = self.run_command("train_inlining", "oz_")
        self.assertIn("inlining_for_size by effect_regression", said)
        self.assertNotIn("warm start:", said)

    def test_inlining_by_ppo(self):
        said = self.run_command("train_inlining", "oz_", "--algorithm=ppo")
        self.assertRegex(said, r"warm start: repeats \d+\.\d% of the default's decisions")


if __name__ == "__main__":
    unittest.main()
