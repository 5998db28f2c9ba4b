"""A run that is killed in every stage and started again ends with the bytes of one that was left alone."""

import pathlib
import signal
import tempfile
import unittest

from mlgo.run.exit_codes import ExitCode
from tests.end_to_end import command

_FLAGS = (*command.TINY, "--gin_bindings=BcConfig.epochs=30")


class ResumeTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.inputs = command.fake_inputs(self.folder / "inputs")

    def start(self, output: pathlib.Path) -> command.Command:
        return command.Command([*self.inputs, *_FLAGS, f"--output_dir={output}", "--workers=2"])

    def test_killed_in_every_stage(self):
        alone, killed = self.folder / "alone", self.folder / "killed"
        code, said = self.start(alone).end()
        self.assertEqual(code, ExitCode.DONE, said)

        # When to kill, and the manifest of the stage that must not have been finished by then.
        moments = (
            ("optimised/train/train/*.cmd", 2, "optimised/train/manifest.json", signal.SIGINT),
            ("trace/train/modules/train/*.json", 2, "trace/train/manifest.json", signal.SIGKILL),
            ("warm_start/epochs/behavioural_cloning.json", 1, "warm_start/manifest.json", signal.SIGKILL),
            ("learning/iterations.jsonl", 1, "learning/manifest.json", signal.SIGKILL),
            ("export/saved_model.pb", 1, "export/manifest.json", signal.SIGKILL),
            (".policy.*.partial/saved_model.pb", 1, "policy/policy.json", signal.SIGKILL),
        )
        for pattern, count, manifest, number in moments:

            def reached(pattern=pattern, count=count):
                return len(list(killed.glob(pattern))) >= count

            with self.subTest(pattern):
                code, said = self.start(killed).kill_when(reached, number)
                self.assertEqual(code, ExitCode.INTERRUPTED if number == signal.SIGINT else -number, said)
                self.assertFalse((killed / manifest).exists(), f"killed too late, {manifest} is there")
        code, said = self.start(killed).end()
        self.assertEqual(code, ExitCode.DONE, said)
        self.assertIn("continuing", said)
        self.assertEqual(command.differing(alone, killed), [])

    def test_finished_run_does_nothing_but_tell(self):
        output = self.folder / "output"
        first = self.start(output).end()
        before = command.outputs(output)
        code, said = self.start(output).end()
        self.assertEqual((first[0], code), (ExitCode.DONE, ExitCode.DONE), said)
        self.assertEqual(said.count("done before"), 10, said)
        self.assertEqual(command.outputs(output), before)


if __name__ == "__main__":
    unittest.main()
