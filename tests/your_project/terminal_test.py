import os
import pathlib
import tempfile
import unittest

from tests.your_project import terminal


class TerminalTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory())).resolve()
        self.terminal = terminal.Terminal(self.folder, self.folder, {"PATH": os.defpath})

    def test_variables_and_folder_hold_for_the_next_command(self):
        self.terminal.run("A='one two' B=3")
        self.terminal.run("mkdir -p x/y\ncd x/y")
        self.terminal.run('printf "%s|%s" "$A" "$B" > z; cd - > w')
        self.assertEqual((self.folder / "x/y/z").read_text(), "one two|3")
        self.assertEqual(self.terminal.directory, self.folder)

    def test_a_command_that_fails(self):
        with self.assertRaisesRegex(AssertionError, "(?s)exit code 3: echo why; exit 3.*why"):
            self.terminal.run("echo why; exit 3")
        with self.assertRaisesRegex(AssertionError, "exit code 1: false"):
            self.terminal.run("false\ntrue")

    def test_costs_name_commands(self):
        self.terminal.run("echo a \\\n b")
        self.terminal.run("i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done")
        first, second = self.terminal.costs
        self.assertEqual(first.command, "echo a \\")
        self.assertGreater(second.seconds, 0)

    def test_a_server_counts_what_it_works_for_a_command(self):
        seconds = iter([10.0, 30.0, 40.0, 0.0, 0.0, 5.0])
        shell = terminal.Terminal(self.folder, self.folder, {"PATH": os.defpath}, lambda: next(seconds))
        for _ in range(3):
            shell.run("true")
        # Ended during the second command, started during the third.
        self.assertEqual([round(cost.seconds, -1) for cost in shell.costs[:2]], [20, 0])
        self.assertGreaterEqual(shell.costs[2].seconds, 5)

    def test_seconds_of_a_process(self):
        self.assertGreater(terminal.seconds_of_process(os.getpid()), 0)
        self.assertEqual(terminal.seconds_of_process(2**22 + 1), 0)


if __name__ == "__main__":
    unittest.main()
