"""Programs on all sides, with measurements that are functions of ours."""

import pathlib
import threading
import unittest

from mlgo.evaluation.programs.building import BuildFailure
from mlgo.evaluation.programs.evaluation import Table, of_all_sides
from mlgo.evaluation.programs.program import Program
from mlgo.evaluation.programs.size import OutputDiffers
from mlgo.evaluation.sides import Side
from mlgo.run.exit_codes import RunError
from mlgo.run.progress import Silent
from mlgo.run.signals import KilledFromOutside

_SIDES = [Side(name, pathlib.Path("/clang")) for name in ("default", "policy", "other")]


class AllSidesTest(unittest.TestCase):
    def measured(self, measure, programs=("lua", "re2"), workers=3):
        """What is found, and the table. Args: measure: takes the names of a program and a side."""
        table = Table({}, {}, {})
        named = [Program(name, "", pathlib.Path("/"), (), (), (), (), (), (), {}, ()) for name in programs]
        found = of_all_sides(table, named, _SIDES, lambda p, s: measure(p.name, s.name), workers, Silent())
        return found, table

    def test_everything_is_measured(self):
        found, table = self.measured(lambda program, side: {"outputs": {"run": program}, "sum": program + side})
        self.assertEqual(list(found), ["lua", "re2"])
        self.assertEqual({side: result["sum"] for side, result in found["re2"].items()}["policy"], "re2policy")
        self.assertEqual(list(found["lua"]), ["default", "policy", "other"])
        self.assertEqual(table, Table({}, {}, {}))

    def test_several_at_a_time(self):
        together = threading.Barrier(3)

        def measure(program, side):
            together.wait(60)
            return {"outputs": {}}

        self.assertEqual(len(self.measured(measure)[0]), 2)

    def test_the_first_side_decides_though_a_later_one_fails_before(self):
        later_failed = threading.Event()

        def measure(program, side):
            if (program, side) == ("lua", "other"):
                later_failed.set()
                raise BuildFailure("other: fails")
            if (program, side) == ("lua", "policy"):
                later_failed.wait(60)
                raise RunError("file", "is wrong", "Mend it")
            return {"outputs": {}}

        found, table = self.measured(measure)
        self.assertEqual(list(found), ["re2"])
        self.assertEqual(table.left_out, {"lua": "policy: file: is wrong. Mend it"})
        self.assertEqual(table.differing, {})

    def test_after_a_failure_the_later_sides_are_not_built(self):
        tried = []

        def measure(program, side):
            tried.append(side)
            raise BuildFailure(f"{side}: fails")

        found, table = self.measured(measure, ["lua"], workers=1)
        self.assertEqual((found, tried, table.left_out), ({}, ["default"], {"lua": "default: fails"}))

    def test_other_outputs(self):
        found, table = self.measured(
            lambda program, side: {"outputs": {"a": "1", "b": side if program == "lua" else ""}}
        )
        self.assertEqual(list(found), ["re2"])
        self.assertEqual(table.differing, {"lua": "policy: run b does not give what default gives"})

    def test_outputs_that_differ_within_a_side(self):
        def measure(program, side):
            if program == "re2" and side == "default":
                raise OutputDiffers("default: icf changes the output of run a")
            return {"outputs": {}}

        found, table = self.measured(measure)
        self.assertEqual(list(found), ["lua"])
        self.assertEqual(table.differing, {"re2": "default: icf changes the output of run a"})

    def test_a_kill_from_outside_says_nothing_about_a_program(self):
        def measure(program, side):
            raise KilledFromOutside("clang", "SIGKILL")

        with self.assertRaisesRegex(KilledFromOutside, "clang: was ended from outside, by SIGKILL"):
            self.measured(measure)
