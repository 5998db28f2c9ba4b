"""A whole program, lua, through ThinLTO: the linker of a release clang makes the objects of distributed back ends.

Arguments: the packaged clang and ld.lld, the sysroot's usr, lua's source.
"""

import pathlib
import sys
import tempfile
import unittest

from mlgo.evaluation.programs.building import Toolchain, compile_objects
from mlgo.evaluation.programs.lto_building import link_bitcode, thinlto_objects
from mlgo.evaluation.programs.program import load_program
from mlgo.evaluation.sides import Side
from mlgo.problems.problem import load_problem
from mlgo.run.locate import runfile

_CLANG, _LINKER, _USR, _SOURCE = (pathlib.Path(path).absolute() for path in sys.argv[1:5])
del sys.argv[1:5]
# The linker generates code without relocations for a static program; a compiler of Debian's does not by default.
_STATIC = ("-fno-pic",)
_POLICIES = {
    "-O2": tuple(load_problem("regalloc_eviction").release_flags()),
    "-Oz": tuple(load_problem("inlining_for_size").release_flags()),
}


class LtoProgramTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.toolchain = Toolchain(_USR.resolve().parent, _LINKER, _CLANG.resolve(), workers=2)
        description = runfile("mlgo/evaluation/programs/descriptions/lua.json")
        self.program = load_program(description, {"lua": _SOURCE if _SOURCE.is_dir() else _SOURCE.parent})
        self.release = runfile("release/clang").resolve()

    def side(self, flags: tuple[str, ...]) -> Side:
        return Side("release", self.release, flags, linker=self.release.with_name("ld.lld"))

    def test_local_thinlto_makes_the_objects_of_distributed_back_ends(self):
        for level, policy in _POLICIES.items():
            with self.subTest(level):
                side = self.side((*_STATIC, *policy))
                distributed = thinlto_objects(
                    self.toolchain, side, self.program, self.folder / f"distributed{level}", level
                )
                local = self.local_objects(side, level)
                self.assertEqual(len(local), len(self.program.units()))
                different = [
                    one.name for one, other in zip(distributed, local) if one.read_bytes() != other.read_bytes()
                ]
                self.assertEqual(different, [])
                # The policy is what both asked: without it there are other objects.
                plain = self.local_objects(self.side(_STATIC), level)
                self.assertNotEqual([path.read_bytes() for path in plain], [path.read_bytes() for path in local])

    def local_objects(self, side: Side, level: str) -> list[pathlib.Path]:
        """What the linker of `side` makes of each unit."""
        folder = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        bitcode = compile_objects(self.toolchain, side, self.program, folder, level, ("-flto=thin",))
        keep = ("-Wl,--save-temps=prelink",)
        link_bitcode(self.toolchain, side, self.program, bitcode, "thin", level, folder / "program", keep)
        return [path.with_name(f"program.lto.{path.name}") for path in bitcode]


if __name__ == "__main__":
    unittest.main()
