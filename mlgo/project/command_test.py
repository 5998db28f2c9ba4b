"""What `mlgo` says to command lines that it cannot use, and where it was copied away from its modules."""

import contextlib
import io
import json
import os
import pathlib
import shutil
import subprocess
import sys
from unittest import mock

from mlgo.project import command
from mlgo.project.testing.project_case import ProjectCase


class CommandTest(ProjectCase):
    def setUp(self):
        super().setUp()
        self.compiler = self.installed()

    def said(self, *words):
        """Exit code and messages of a command in a folder of its own."""
        messages = io.StringIO()
        own = [*words[:1], f"--output={self.folder / 'mlgo'}", *words[1:]]
        with contextlib.redirect_stderr(messages):
            code = command.main(own, self.compiler.prefix)
        return code, messages.getvalue()

    def test_a_build_without_the_two_dashes(self):
        code, text = self.said("smaller", "make", "-j2")
        self.assertEqual(code, 2)
        self.assertIn("make -j2: is no flag of mlgo smaller", text)
        self.assertIn("the build stands behind --", text)
        self.assertIn("--bugdet=3: is no flag of mlgo faster", self.said("faster", "--bugdet=3", "--", "true")[1])
        self.assertIn("make: is no flag of mlgo build", self.said("build", "make")[1])
        self.assertFalse((self.folder / "mlgo").exists())

    def test_a_command_for_a_shell(self):
        for words in (["make -j2"], ["CFLAGS=-O3", "make"]):
            code, text = self.said("smaller", "--", *words)
            self.assertEqual(code, 2, text)
            self.assertIn("what a shell has to read needs sh -c 'COMMAND'", text)

    def test_a_build_that_compiles_nothing(self):
        code, text = self.said("smaller", "--", "true")
        self.assertEqual(code, 10, text)
        self.assertIn("compiled nothing that mlgo saw", text)

    def test_a_build_that_checks_what_its_compilers_read(self):
        bazel = str(self.program("bin/bazel", "printenv CC LD_PRELOAD MLGO_LINKS; exit 3"))
        self.write("mlgo/mlgo.cfg")
        self.write("mlgo/mlgo.json", '{"format": 1, "sources": {}}')
        for verb in ("smaller", "build"):
            code, text = self.said(verb, "--", bazel, "build")
            self.assertEqual(code, 3)
            self.assertIn("bazel checks what its compilers read, so they are not replaced: it builds as without", text)

    def test_a_build_that_removes_the_folder_of_mlgo(self):
        for end, expected in (("true", 2), ("exit 7", 7)):
            code, text = self.said("smaller", "--", "sh", "-c", f"rm -rf '{self.folder}/mlgo'; {end}")
            self.assertEqual(code, expected, text)
        _, text = self.said("smaller", "--", "rm", "-rf", f"{self.folder}/mlgo")
        self.assertIn("mlgo/.cache, where its commands are recorded. Name a folder that it does not remove", text)

    def test_a_build_that_makes_nothing_after_one_that_did(self):
        archive = {"kind": "Archive", "output": "/x.a", "members": []}
        content = {"format": 1, "commands": [archive], "build_seconds": 1.0, "changed": {}}
        self.write("mlgo/.cache/recording.json", json.dumps(content))
        self.assertIn("made nothing by a compiler that mlgo knows", self.said("smaller", "--", "true")[1])

    def test_one_mlgo_below_another(self):
        # Their linkers would start each other without end.
        with mock.patch.dict(os.environ, {"MLGO_LINKS": "/a/mlgo/.cache/path"}):
            for verb in ("smaller", "faster", "build"):
                code, text = self.said(verb, "--", "true")
                self.assertEqual(code, 2, text)
                self.assertIn(f"mlgo {verb}: runs in a build of another `mlgo`", text)

    def test_a_profile_for_nothing(self):
        code, text = self.said("faster", "--profile_run=./p x", "--", "true")
        self.assertEqual(code, 2)
        self.assertIn("there is no --run. Give the command that is counted too", text)

    def test_a_copy_of_the_launcher_alone(self):
        launcher = pathlib.Path(__file__).with_name("launcher.py")
        shutil.copyfile(launcher, self.folder / "mlgo.py")
        done = subprocess.run(
            [sys.executable, self.folder / "mlgo.py", "smaller"], capture_output=True, text=True, check=False
        )
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"\Aerror: .*mlgo\.py: has no lib/mlgo beside its folder")
