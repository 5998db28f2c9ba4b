"""//mlgo:report and //mlgo:compare as started by a user, on invented results."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from mlgo.reporting.testing import made_up
from mlgo.run.exit_codes import ExitCode

#: Where Python finds what this test was given.
_ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}


class ReportCommandsTest(unittest.TestCase):
    folder: pathlib.Path

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        made_up.write_everything(cls.folder / "shipped")
        made_up.write_evaluation(cls.folder / "better", {"trained": 0.05})
        made_up.write_evaluation(cls.folder / "other_reward", {"trained": 0.05}, reward="object_code")

    def call(self, command, *words, **values):
        """(exit code, what it said on both streams)."""
        given = [word if "=" in word else str(self.folder / word) for word in words]
        given += [f"--{name}={value}" for name, value in values.items()]
        program = [sys.executable, "-m", f"mlgo.{command}", *given]
        pipe, all_to_it = subprocess.PIPE, subprocess.STDOUT
        done = subprocess.run(program, env=_ENVIRONMENT, cwd=self.folder, check=False, stdout=pipe, stderr=all_to_it)
        return done.returncode, done.stdout.decode()

    def test_a_report_is_in_the_first_folder_and_its_verdict_is_printed(self):
        code, said = self.call("report", "better", "shipped")
        self.assertEqual(code, ExitCode.DONE)
        self.assertTrue((self.folder / "better" / "report.html").read_bytes().startswith(b"<!doctype html>"))
        self.assertIn("better", (self.folder / "better" / "report.md").read_text("utf-8"))
        self.assertIn(str(self.folder / "better" / "report.html"), said)

    def test_output_sets_the_path_of_the_report(self):
        self.call("report", f"mine={self.folder / 'shipped'}", output=self.folder / "out" / "page.html")
        self.assertIn(b"<h1>Mine</h1>", (self.folder / "out" / "page.html").read_bytes())
        self.assertTrue((self.folder / "out" / "page.md").exists())

    def test_the_summary_does_not_take_the_place_of_the_page(self):
        code, said = self.call("report", "shipped", output=self.folder / "page.md")
        self.assertEqual(code, ExitCode.USER_ERROR)
        self.assertIn("ends in .md, which is the suffix of the summary", said)

    def test_a_command_line_without_folder_is_refused(self):
        code, said = self.call("report")
        self.assertEqual(code, ExitCode.USER_ERROR)
        self.assertIn("names no folder", said)

    def test_a_comparison_is_printed_and_written(self):
        code, said = self.call("compare", "shipped", "better", output=self.folder / "c.md")
        self.assertEqual(code, ExitCode.DONE)
        self.assertRegex(said, r"alpha +better +−\d\.\d\d")
        self.assertIn("| alpha | better | −", (self.folder / "c.md").read_text("utf-8"))

    def test_the_exit_code_is_for_ci(self):
        self.assertEqual(self.call("compare", "shipped", "better", fail_if_worse_than="0.1%")[0], ExitCode.DONE)
        code, said = self.call("compare", "better", "shipped", fail_if_worse_than="0.1%")
        self.assertEqual(code, ExitCode.OUTPUT_DIFFERS)
        self.assertRegex(said, r"Worse than better by more than 0.1%: alpha: shipped \+\d")
        self.assertEqual(self.call("compare", "better", "shipped", fail_if_worse_than="50%")[0], ExitCode.DONE)

    def test_alone_an_evaluation_is_compared_with_its_thresholds(self):
        _, said = self.call("compare", "shipped")
        self.assertRegex(said, r"alpha +threshold_15 +\+?−?\d")

    def test_what_cannot_be_compared_is_refused(self):
        code, said = self.call("compare", "better", "other_reward")
        self.assertEqual(code, ExitCode.USER_ERROR)
        expected = "other_reward: is of another reward than better: 'object_code' instead of 'comdat_weighted_code'"
        self.assertIn(expected, said)
        code, said = self.call("compare", "better")
        self.assertEqual(code, ExitCode.USER_ERROR)
        self.assertIn("1 policies: cannot be compared with each other", said)

    def test_they_start_without_tensorflow(self):
        # Importing TensorFlow would take seconds.
        for command in ("report", "compare"):
            program = f"import sys; from mlgo import {command}; raise SystemExit('tensorflow' in sys.modules)"
            done = subprocess.run([sys.executable, "-c", program], env=_ENVIRONMENT, check=False)
            self.assertEqual(done.returncode, 0, command)
