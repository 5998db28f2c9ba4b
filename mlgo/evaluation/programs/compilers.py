"""The compilers that an evaluation of programs compares."""

import dataclasses
import pathlib
from collections.abc import Sequence

from mlgo.evaluation.programs.lto_building import LTO_KINDS
from mlgo.evaluation.sides import ALLOCATIONS, DEFAULT, CalleeSavedCost, Side, threshold_of, threshold_sides, with_costs
from mlgo.problems.problem import load_problem
from mlgo.run.exit_codes import RunError

_POLICY, _RELEASE = "policy", "release"
#: Names that no flag can give to a side.
TAKEN = (_POLICY, "packaged", _RELEASE)
#: The problems whose policies change programs measurably.
INLINING, EVICTION = "inlining_for_size", "regalloc_eviction"
_WITH_PROFILE = ("-mllvm", "-mlgo-policy-with-profile")


@dataclasses.dataclass(frozen=True)
class Compilers:
    packaged: pathlib.Path  #: Debian's clang.
    release: pathlib.Path  #: the clang with policies inside.
    others: Sequence[Side] = ()  #: of --compiler.
    linker: pathlib.Path | None = None  #: the ld.lld with the same policies; None: nothing is linked through LTO.

    def for_size(self, thresholds: Sequence[str]) -> list[Side]:
        """Sides of the size comparison. Args: thresholds: values of -inline-threshold for the packaged clang."""
        at_thresholds = threshold_sides(thresholds, load_problem(INLINING), self.packaged)
        return [Side(DEFAULT, self.packaged), *at_thresholds, self._policy(INLINING), *self.others]

    def for_runs(
        self,
        allocations: Sequence[int] = (),
        callee_saved_costs: Sequence[CalleeSavedCost] = (),
        has_profiles: bool = False,
    ) -> list[Side]:
        """Sides of the run-time comparison: the release clang without and with the eviction policy.

        Args: allocations: values of -mlgo-allocations (release/search) for sides that start from the policy;
          has_profiles: programs have profiles, with which the heuristic decides unless the policy is asked for.
        """
        default, policy = Side(DEFAULT, self.release, decides_after_optimiser=True), self._policy(EVICTION)
        if has_profiles:
            policy = dataclasses.replace(policy, flags=(*policy.flags, *_WITH_PROFILE))
        searches = {f"{ALLOCATIONS}{number}": ("-mllvm", f"-mlgo-allocations={number}") for number in allocations}
        searching = [
            dataclasses.replace(policy, name=name, flags=(*policy.flags, *flags)) for name, flags in searches.items()
        ]
        # For LTO it is the linker that generates the code, with the cost too.
        costly = with_costs((dataclasses.replace(default, linker=self.linker), policy), callee_saved_costs)
        return [default, policy, *costly, *searching, *self.others]

    def for_cost(self, sides: Sequence[Side]) -> list[Side]:
        """Sides of the compile-cost comparison: the packaged clang, the release clang, and `sides` without thresholds.

        The release clang without a policy separates the cost of the policy from that of the build.
        """
        compared = [side for side in sides if side.name != DEFAULT and threshold_of(side.name) is None]
        return [Side(DEFAULT, self.packaged), Side(_RELEASE, self.release), *compared]

    def _policy(self, problem: str) -> Side:
        loaded = load_problem(problem)
        flags, late = tuple(loaded.release_flags()), loaded.decides_after_optimiser
        return Side(_POLICY, self.release, flags, linker=self.linker, decides_after_optimiser=late)


def allocation_counts(values: Sequence[str]) -> list[int]:
    """The numbers of --allocations, without repetition. Raises: RunError: a value is not a number of at least 2."""
    if wrong := [value for value in values if not value.isdecimal() or int(value) < 2]:
        remedy = "Give numbers of at least 2, such as 18: one allocation is the policy alone"
        raise RunError(f"--allocations={','.join(values)}", f"holds {wrong[0]!r}", remedy)
    return sorted(set(map(int, values)))


def lto_kinds(values: Sequence[str]) -> list[str]:
    """The kinds of LTO that --lto names, without "none" and repetition. Raises: RunError: a value is none of them."""
    if unknown := [value for value in values if value not in ("none", *LTO_KINDS)]:
        raise RunError(f"--lto={','.join(values)}", f"holds {unknown[0]!r}", f"Give none, {' or '.join(LTO_KINDS)}")
    return [kind for kind in LTO_KINDS if kind in values]


def linker_beside(clang: pathlib.Path) -> pathlib.Path:
    """The ld.lld that has the policies of the release clang `clang`. Raises: RunError: there is none beside it."""
    linker = clang.with_name("ld.lld")
    if not linker.is_file():
        remedy = "Give --clang of //release:clang or of an installed tree"
        raise RunError("--lto", f"needs ld.lld beside {clang}", remedy)
    return linker
