import pathlib

from mlgo.evaluation.programs.compilers import Compilers, allocation_counts, linker_beside, lto_kinds
from mlgo.evaluation.sides import DEFAULT, CalleeSavedCost
from mlgo.run.exit_codes import RunError
from mlgo.run.testing.folder_case import FolderCase

_PACKAGED, _RELEASE = pathlib.Path("/packaged/clang"), pathlib.Path("/release/clang")


class CompilersTest(FolderCase):
    def test_sizes_are_compared_with_the_packaged_clang_and_its_thresholds(self):
        sides = Compilers(_PACKAGED, _RELEASE).for_size(["10"])
        self.assertEqual([side.name for side in sides], [DEFAULT, "threshold_10", "policy"])
        self.assertEqual([side.clang for side in sides], [_PACKAGED, _PACKAGED, _RELEASE])
        self.assertEqual(sides[1].flags, ("-mllvm", "-inline-threshold=10"))
        self.assertIn("-enable-ml-inliner=release", sides[2].flags)

    def test_runs_are_compared_with_the_release_clang_without_policy(self):
        sides = Compilers(_PACKAGED, _RELEASE).for_runs()
        self.assertEqual([(side.name, side.clang) for side in sides], [(DEFAULT, _RELEASE), ("policy", _RELEASE)])
        self.assertEqual(sides[0].flags, ())

    def test_allocations_start_from_the_policy(self):
        _, policy, few, many = Compilers(_PACKAGED, _RELEASE).for_runs(allocation_counts(["18", "2", "18"]))
        self.assertEqual([few.name, many.name], ["allocations_2", "allocations_18"])
        self.assertEqual(many.flags, (*policy.flags, "-mllvm", "-mlgo-allocations=18"))
        for wrong in ("1", "many", "-2"):
            with self.assertRaisesRegex(RunError, f"--allocations={wrong}: holds '{wrong}'. Give numbers"):
                allocation_counts([wrong])

    def test_a_callee_saved_register_has_a_cost_with_and_without_the_policy(self):
        linker = pathlib.Path("/release/ld.lld")
        default, policy, *costly = Compilers(_PACKAGED, _RELEASE, linker=linker).for_runs((), [CalleeSavedCost(5)])
        names = [f"{name}_callee_saved_by_function_5" for name in ("default", "policy")]
        self.assertEqual([side.name for side in costly], names)
        cost = ("-mllvm", "-mlgo-callee-saved-cost=5")
        self.assertEqual([side.flags for side in costly], [(*default.flags, *cost), (*policy.flags, *cost)])
        self.assertEqual({side.linker for side in costly}, {linker})

    def test_the_policy_decides_with_profiles_too(self):
        default, policy, *more = Compilers(_PACKAGED, _RELEASE).for_runs([18], [CalleeSavedCost(5)], has_profiles=True)
        self.assertEqual(default.flags, ())
        without = [side.name for side in more if "-mlgo-policy-with-profile" not in side.flags]
        self.assertEqual(without, [f"{DEFAULT}_callee_saved_by_function_5"])
        self.assertIn("-mlgo-policy-with-profile", policy.flags)

    def test_the_linker_of_a_policy_lies_beside_its_clang(self):
        clang = self.folder / "clang"
        with self.assertRaisesRegex(RunError, "--lto: needs ld.lld beside"):
            linker_beside(clang)
        self.file("ld.lld")
        linker = linker_beside(clang)
        default, policy = Compilers(_PACKAGED, _RELEASE, linker=linker).for_runs()
        self.assertEqual((default.linker, policy.linker), (None, linker))

    def test_kinds_of_lto(self):
        for given, kinds in (["none"], []), ([], []), (["full", "none", "thin", "full"], ["thin", "full"]):
            self.assertEqual(lto_kinds(given), kinds)
        with self.assertRaisesRegex(RunError, "--lto=thin,fat: holds 'fat'"):
            lto_kinds(["thin", "fat"])

    def test_the_cost_tells_the_policy_from_the_build(self):
        compilers = Compilers(_PACKAGED, _RELEASE)
        sides = compilers.for_cost(compilers.for_size(["10"]))
        self.assertEqual([side.name for side in sides], [DEFAULT, "release", "policy"])
