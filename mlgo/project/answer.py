"""Answers what a command asks about a program of a recorded build: measures, writes the folder, prints the result."""

from __future__ import annotations

import argparse
import os
import pathlib
import shlex
import shutil
from collections.abc import Callable, Mapping, Sequence

from mlgo.project import artefact, counting, goal, page, recorded
from mlgo.project.build import UNSEEN, Build, Program, built_name, choose, is_question, own_libraries, programs_of
from mlgo.project.compiler import Compiler
from mlgo.project.compiling import OBJECTS, Units
from mlgo.project.estimate import Estimate
from mlgo.project.goal import Goal, Result
from mlgo.project.measuring import Measuring, rows_not_tried
from mlgo.project.precompiled import headers_of, reads_precompiled_header
from mlgo.project.profile import Profiler
from mlgo.project.relinking import FOLDER_REMOVED, NOT_RECORDED, REMOVED, SOURCE_REMOVED, Parts, Relinker
from mlgo.project.rows import faster_rows
from mlgo.project.size import has_brotli
from mlgo.project.steps import Allowance
from mlgo.run.exit_codes import ExitCode, RunError
from mlgo.run.printable import printable_text

_NAMED = 5
_CLEAN = "If its objects were there before the build, clean first. Otherwise name another with --program="
#: What Go links below a folder of this name is a question (build.py), and not the program.
KEEP = (
    "The build has to keep what it links. Of Go: mlgo smaller -- sh -c"
    " 'go build -a -work -ldflags=\"-linkmode=external -tmpdir=$(mktemp -d /tmp/go-link-XXXXXX)\"'"
)

_KEEP_FOLDER = (
    "The build has to keep its folder. Of meson-python and scikit-build-core:"
    " mlgo smaller -- pip install --no-build-isolation -Cbuild-dir=build ."
)
_REMEDIES = {REMOVED: KEEP, FOLDER_REMOVED: _KEEP_FOLDER, SOURCE_REMOVED: "The build has to keep its sources"}


def give(
    compiler: Compiler,
    flags: argparse.Namespace,
    budget: Allowance,
    cache: pathlib.Path,
    project: pathlib.Path,
    say: Callable[[str], None],
) -> int:
    """Measures a program of the builds that were recorded. Raises: RunError.

    Args: flags: of `mlgo smaller` or `mlgo faster`. say: prints a sentence.
    """
    known = recorded.read(cache, flags.verb)
    build = Build(known.commands)
    programs = programs_of(build)
    runs = [counting.run_of(text, str(project)) for text in getattr(flags, "run", ())]
    profiled = [counting.run_of(text, str(project)) for text in getattr(flags, "profile_run", ())]
    started = counting.program_named_by(runs[0], programs) if runs and not flags.program else None
    program = started or choose(programs, flags.program, sum(not is_question(output) for output in build.units))
    parts = Parts(build, program.link)
    notes: list[str] = []
    if not flags.program and not runs:
        program, parts, notes = _first_with_units(build, programs, parts)
    if known.changed.get(program.link.output) != recorded.time_of(program.link.output):
        wrong = f"was changed after mlgo {flags.verb} had recorded its build"
        raise RunError(program.link.output, wrong, f"Clean, and run `mlgo {flags.verb} -- COMMAND` again")
    if not parts.units:
        name, reason = next(iter(parts.others.items()), ("its link", "names no object"))
        wrong = f"has no unit that clang can compile again; the first: {os.path.basename(name)}: {reason}"
        remedy = UNSEEN if reason == NOT_RECORDED and not build.units else _REMEDIES.get(reason, _CLEAN)
        raise RunError(program.link.output, wrong, remedy, ExitCode.NOTHING_PRODUCED)
    scratch = cache / "scratch"
    asked = _goal(compiler, flags, program, parts, runs, profiled, cache)
    notes += _notes(programs, program, project, parts, asked)
    for note in notes:
        say(note)
    units = Units(compiler, cache, build.headers, with_costs=asked.estimate is not None)
    relinker = Relinker(compiler, units, parts, scratch / "link", max(1, flags.jobs), say)
    measuring = Measuring(asked, program, relinker, budget, known.seconds, scratch / "search")
    try:
        measured = measuring.measure()
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    newer = [] if asked.estimate else newer_files(units.read)
    if newer:
        files = os.path.basename(newer[0]) + (f" and {len(newer) - 1} more files" if newer[1:] else "")
        notes.append(f"{files} changed after the build, and may be older in the first row than in others. Build again")
        say(notes[-1])
    units.remove_unused()
    for note in asked.notes():
        notes.append(note)
        if asked.runs:
            say(note)
    refused = {parts.units[output].source: why for one in measured for output, why in one.refused.items()}
    sources = [*(unit.source for unit in parts.units.values()), *program.link.sources]
    others = {**parts.others, **refused}
    result = Result(asked, program.link.output, sources, measured, asked.best(measured), others, notes)
    _tell(compiler, flags.output, project, result, parts.unoptimized() > 0)
    return ExitCode.DONE


def _tell(
    compiler: Compiler, output: pathlib.Path, project: pathlib.Path, result: Result, is_unoptimized: bool
) -> None:
    """Writes the folder and prints the table and three lines."""
    estimate, chosen = result.goal.estimate, result.chosen
    first = [estimate.caveat()] if estimate else []
    lines = [*first, *closing(result, output, is_unoptimized)]
    text = page.render(result, lines, artefact.config_of(chosen) if chosen else [])
    artefact.write(output.absolute(), artefact.content_of(project, compiler, result), chosen, text)
    print(printable_text("\n".join([*first, *page.table(result), "", *lines])))


def newer_files(read: Mapping[str, Sequence[str]]) -> list[str]:
    """Files that were written after the build had made the objects of them. Args: read: object -> files."""
    found = set()
    for output, names in read.items():
        made = recorded.time_of(output)
        found |= {name for name in names if made is not None and (recorded.time_of(name) or 0) > made}
    return sorted(found)


def _first_with_units(build: Build, programs: Sequence[Program], first: Parts) -> tuple[Program, Parts, list[str]]:
    """The first program that has units, its parts, and a sentence on those before it; else the first, with `first`."""
    for place, program in enumerate(programs):
        parts = Parts(build, program.link) if place else first
        if parts.units:
            shown = ", ".join(map(built_name, programs[: min(place, _NAMED)]))
            notes = [f"passed over, because clang compiled none of their units: {shown}"] if place else []
            return program, parts, notes
    return programs[0], first, []


def _goal(
    compiler: Compiler,
    flags: argparse.Namespace,
    program: Program,
    parts: Parts,
    runs: Sequence[counting.Run],
    profiled: Sequence[counting.Run],
    cache: pathlib.Path,
) -> Goal:
    """Args: profiled: runs for a profile; empty: `runs`."""
    scratch = cache / "scratch"
    if flags.verb == "smaller":
        return goal.smaller(compiler, scratch / "size")
    if not runs:
        return goal.faster_by_estimate(Estimate(program.link.output))
    counter = counting.counter_of_machine()
    if counter is None:
        wrong = "has neither valgrind, nor perf with hardware counters"
        raise RunError("this machine", wrong, "Install valgrind (apt-get install valgrind)")
    strip = compiler.tool("llvm-strip")
    counted, shown = (
        counting.Runs(counter, program, each, scratch / "runs", strip) for each in (runs, profiled or runs)
    )
    rows = faster_rows((unit.words for unit in parts.units.values()), program.link.words)
    return goal.faster(counted, rows, Profiler(shown, not profiled, compiler, cache / OBJECTS))


def _notes(
    programs: Sequence[Program], program: Program, project: pathlib.Path, parts: Parts, asked: Goal
) -> list[str]:
    notes = []
    count = len(parts.units)
    if len(programs) > 1:
        names = [built_name(one) for one in programs]
        # A name that several have says nothing.
        shown = [
            name if names.count(name) == 1 else artefact.shown(one.link.output, project)
            for name, one in zip(names, programs)
        ]
        own = shown.pop(programs.index(program))
        listed = ", ".join(shown[:_NAMED]) + (", ..." if len(shown) > _NAMED else "")
        notes.append(f"{own} is measured; the build also linked {listed} (--program=NAME)")
    if asked.runs:
        for library in map(built_name, own_libraries(program, programs)):
            notes.append(f"what the run executes in {library} is not measured here: --program={library} does that")
    unoptimized = parts.unoptimized()
    if unoptimized:
        notes.append(
            f"{unoptimized} of {count} units are compiled at -O0, and the changes are against that."
            " Release builds are at -O2: CMake -DCMAKE_BUILD_TYPE=Release, meson --buildtype=release"
        )
    headers = parts.build.headers
    as_text = sum(reads_precompiled_header(unit) and not headers_of(unit, headers) for unit in parts.units.values())
    if as_text:
        notes.append(
            f"{as_text} of {count} units read a precompiled header in the build, and its text here:"
            " compile times are longer than those of `mlgo build`"
        )
    machines = sorted({one.machine for one in programs})
    if len(machines) > 1:
        notes.append(f"the build is for {' and '.join(machines)}; {built_name(program)} is for {program.machine}")
    if parts.others:
        name, why = min(parts.others.items())
        others = len(parts.others)
        subject = "1 input stays as it was" if others == 1 else f"{others} inputs stay as they were"
        notes.append(f"{subject} built; the first: {os.path.basename(name)}: {why}")
    if asked.verb == "smaller" and not has_brotli():
        notes.append("the machine has no program brotli, so files are compressed by xz alone")
    return notes


def closing(result: Result, output: pathlib.Path, is_unoptimized: bool) -> list[str]:
    """Gain, price, what to type."""
    built, chosen = result.measured[0], result.chosen
    left = rows_not_tried(result.measured)
    more = f"; the budget ended before {len(left)} variants: --budget= takes more" if left else ""
    if chosen is None or chosen.figures is None:
        variants = [one for one in result.measured[1:] if one.row.can_be_chosen]
        why = f"was measured: {variants[0].why_not}"
        if any(one.figures for one in variants):
            why = f"{result.goal.better} than the build{more}"
        return [f"{result.name}: no variant {why}", "", f"page: {output / artefact.PAGE}"]
    changes = ", ".join(f"{name} {change}" for name, _, change in result.changes(chosen.figures))
    price = f"{chosen.seconds or 0:.1f} CPU seconds for its units"
    if built.seconds:
        price += f", {(chosen.seconds or 0) / built.seconds:.2f} times the build's"
    profiler = result.goal.profiler
    profile = [profiler.explanation] if chosen.profile and profiler else []
    config = shlex.quote(str(output / artefact.CONFIG))
    # Builds compile in other folders too. The page goes to other machines, so it names no folder of this one.
    flag = f"--config={config}" if output.is_absolute() else f'--config="$PWD"/{config}'
    return [
        f"{result.name}: {changes} with {chosen.row.name}" + (", against a build at -O0" if is_unoptimized else ""),
        *profile,
        f"compile time: {price}{more}",
        f"to have it: mlgo build -- COMMAND after a clean, or {flag} for compiles and links ({output / artefact.PAGE})",
    ]
