"""Profiles of programs, with a stage runner that builds nothing."""

import dataclasses
import pathlib
import tempfile
import unittest
from collections.abc import Callable, Mapping
from typing import Any

from mlgo.evaluation.programs.building import Toolchain
from mlgo.evaluation.programs.evaluation import ProgramEvaluation
from mlgo.evaluation.programs.profiles import ProfileTools, with_profiles
from mlgo.evaluation.programs.program import Program, ProgramRun, Training
from mlgo.run.manifest import Manifest
from mlgo.run.run_folder import RunFolder

_LEVELS = ("-O2", "-Oz")


class FakeFolder(RunFolder):
    """Remembers the names of stages, and runs none."""

    def __init__(self, path: pathlib.Path):
        super().__init__(path)
        self.stages: list[str] = []

    def stage(
        self,
        name: str,
        inputs: Mapping[str, str],
        configuration: Mapping[str, Any],
        work: Callable[[pathlib.Path], Mapping[str, Any]],
        root: pathlib.Path | None = None,
        continues: Callable[[Any, Mapping[str, Any]], bool] | None = None,
    ) -> Manifest:
        del work, root, continues
        self.stages.append(name)
        return Manifest(name, inputs, configuration, outputs={})


class ProfilesTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.source = self.folder / "main.c"
        self.source.write_text("int main(void) { return 0; }\n", encoding="utf-8")
        driver = self.folder / "driver"
        driver.write_text("#!/bin/sh\n", encoding="utf-8")
        driver.chmod(0o755)
        toolchain = Toolchain(None, self.source, driver, 1)
        self.made = FakeFolder(self.folder)
        self.addCleanup(self.made.close)
        self.evaluation = ProgramEvaluation(self.made, toolchain)
        self.tools = ProfileTools(self.source, self.source)

    def program(self, name, argument="train", **changes):
        def runs(*arguments):
            return (ProgramRun("go", arguments, None, ()),)

        trained = Training({}, runs(argument))
        program = Program(
            name, "", self.folder, ("main.c",), (), (), (), (), (), inputs={}, runs=runs(name), training=trained
        )
        return dataclasses.replace(program, **changes)

    def test_programs_of_the_same_code_and_training_share_a_profile(self):
        programs = [self.program("parse"), self.program("sort"), self.program("other", "else")]
        parse, sort, other = with_profiles(self.evaluation, programs, _LEVELS, self.tools)[0]
        self.assertEqual(parse.profiles, sort.profiles)
        self.assertNotEqual(parse.profiles, other.profiles)
        made = [f"profile/{name}/{level}" for name in ("parse", "other") for level in ("O2", "Oz")]
        self.assertEqual(self.made.stages, made)
        self.assertEqual([program.runs[0].arguments for program in (parse, sort)], [("parse",), ("sort",)])

    def test_other_flags_are_other_code(self):
        programs = [self.program("parse"), self.program("sort", flags=("-DA",))]
        with_profiles(self.evaluation, programs, ["-O2"], self.tools)
        self.assertEqual(self.made.stages, ["profile/parse/O2", "profile/sort/O2"])

    def test_a_program_without_training_is_left_out(self):
        found, left_out = with_profiles(self.evaluation, [self.program("parse", training=None)], _LEVELS, self.tools)
        self.assertEqual((found, self.made.stages), ([], []))
        self.assertIn("has no `training`", left_out["parse"])


if __name__ == "__main__":
    unittest.main()
