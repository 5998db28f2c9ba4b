"""Profiles of programs, with a stage runner that builds nothing."""

import dataclasses
from unittest import mock

from mlgo.evaluation.programs.building import Toolchain
from mlgo.evaluation.programs.evaluation import ProgramEvaluation
from mlgo.evaluation.programs.profiles import ProfileTools, with_profiles
from mlgo.evaluation.programs.program import Program, ProgramRun, Training
from mlgo.run.run_folder import RunFolder
from mlgo.run.testing.folder_case import FolderCase

_LEVELS = ("-O2", "-Oz")


class ProfilesTest(FolderCase):
    def setUp(self):
        super().setUp()
        self.source = self.file("main.c", "int main(void) { return 0; }\n")
        toolchain = Toolchain(None, self.source, self.script("driver", ""), 1)
        folder = RunFolder(self.folder)
        self.addCleanup(folder.close)
        self.stage = self.enterContext(mock.patch.object(folder, "stage"))
        self.evaluation = ProgramEvaluation(folder, toolchain)
        self.tools = ProfileTools(self.source, self.source)

    def made(self):
        """The names of stages."""
        return [call.args[0] for call in self.stage.call_args_list]

    def program(self, name, argument="train", **changes):
        def runs(*arguments):
            return (ProgramRun("go", arguments, None, ()),)

        trained = Training({}, runs(argument))
        program = Program(name, "", self.folder, ("main.c",), (), (), (), (), (), {}, runs(name), training=trained)
        return dataclasses.replace(program, **changes)

    def test_programs_of_the_same_code_and_training_share_a_profile(self):
        programs = [self.program("parse"), self.program("sort"), self.program("other", "else")]
        parse, sort, other = with_profiles(self.evaluation, programs, _LEVELS, self.tools)[0]
        self.assertEqual(parse.profiles, sort.profiles)
        self.assertNotEqual(parse.profiles, other.profiles)
        made = [f"profile/{name}/{level}" for name in ("parse", "other") for level in ("O2", "Oz")]
        self.assertEqual(self.made(), made)
        self.assertEqual([program.runs[0].arguments for program in (parse, sort)], [("parse",), ("sort",)])

    def test_other_flags_are_other_code(self):
        programs = [self.program("parse"), self.program("sort", flags=("-DA",))]
        with_profiles(self.evaluation, programs, ["-O2"], self.tools)
        self.assertEqual(self.made(), ["profile/parse/O2", "profile/sort/O2"])

    def test_a_program_without_training_is_left_out(self):
        found, left_out = with_profiles(self.evaluation, [self.program("parse", training=None)], _LEVELS, self.tools)
        self.assertEqual((found, self.made()), ([], []))
        self.assertIn("has no `training`", left_out["parse"])
