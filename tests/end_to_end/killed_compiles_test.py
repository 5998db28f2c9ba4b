"""Compiles that are killed from outside change no byte of a run. Killed every time, they stop it, and it can go on."""

import pathlib
import tempfile
import unittest

from mlgo.compiler.testing import fake_server
from mlgo.compiler.testing.killer import Killer
from mlgo.run.exit_codes import ExitCode
from tests.end_to_end import command


class KilledCompilesTest(unittest.TestCase):
    folder: pathlib.Path
    inputs: list[str]
    bin: pathlib.Path
    code: int
    said: str

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.inputs = command.fake_inputs(cls.folder / "inputs")
        cls.bin = cls.folder / "inputs" / "bin"
        fake_server.install(cls.bin)
        cls.code, cls.said = cls.run_in("alone")

    def setUp(self):
        self.assertEqual(self.code, ExitCode.DONE, self.said)

    @classmethod
    def run_in(cls, name: str, *flags: str) -> tuple[int, str]:
        return command.run(*cls.inputs, *command.TINY, f"--output_dir={cls.folder / name}", "--workers=3", *flags)

    def assert_done(self, name: str, *flags: str) -> str:
        code, said = self.run_in(name, *flags)
        self.assertEqual(code, ExitCode.DONE, said)
        return said

    def assert_same_as_alone(self, name: str) -> None:
        self.assertEqual(command.differing(self.folder / "alone", self.folder / name), [])

    def test_killed_compiles_change_nothing(self):
        self.assertNotIn("repeated", self.said)
        (self.bin / "compile_server").rename(self.bin / "moved")
        self.addCleanup((self.bin / "moved").rename, self.bin / "compile_server")
        for name, flags in (("processes", ()), ("servers", (f"--compile_server={self.bin / 'moved'}",))):
            with self.subTest(name), Killer(self.bin, one_in=3) as killer:
                said = self.assert_done(name, *flags)
                self.assert_same_as_alone(name)
                self.assertEqual({each.partition("-")[0] for each in killer.killed}, {"optimised", "default", "policy"})
                self.assertRegex(said, r"repeated \d+ compiles \(SIGKILL from outside \d+\); results do not change")

    def test_a_run_that_was_stopped_goes_on(self):
        with Killer(self.bin, one_in=6, again=True) as killer:
            code, said = self.run_in("stopped")
        self.assertEqual(code, ExitCode.USER_ERROR, said)
        self.assertRegex(said, "error: compile of .* was ended from outside 4 times.* run the same command again")
        self.assertGreaterEqual(len(killer.killed), 4)
        self.assert_done("stopped")
        self.assert_same_as_alone("stopped")


if __name__ == "__main__":
    unittest.main()
