"""What is wrong from the beginning is said in one error, before anything is compiled."""

import dataclasses
import json
import os
import pathlib
import shutil
import tempfile
import unittest
from unittest import mock

from mlgo.compiler.testing import fake_clang
from mlgo.corpus.corpus import Corpus
from mlgo.problems.regalloc_eviction.problem import PROBLEM
from mlgo.run import run_folder
from mlgo.run.exit_codes import ExitCode, RunError
from mlgo.training import input_checks
from tests.end_to_end import command


class BadInputTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.output = self.folder / "output"
        self.flags = [*command.fake_inputs(self.folder / "inputs"), *command.TINY, f"--output_dir={self.output}"]

    def refused(self, code: ExitCode, message: str, *flags: str) -> str:
        found, said = command.run(*self.flags, *flags)
        self.assertEqual(found, code, said)
        self.assertRegex(said, message)
        self.assertNotIn("Traceback", said)
        self.assertFalse((self.output / "optimised").exists(), "something was compiled")
        return said

    def test_clang_without_ml_support(self):
        (self.folder / "plain").mkdir()
        clang = fake_clang.install(self.folder / "plain", PROBLEM, ml_support=False)
        self.refused(
            ExitCode.USER_ERROR,
            r"error: compiler .*plain/clang: has no ML support.* ./bazelw build //development:clang",
            f"--clang={clang}",
        )

    def test_clang_with_another_feature(self):
        specs = list(PROBLEM.observation_specs)
        specs[1] = dataclasses.replace(specs[1], name="was_free")
        (self.folder / "other").mkdir()
        clang = fake_clang.install(self.folder / "other", dataclasses.replace(PROBLEM, observation_specs=tuple(specs)))
        self.refused(
            ExitCode.USER_ERROR,
            r"fails on a module of one function: bad_log, .*feature 1 of regalloc_eviction is is_free int64_t\[1, 33\]"
            r", in this log it is was_free",
            f"--clang={clang}",
        )

    def test_corpus_that_does_not_compile(self):
        for path in (self.folder / "inputs" / "train").rglob("*.bc"):
            path.write_bytes(fake_clang.FakeModule.bitcode({"f": 3}, "refuse"))
        self.refused(
            ExitCode.TOO_MANY_FAILURES,
            r"error: corpus .*/train: does not compile: its 3 smallest modules fail \(first: train/m0",
        )

    def test_corpus_that_is_not_optimised(self):
        for path in (self.folder / "inputs" / "train").rglob("*.cmd"):
            path.write_bytes(path.read_bytes().replace(b"-O2", b"-O0"))
        message = (
            r"error: corpus .*/train: has 8 of 8 modules at -O0 \(train/m0.cpp, .*, \.\.\.\), and regalloc_eviction"
            r" needs -O1, -O2, -O3, -Os or -Oz, because .*\. Build with clang at -O2 "
        )
        self.refused(ExitCode.USER_ERROR, message)
        whole = [flag for flag in self.flags if "_corpus=" not in flag]
        code, said = command.run(*whole, f"--corpus={self.folder / 'inputs' / 'train'}")
        self.assertEqual(code, ExitCode.USER_ERROR, said)
        self.assertRegex(said, message)
        # A mistake leaves no parts behind that a later run would find.
        self.assertFalse(self.output.with_name(f"{self.output.name}.corpus").exists())

    def test_policy_to_start_from(self):
        self.refused(
            ExitCode.USER_ERROR,
            "--warm_start=.*nowhere: is not a folder. Give bc, none,",
            f"--warm_start={self.folder / 'nowhere'}",
        )
        (self.folder / "empty").mkdir()
        self.refused(ExitCode.USER_ERROR, r"policy.json\): does not exist", f"--warm_start={self.folder / 'empty'}")
        self.refused(
            ExitCode.USER_ERROR,
            "--imitate=x: is not supported by --algorithm=ppo. Add --algorithm=bc_max",
            "--imitate=x",
        )

    def test_unknown_algorithm(self):
        self.refused(
            ExitCode.USER_ERROR,
            "RunSettings.algorithm='sarsa': must be one of ppo, es",
            "--gin_bindings=RunSettings.algorithm='sarsa'",
        )

    def test_run_that_must_be_new(self):
        self.output.mkdir()
        (self.output / run_folder.CONFIGURATION_NAME).write_text("{}")
        self.refused(ExitCode.USER_ERROR, "holds a run. Remove --noresume", "--noresume")

    def test_clang_that_is_not_there(self):
        self.refused(ExitCode.USER_ERROR, "no_clang: is not an executable file", f"--clang={self.folder / 'no_clang'}")

    def test_missing_vocabulary(self):
        message = r"error: --vocabulary=.*nowhere: is not a folder. Give a folder with one FEATURE.buckets"
        self.refused(ExitCode.USER_ERROR, message, f"--vocabulary={self.folder / 'nowhere'}")

    def test_vocabulary_that_lacks_a_feature(self):
        (self.folder / "vocabulary").mkdir()
        self.refused(ExitCode.USER_ERROR, r"\.buckets\): does not exist", f"--vocabulary={self.folder / 'vocabulary'}")

    def test_empty_corpus(self):
        (self.folder / "empty").mkdir()
        fake_clang.write_corpus(self.folder / "empty", {})
        self.refused(ExitCode.NOTHING_PRODUCED, "lists no module", f"--train_corpus={self.folder / 'empty'}")

    def test_corpus_with_a_missing_bc(self):
        os.unlink(self.folder / "inputs" / "train" / "train" / "m3.cpp.bc")
        self.refused(
            ExitCode.USER_ERROR,
            r"error: .*train/m3.cpp.bc: does not exist, but corpus_description.json lists its module",
        )

    def test_corpus_whose_command_nobody_filled_in(self):
        path = self.folder / "inputs" / "train" / "corpus_description.json"
        description = json.loads(path.read_bytes())
        path.write_text(json.dumps({"global_command_override": ["<UNSPECIFIED>"], **description}), encoding="utf-8")
        self.refused(ExitCode.USER_ERROR, "leaves the command of its ThinLTO modules open .*--link_command")

    def test_same_corpus_twice(self):
        self.refused(
            ExitCode.USER_ERROR,
            "shares 8 modules with the training corpus",
            f"--held_out_corpus={self.folder / 'inputs' / 'train'}",
        )

    def test_corpus_to_split_and_parts(self):
        whole = f"--corpus={self.folder / 'inputs' / 'train'}"
        self.refused(
            ExitCode.USER_ERROR, "--corpus=.*train: is split, and a part is given too. Give --corpus alone", whole
        )
        self.refused(
            ExitCode.USER_ERROR,
            "label //no:corpus: can be built only by a command that was started with ./bazelw run",
            "--train_corpus=//no:corpus",
        )

    def test_output_that_cannot_be_written(self):
        self.output.write_text("a file")
        self.refused(ExitCode.USER_ERROR, "error: --output_dir=.*output: cannot be written to")

    def test_unknown_settings_and_flags(self):
        self.refused(ExitCode.USER_ERROR, "BcConfig.epoch", "--gin_bindings=BcConfig.epoch=1")
        self.refused(
            ExitCode.USER_ERROR,
            "validation_interval=0: must be at least 1",
            "--gin_bindings=RunSettings.validation_interval=0",
        )
        self.refused(ExitCode.USER_ERROR, "Unknown command line flag 'worker'", "--worker=1")
        self.refused(ExitCode.USER_ERROR, "argument 'stray': is not a flag", "stray")

    def test_other_configuration_than_the_earlier_run(self):
        self.output.mkdir()
        # An earlier run, recorded but not begun.
        killed = command.Command([*self.flags, "--seed=7"])
        killed.kill_when((self.output / run_folder.CONFIGURATION_NAME).exists)
        shutil.rmtree(self.output / "optimised", ignore_errors=True)
        said = self.refused(ExitCode.USER_ERROR, "holds a run with another configuration", "--seed=8", "--iterations=3")
        self.assertIn("configuration.run.iterations: was 2, now 3\n", said)
        self.assertIn("configuration.run.seed: was 7, now 8\n", said)
        self.assertRegex(said, "Give the old values, or another --output_dir, or delete")

    def test_output_in_use(self):
        lock = run_folder.open_output(self.output)
        self.addCleanup(os.close, lock)
        self.refused(ExitCode.USER_ERROR, "is in use by another run")


class DiskSpaceTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        (self.folder / "corpus").mkdir()
        module = fake_clang.FakeModule.bitcode({"f": 1})
        self.corpora = [Corpus.load(fake_clang.write_corpus(self.folder / "corpus", {"m": module}))]

    def check(self, free: int) -> None:
        usage = shutil.disk_usage(self.folder)._replace(free=free)
        with mock.patch.object(shutil, "disk_usage", return_value=usage):
            input_checks.check_disk_space(self.folder, self.corpora)

    def test_too_little_is_an_error_with_both_numbers(self):
        wrong = r"has 0.00 GB free on its disk, and this run may write 0.54 GB. Free space"
        with self.assertRaisesRegex(RunError, wrong):
            self.check(1_000_000)

    def test_enough_is_fine(self):
        self.check(10**12)


if __name__ == "__main__":
    unittest.main()
