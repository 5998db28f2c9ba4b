"""Measures the rows of a program within a budget of CPU time."""

from __future__ import annotations

import dataclasses
import functools
import pathlib
from collections.abc import Sequence

from mlgo.corpus.elf import exported_names
from mlgo.project.build import Program, built_name
from mlgo.project.compiling import Compiled
from mlgo.project.estimate import REMEDY
from mlgo.project.goal import Goal, Measured, percent
from mlgo.project.profile import profile_option
from mlgo.project.relinking import Relinker
from mlgo.project.rows import (
    AS_BUILT,
    INSTRUMENTED,
    POLICY_FLAGS,
    SAME_OPTIONS,
    Row,
    makes_code,
    why_no_link_flags,
    with_own_linker,
)
from mlgo.project.size import code_bytes
from mlgo.project.steps import Allowance, Budget
from mlgo.project.tuning import Tuned, tune
from mlgo.run.exit_codes import RunError

#: Share of what is left that the search for decisions may take, so that rows behind it are tried too; but at least as
#: much as one compile of the program.
_SEARCH_SHARE = 0.5

# What GNU ld exports of its own, and lld does not.
_OF_LINKERS = {"_init", "_fini", "__bss_start", "_edata", "_end"}

Objects = dict[str, Compiled]


class Measuring:
    """The rows of one program.

    Args: allowance: the budget, against the CPU time of the build. build_seconds: that time; 0: the build was not seen.
      scratch: folder for what a search needs.
    """

    def __init__(
        self,
        goal: Goal,
        program: Program,
        relinker: Relinker,
        allowance: Allowance,
        build_seconds: float,
        scratch: pathlib.Path,
    ):
        self._goal, self._program, self._parts, self._relinker = goal, program, relinker.parts, relinker
        self._allowance, self._scratch, self._say = allowance, scratch, relinker.say
        self._seconds = {output: unit.seconds for output, unit in self._parts.units.items()}
        self._estimates = self._seconds
        self.budget = Budget(allowance.of(max(build_seconds, self._base())))
        self._was_seen = build_seconds > 0
        self._compiled: dict[tuple[str, ...], Objects] = {}
        self._tuned: Tuned | None = None
        self._profile: tuple[pathlib.Path | None, str] | None = None

    def _base(self) -> float:
        """CPU seconds of the build's compiles of this program."""
        return sum(self._seconds.values())

    def measure(self) -> list[Measured]:
        """The program as it was built, then each row. Rows that fail or do not fit say why.

        After a build that was not seen, one with its options comes first, whose time the budget is in times of.
        Raises: RunError: the program cannot be measured as it was built.
        """
        found: list[Measured] = []
        estimate = self._goal.estimate
        if not estimate:
            found.append(self._as_built())
        if estimate or not self._was_seen:
            # What others are compared with is outside the budget.
            limited, self.budget = self.budget, Budget(float("inf"))
            found.append(self._row(SAME_OPTIONS))
            self.budget = limited
        if not self._was_seen:
            objects = self._compiled[SAME_OPTIONS.compile_flags or ()]
            self._seconds = {output: one.seconds for output, one in objects.items()}
            self.budget = Budget(self._allowance.of(self._base()))
        built = found[0].figures
        if built is None and estimate:
            raise RunError(f"an estimate for {built_name(self._program)}", found[0].why_not, REMEDY)
        if built is None:
            wrong = f"is not there, and cannot be linked again: {found[0].why_not}"
            raise RunError(self._program.link.output, wrong, "Name another with --program=")
        for row in self._goal.rows:
            found.append(self._row(row))
            measured = found[-1].figures
            if measured is not None:
                change = percent(self._goal.value(measured), self._goal.value(built))
                self._say(f"{row.name}: {' and '.join(self._goal.decides)} {change}")
        return found

    def _as_built(self) -> Measured:
        link = self._program.link
        if code_bytes(link.output) is None:  # It was moved, or is a script now.
            return self._row(AS_BUILT)
        # The compiles in a link are in its time.
        seconds = self._base() + (link.seconds if makes_code(link.words) and not link.sources else 0.0)
        return Measured(AS_BUILT, self._goal.figures_of(pathlib.Path(link.output)), seconds or None)

    def _row(self, row: Row) -> Measured:
        link = self._program.link
        why = why_no_link_flags(link.tool, link.words) if row.link_flags and not self._goal.estimate else ""
        if why:
            return Measured(row, None, why_not=why)
        if not row.is_profiled:
            return self._measured(row)
        self._profile = self._profile or self._made_profile()
        profile, why = self._profile
        if profile is None:
            return Measured(row, None, why_not=why)
        flags = (*(row.compile_flags or ()), profile_option(str(profile)))
        found = self._measured(dataclasses.replace(row, compile_flags=flags))
        return dataclasses.replace(found, row=row, profile=profile.read_bytes())

    def _made_profile(self) -> tuple[pathlib.Path | None, str]:
        """A profile of the runs, or why there is none."""
        if self._goal.profiler is None:
            return None, "there is no run to make a profile of"
        objects, why = self._objects(INSTRUMENTED)
        if why:
            return None, why
        try:
            profile = self._goal.profiler.profile_of(self._link(INSTRUMENTED, objects)[0])
        except RunError as error:
            return None, f"{error.subject}: {error.wrong}"
        self._relinker.units.used.add(profile)
        return profile, ""

    def _measured(self, row: Row) -> Measured:
        if row.is_tuned:
            objects, why = self._searched(), ""
            if self._tuned is None:
                why = "needs units that are compiled before the link, with the policy"
            elif not self._tuned.found:
                why = self._tuned.summary
        else:
            objects, why = self._objects(row)
        if why:
            return Measured(row, None, why_not=why)
        refused = {output: one.reason for output, one in objects.items() if one.object is None}
        if objects and len(refused) == len(objects):
            return Measured(row, None, why_not=f"no unit compiles: {next(iter(refused.values()))}")
        if not self._goal.estimate:
            return self._linked(row, objects, refused)
        try:
            figures = self._goal.estimate.figures_of(objects)
        except RunError as error:
            return Measured(row, None, why_not=f"{error.subject}: {error.wrong}")
        return Measured(row, figures, sum(one.seconds for one in objects.values()))

    def _objects(self, row: Row) -> tuple[Objects, str]:
        """The objects of a row, or why there are none."""
        flags = row.compile_flags
        if flags is None:
            return self._built_again, ""
        if flags not in self._compiled:
            # A budget below one compile of the program would give no answer.
            is_first = self._compiled.keys() <= {SAME_OPTIONS.compile_flags}
            limit = self.budget.seconds
            if is_first:
                self.budget.seconds = float("inf")
            expected = {output: row.factor * seconds for output, seconds in self._estimates.items()}
            done = self._relinker.compile(flags, self.budget, expected, row.name)
            self.budget.seconds = limit
            if done is None:
                estimate, left = sum(expected.values()), self.budget.left
                return {}, f"about {estimate:.1f} CPU seconds, and {left:.1f} of the budget of {limit:.1f} are left"
            self._compiled[flags] = done
            if is_first:
                # Without precompiled headers it may be more than the build took.
                measured = {output: one.seconds / row.factor for output, one in done.items() if one.object is not None}
                self._estimates = {**self._estimates, **measured}
        return self._compiled[flags], ""

    @functools.cached_property
    def _built_again(self) -> Objects:
        """What stands for objects of the build that are not there, with its options; outside the budget."""
        expected = {output: self._seconds[output] for output in self._parts.absent}
        return self._relinker.compile((), Budget(float("inf")), expected, AS_BUILT.name) or {}

    def _searched(self) -> Objects:
        """The objects with the best decisions that a search found within its share of the budget."""
        start = self._compiled.get(POLICY_FLAGS)
        if self._tuned is None and start:
            share = max(self.budget.left * _SEARCH_SHARE, min(self.budget.left, self._base()))
            self._say(f"searching decisions for {len(start)} units, about {share:.0f} CPU seconds")
            units = [self._parts.units[output] for output, one in start.items() if one.object is not None]
            cache, jobs = self._relinker.units, self._relinker.jobs
            self._tuned = tune(units, start, cache, jobs, self.budget, share, self._scratch, self._say)
            self._say(self._tuned.summary)
        return self._tuned.objects if self._tuned else {}

    def _linked(self, row: Row, objects: Objects, refused: dict[str, str]) -> Measured:
        try:
            linked, seconds = self._link(row, objects)
            self._check_exports(linked)
            figures = self._goal.figures_of(linked)
        except RunError as error:
            own = with_own_linker(row)
            if own:
                return self._linked(own, objects, refused)
            return Measured(row, None, why_not=f"{error.subject}: {error.wrong}", refused=refused)
        total = self._base() if row.compile_flags is None else sum(one.seconds for one in objects.values())
        if makes_code((*row.link_flags, *self._program.link.words)):
            total += seconds
        decisions = self._tuned.decisions if row.is_tuned and self._tuned else ""
        return Measured(row, figures, total, "", refused, decisions)

    def _link(self, row: Row, objects: Objects) -> tuple[pathlib.Path, float]:
        """The program of these objects, and the CPU seconds of its link. Raises: RunError: the linker refuses."""
        refused = {output for output, one in objects.items() if one.object is None}
        if refused & self._parts.absent:
            instead = {output: one for output, one in self._built_again.items() if output in refused}
            objects = {**objects, **instead}
        # As `mlgo build` does: links compile too, the bitcode of -flto.
        linked, seconds = self._relinker.link(self._program.link, objects, row.config, built_name(self._program))
        self.budget.settle(0.0, seconds)
        return linked, seconds

    def _check_exports(self, linked: pathlib.Path) -> None:
        """Raises: RunError: a shared library lacks what the build's has for others, and so is smaller."""
        built = pathlib.Path(self._program.link.output)
        if "-shared" not in self._program.link.words or code_bytes(built) is None:
            return
        lost = exported_names(built.read_bytes()) - _OF_LINKERS - exported_names(linked.read_bytes())
        if lost:
            wrong = f"lost {len(lost)} exported symbols, such as {min(lost)}"
            raise RunError(f"linking {built_name(self._program)}", wrong, "This row is left out")


def rows_not_tried(measured: Sequence[Measured]) -> list[str]:
    """Names of rows that were left out because of the budget."""
    return [one.row.name for one in measured if one.figures is None and "budget" in one.why_not]
