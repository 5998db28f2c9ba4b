"""What programs execute when the development clang compiles them with a policy that is not in a release clang yet.

The counts are those of //mlgo:evaluate_programs: Cachegrind's, of programs built at -O2, the same in every run.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from mlgo.evaluation.programs.counters import Counter
from mlgo.evaluation.programs.evaluation import ProgramEvaluation
from mlgo.evaluation.programs.program import Program
from mlgo.evaluation.programs.tables import percent
from mlgo.evaluation.sides import DEFAULT, Side
from mlgo.evaluation.statistics import ratios_of
from mlgo.run.exit_codes import ExitCode

#: Counts that are printed; the first one is in the verdict.
_SHOWN = ("instructions", "data_references", "code_bytes")


@dataclasses.dataclass(frozen=True)
class PolicyCounts:
    """Counted program -> its digest; and "run", "left_out", "differing" of //mlgo:evaluate_programs' result.json."""

    programs: Mapping[str, str]
    content: Mapping[str, Any]

    def ratios(self, policies: Sequence[str]) -> dict[str, dict[str, float]]:
        """Policy -> program -> ratio of its executed instructions to the default's."""
        return {policy: ratios_of(self.content["run"], policy, DEFAULT, _SHOWN[0]) for policy in policies}

    def to_json(self) -> dict[str, Any]:
        return {**self.content, "digests": dict(self.programs)} if self.programs else {}

    def lines(self) -> list[str]:
        """One line per program and policy, and one per program that could not be counted."""
        lines = []
        for program, sides in self.content["run"].items():
            base = sides[DEFAULT]
            for side in (name for name in sides if name != DEFAULT):
                shown = ", ".join(
                    f"{measure.replace('_', ' ')} {percent(sides[side][measure] / base[measure])}"
                    for measure in _SHOWN
                    if base.get(measure)
                )
                lines.append(f"{program}, {side}: {shown} (of {base['instructions']:,} instructions)")
        lines += [f"{program}: not counted: {why}" for program, why in self.content["left_out"].items()]
        return lines + [f"{program}: DIFFERENT OUTPUT: {why}" for program, why in self.content["differing"].items()]

    @property
    def exit_code(self) -> ExitCode:
        if self.content["differing"]:
            return ExitCode.OUTPUT_DIFFERS
        return ExitCode.TOO_MANY_FAILURES if self.content["left_out"] else ExitCode.DONE


#: No program was given.
NONE = PolicyCounts({}, {"run": {}, "left_out": {}, "differing": {}})


def count_policies(
    evaluation: ProgramEvaluation, programs: Sequence[Program], sides: Sequence[Side], counter: Counter
) -> PolicyCounts:
    """Builds and counts `programs` on all `sides`, the default first."""
    table, _ = evaluation.counts(programs, sides, counter)
    content = {"run": table.rows, "left_out": table.left_out, "differing": table.differing}
    return PolicyCounts({program.name: program.digest() for program in programs}, content)
