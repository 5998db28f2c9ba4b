"""A whole program, lua, whose units are optimised once: every side makes the objects of full compiles.

Arguments: the packaged clang and ld.lld, the sysroot's usr, lua's source.
"""

import dataclasses
import pathlib
import sys
import tempfile
import unittest

from mlgo.evaluation.programs.building import Toolchain, compile_objects
from mlgo.evaluation.programs.compilers import Compilers
from mlgo.evaluation.programs.program import load_program
from mlgo.evaluation.sides import CalleeSavedCost
from mlgo.run.locate import runfile

_CLANG, _LINKER, _USR, _SOURCE = (pathlib.Path(path).absolute() for path in sys.argv[1:5])
del sys.argv[1:5]


class OptimisedProgramTest(unittest.TestCase):
    def test_sides_make_the_objects_of_full_compiles(self):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        stamp = folder / "stamp"
        stamp.write_text("headers do not change here", encoding="utf-8")
        whole = Toolchain(_USR.resolve().parent, _LINKER, _CLANG.resolve(), workers=2)
        shared = folder / "objects"
        once = dataclasses.replace(whole, objects=shared)
        lua = load_program(
            runfile("mlgo/evaluation/programs/descriptions/lua.json"),
            {"lua": _SOURCE if _SOURCE.is_dir() else _SOURCE.parent},
        )
        program = dataclasses.replace(lua, fingerprints=(stamp,))
        costs = [CalleeSavedCost(32768), CalleeSavedCost(32768, everywhere=True)]
        sides = Compilers(_CLANG.resolve(), runfile("release/clang").resolve()).for_runs([2], costs)
        made = set()
        for side in sides:
            objects = {
                name: [
                    path.read_bytes()
                    for path in compile_objects(toolchain, side, program, folder / name / side.name, "-O2")
                ]
                for name, toolchain in (("whole", whole), ("once", once))
            }
            different = [
                path
                for (path, _), one, other in zip(program.units(), objects["whole"], objects["once"])
                if one != other
            ]
            self.assertEqual(different, [], side.name)
            made.add(tuple(objects["once"]))
        self.assertEqual(len(made), len(sides))
        # A file for each unit's bitcode, and one for each side's object of it; sides may agree in contents.
        self.assertEqual(len(list(shared.iterdir())), len(program.units()) * (1 + len(sides)))


if __name__ == "__main__":
    unittest.main()
