"""The compilers that an evaluation of programs compares."""

import dataclasses
import pathlib
from collections.abc import Mapping, Sequence

from mlgo.evaluation.callee_saved_costs import side_and_cost, with_costs
from mlgo.evaluation.corpora.inline_thresholds import threshold_flags, threshold_of
from mlgo.evaluation.other_compilers import other_compilers
from mlgo.evaluation.programs.building import Side
from mlgo.evaluation.programs.lto_building import LTO_KINDS
from mlgo.problems.problem import Problem, load_problem
from mlgo.run.exit_codes import RunError

#: The side that the others are compared with.
DEFAULT = "default"
_POLICY, _RELEASE = "policy", "release"
#: Beginning of the name of a side that tries several allocations.
_ALLOCATIONS = "allocations_"
#: The problems whose policies change programs measurably.
INLINING, EVICTION = "inlining_for_size", "regalloc_eviction"


@dataclasses.dataclass(frozen=True)
class Compilers:
    """Attributes:
    packaged: Debian's clang.
    release: our clang with policies inside.
    others: sides of --compiler.
    linker: ld.lld with the same policies, for LTO; None: programs are not linked through it.
    """

    packaged: pathlib.Path
    release: pathlib.Path
    others: Sequence[Side] = ()
    linker: pathlib.Path | None = None

    def for_size(self, thresholds: Sequence[str]) -> list[Side]:
        """Sides of the size comparison. Args: thresholds: values of -inline-threshold for the packaged clang."""
        option = load_problem(INLINING).threshold_option
        by_name = threshold_flags(thresholds, option)
        at_thresholds = [Side(name, self.packaged, flags) for name, flags in by_name.items()]
        return [Side(DEFAULT, self.packaged), *at_thresholds, self._policy(INLINING), *self.others]

    def for_runs(self, allocations: Sequence[int] = (), callee_saved_costs: Sequence[int] = ()) -> list[Side]:
        """Sides of the run-time comparison: the release clang without and with the eviction policy.

        Args:
          allocations: values of -mlgo-allocations (release/search) for sides that start from the policy.
          callee_saved_costs: of the first use of a callee-saved register, for further sides with and without it.
        """
        default, policy = Side(DEFAULT, self.release, decides_after_optimiser=True), self._policy(EVICTION)
        searching = [
            dataclasses.replace(
                policy, name=f"{_ALLOCATIONS}{number}", flags=(*policy.flags, "-mllvm", f"-mlgo-allocations={number}")
            )
            for number in allocations
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
        flags = tuple(loaded.release_flags())
        return Side(_POLICY, self.release, flags, self.linker, decides_after_optimiser=loaded.decides_after_optimiser)


def development_sides(
    clang: pathlib.Path, problem: Problem, models: Mapping[str, tuple[pathlib.Path, str]]
) -> list[Side]:
    """The development clang without a policy, which is the default, and with each of `models`.

    Args: models: name of a policy -> (folder of its TFLite model, digest of the policy).
    """
    return [
        Side(DEFAULT, clang, decides_after_optimiser=problem.decides_after_optimiser),
        *(
            Side(
                name,
                clang,
                decides_after_optimiser=problem.decides_after_optimiser,
                model_flags=tuple(problem.development_flags(None, str(folder))),
                model_digest=f"{problem.name} {digest}",
            )
            for name, (folder, digest) in models.items()
        ),
    ]


def compiler_sides(values: Sequence[str]) -> list[Side]:
    """The sides that --compiler names.

    Raises: RunError: see other_compilers.
    """
    return [Side(other.name, other.clang, other.flags) for other in other_compilers(values, is_taken)]


def is_taken(name: str) -> bool:
    """Whether `name` is of a side that no flag names."""
    taken = name in (DEFAULT, _POLICY, "packaged", _RELEASE) or name.startswith(_ALLOCATIONS)
    return taken or side_and_cost(name) is not None or threshold_of(name) is not None


def allocation_counts(values: Sequence[str]) -> list[int]:
    """The numbers that --allocations names, without repetition.

    Raises: RunError: a value is not a number of at least 2.
    """
    if wrong := [value for value in values if not value.isdecimal() or int(value) < 2]:
        remedy = "Give numbers of at least 2, such as 18: one allocation is the policy alone"
        raise RunError(f"--allocations={','.join(values)}", f"holds {wrong[0]!r}", remedy)
    return sorted(set(map(int, values)))


def lto_kinds(values: Sequence[str]) -> list[str]:
    """The kinds of LTO that --lto names, without "none" and without repetition.

    Raises: RunError: a value is none of them.
    """
    if unknown := [value for value in values if value not in ("none", *LTO_KINDS)]:
        raise RunError(f"--lto={','.join(values)}", f"holds {unknown[0]!r}", f"Give none, {' or '.join(LTO_KINDS)}")
    return [kind for kind in LTO_KINDS if kind in values]


def linker_beside(clang: pathlib.Path) -> pathlib.Path:
    """The ld.lld that has the policies of the release clang `clang`.

    Raises: RunError: there is none beside it.
    """
    linker = clang.with_name("ld.lld")
    if not linker.is_file():
        raise RunError(
            "--lto", f"needs ld.lld beside {clang}", "Give --clang of //release:clang or of an installed tree"
        )
    return linker
