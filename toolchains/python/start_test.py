"""start.sh against Bazel's own start: both call an interpreter that prints what it was given."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

_HERE = pathlib.Path(__file__).parent
_VALUES = {
    "%shebang%": "#!/bin/sh",
    "%target%": "@@//some:program",
    "%main%": "_main/some/program.py",
    "%python_binary%": "python/usr/bin/python3",
    "%imports%": "_main:pip/site:_main",
    "%import_all%": "True",
    "%is_zipfile%": "False",
    "%coverage_tool%": "",
    "%workspace_name%": "_main",
}
_INTERPRETER = """#!/bin/sh
printf '%s|' "$@" "$PYTHONPATH" "$PYTHONSAFEPATH" "${RUNFILES_DIR-}" "${RUNFILES_MANIFEST_FILE-}"
"""


def _expanded(template: str) -> str:
    for name, value in _VALUES.items():
        template = template.replace(name, value)
    return template


class StartTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory())).resolve() / "with blank"
        self.folder.mkdir()
        self.program = self.folder / "program"
        self.runfiles = self.folder / "program.runfiles"
        for name, text in ((_VALUES["%main%"], ""), (_VALUES["%python_binary%"], _INTERPRETER), ("zlib/a", "")):
            path = self.runfiles / name
            path.parent.mkdir(parents=True)
            path.write_text(text, "utf-8")
            path.chmod(0o755)

    def check(self, command: pathlib.Path | str, *, environment: dict[str, str] | None = None, place: str = "program"):
        """Both starts at `place` give the same; returns it."""
        answers = []
        for name, interpreter in (("start.sh", ["/bin/sh"]), ("python_bootstrap_template.txt", [sys.executable])):
            template = os.environ["BAZEL_START"] if name.endswith(".txt") else _HERE / name
            (self.folder / place).write_text(_expanded(pathlib.Path(template).read_text("utf-8")), "utf-8")
            ended = subprocess.run(
                [*interpreter, command, "one", "two words"],
                env={"PATH": os.environ["PATH"], **(environment or {})},
                cwd=self.folder,
                capture_output=True,
                text=True,
                check=True,
            )
            answers.append(ended.stdout)
        self.assertEqual(answers[0], answers[1])
        return answers[0]

    def test_absolute_path(self):
        answer = self.check(self.program).split("|")
        self.assertEqual(answer[:3], [f"{self.runfiles}/_main/some/program.py", "one", "two words"])
        self.assertEqual(
            answer[3].split(":"),
            [str(self.runfiles), *(f"{self.runfiles}/{name}" for name in ("_main", "pip/site", "python", "zlib"))],
        )

    def test_relative_path(self):
        self.check("program")

    def test_symbolic_link(self):
        (self.folder / "links").mkdir()
        (self.folder / "links/first").symlink_to("second")
        (self.folder / "links/second").symlink_to(self.program)
        self.check(self.folder / "links/first")

    def test_program_among_the_files_of_another(self):
        self.check(self.runfiles / "_main/some/program", place="program.runfiles/_main/some/program")

    def test_caller_names_the_files(self):
        elsewhere = self.folder / "elsewhere"
        self.runfiles.rename(elsewhere)
        self.assertIn(str(elsewhere), self.check(self.program, environment={"RUNFILES_DIR": str(elsewhere)}))

    def test_caller_names_a_manifest(self):
        self.runfiles.rename(self.folder / "other.runfiles")
        for manifest in ("other.runfiles_manifest", "other.runfiles/MANIFEST"):
            self.check(self.program, environment={"RUNFILES_MANIFEST_FILE": str(self.folder / manifest)})

    def test_files_of_a_caller_that_lack_the_program_are_passed_over(self):
        self.check(self.program, environment={"RUNFILES_DIR": str(self.folder)})

    def test_manifests_are_handed_on(self):
        (self.runfiles / "MANIFEST").touch()
        self.assertIn("program.runfiles/MANIFEST", self.check(self.program))
        (self.folder / "program.runfiles_manifest").touch()
        self.assertIn("program.runfiles_manifest", self.check(self.program))

    def test_python_path_of_the_caller_comes_last(self):
        self.assertIn("/zlib:/given|", self.check(self.program, environment={"PYTHONPATH": "/given"}))

    def test_missing_files_are_an_error(self):
        self.runfiles.rename(self.folder / "gone")
        self.program.write_text(_expanded((_HERE / "start.sh").read_text("utf-8")), "utf-8")
        ended = subprocess.run(["/bin/sh", self.program], capture_output=True, text=True)
        self.assertEqual(ended.returncode, 1)
        self.assertIn("the folder of its files (.runfiles) is not beside it", ended.stderr)


if __name__ == "__main__":
    unittest.main()
