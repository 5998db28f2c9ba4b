"""Makes a project smaller with one command in front of its build.

    mlgo smaller -- make -j8                  # runs the build, then measures what makes its largest program smaller
    mlgo smaller --program=libx.so -- ninja   # of another program or shared library
    mlgo smaller                              # measures again what the last build made
    mlgo build -- make -j8                    # the same build with the options that were found

`smaller` writes the folder mlgo: report.html, mlgo.cfg for --config=, toolchain.cmake, mlgo.json. Check it in.
Needs Python 3.9 and the compiler beside it. Exit codes: the build's where it fails, 2 a flag or a file is not usable,
10 the build linked nothing, 130 interrupted; the same command goes on where it stopped.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import pathlib
import shlex
import shutil
import sys
import tempfile
from collections.abc import Sequence
from typing import Any

from mlgo.project import artefact, page, recording
from mlgo.project.build import Build
from mlgo.project.command_line import Compile, Link, understand
from mlgo.project.compiler import Compiler, compiler_at
from mlgo.project.compiling import Units
from mlgo.project.measuring import Budget, Measured, best, built_name, measure
from mlgo.project.programs import Program, choose, programs_of
from mlgo.project.records import read_records
from mlgo.project.relinking import Parts, Relinker
from mlgo.run.exit import RESUMABLE, exit_code_of
from mlgo.run.exit_codes import ExitCode, RunError

#: The policy takes one compile, the search two: both fit.
_BUDGET = 3.0
_FEWEST_SECONDS = 1.0


def main(arguments: Sequence[str], prefix: pathlib.Path) -> int:
    """Runs the command line without the program's name. Args: prefix: folder of the compiler."""
    return exit_code_of(lambda: run(arguments, prefix), RESUMABLE)


def run(arguments: Sequence[str], prefix: pathlib.Path) -> int:
    """As `main`. Raises: RunError."""
    own = list(arguments)
    command: list[str] = []
    if "--" in own:
        command = own[own.index("--") + 1 :]
        del own[own.index("--") :]
    flags = _parser().parse_args(own)
    compiler = compiler_at((flags.prefix or prefix).absolute())
    if flags.directory:
        try:
            os.chdir(flags.directory)
        except OSError as error:
            wrong = f"cannot be entered: {error.strerror}"
            raise RunError(f"--directory={flags.directory}", wrong, "Name the folder of the project") from error
    if flags.verb == "build":
        return _build(compiler, flags, command)
    return _smaller(compiler, flags, command)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "mlgo", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="smaller|build")
    smaller = verbs.add_parser("smaller", help="build, and measure what makes the program smaller", allow_abbrev=False)
    build = verbs.add_parser("build", help="build with the options that were found", allow_abbrev=False)
    for each in (smaller, build):
        text = "folder of the result. Default: mlgo"
        each.add_argument("--output", metavar="DIR", type=pathlib.Path, default=pathlib.Path("mlgo"), help=text)
        text = "folder of the project, in which the command runs. Default: the current one"
        each.add_argument("-C", "--directory", metavar="DIR", type=pathlib.Path, help=text)
        text = "folder of the compiler. Default: the one that holds this command"
        each.add_argument("--prefix", metavar="DIR", type=pathlib.Path, help=text)
    text = "program or shared library to measure, by the end of its path. Default: the one with most code"
    smaller.add_argument("--program", metavar="NAME", help=text)
    text = f"CPU time of all compiles, in times of the build's. The first variant always runs. Default: {_BUDGET:g}"
    smaller.add_argument("--budget", metavar="N", type=float, default=_BUDGET, help=text)
    text = "compiles at a time. Default: the number of cores"
    smaller.add_argument("--jobs", metavar="N", type=int, default=len(os.sched_getaffinity(0)), help=text)
    return parser


def _build(compiler: Compiler, flags: argparse.Namespace, command: Sequence[str]) -> int:
    if not command:
        raise RunError("mlgo build", "has no command", "Write the build behind --: mlgo build -- make")
    folder = flags.output.absolute()
    why = artefact.stale(folder, compiler)
    if why:
        _say(f"{artefact.shown(str(folder), pathlib.Path.cwd())} {why}; `mlgo smaller` measures again")
    cache = artefact.opened(folder)
    recording.make_links(cache / "path", compiler, os.environ.get("PATH", os.defpath))
    config = folder / artefact.CONFIG
    environment = recording.environment_of(compiler, cache / "path", os.environ, config=config)
    return recording.run_build(command, environment)[0]


def _smaller(compiler: Compiler, flags: argparse.Namespace, command: Sequence[str]) -> int:
    cache = artefact.opened(flags.output.absolute())
    with artefact.locked(cache):
        code = _record(compiler, cache, command) if command else 0
        if code:
            _say(f"the build ended with exit code {code}; `mlgo smaller` alone measures what it linked")
            return code
        return _recorded(compiler, flags, cache)


def _recorded(compiler: Compiler, flags: argparse.Namespace, cache: pathlib.Path) -> int:
    """Measures a program of the builds that were recorded."""
    kept, project = artefact.read_recording(cache), pathlib.Path.cwd()
    if not kept:
        raise RunError("mlgo smaller", "has no command, and no build was recorded here", "Write: mlgo smaller -- make")
    commands = [_command_of(entry) for entry in kept["commands"]]
    build = Build(commands)
    programs = programs_of(build)
    program = choose(programs, flags.program)
    if kept["changed"].get(program.link.output) != artefact.time_of(program.link.output):
        wrong = "was changed after mlgo smaller had recorded its build"
        raise RunError(program.link.output, wrong, "Clean, and run `mlgo smaller -- COMMAND` again")
    parts = Parts(build, program.link)
    notes = _notes(programs, program, commands, parts)
    if not parts.units and not program.link.sources:
        reason = next(iter(parts.others.values()), "it has no objects")
        raise RunError(
            program.link.output,
            f"has no unit that clang can compile again: {reason}",
            "Name another with --program=",
            ExitCode.NOTHING_PRODUCED,
        )
    for note in notes:
        _say(note)
    return _measure(compiler, flags, cache, project, program, parts, notes, float(kept["build_seconds"]))


def _record(compiler: Compiler, cache: pathlib.Path, command: Sequence[str]) -> int:
    """Runs the build and adds what it made to what is known of builds before; its exit code."""
    recording.make_links(cache / "path", compiler, os.environ.get("PATH", os.defpath))
    with tempfile.TemporaryDirectory(dir=cache, prefix="records.") as records:
        path = pathlib.Path(records)
        environment = recording.environment_of(compiler, cache / "path", os.environ, records=path)
        code, seconds = recording.run_build(command, environment)
        found, broken = read_records(path)
    if broken:
        _say(f"{broken} commands of the build are not known: they were ended, or the disk is full")
    made = [each for record in found for each in understand(record)]
    kept = artefact.read_recording(cache)
    outputs = {each.output for each in made}
    before = [entry for entry in kept.get("commands", ()) if entry["output"] not in outputs]
    total = max(seconds, float(kept.get("build_seconds", 0.0)))
    commands = before + [{"kind": type(each).__name__, **dataclasses.asdict(each)} for each in made]
    changed = {each.output: artefact.time_of(each.output) for each in made if isinstance(each, Link)}
    artefact.write_recording(cache, commands, total, {**kept.get("changed", {}), **changed})
    return code


def _command_of(entry: dict[str, Any]) -> Compile | Link:
    fields: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in entry.items()}
    kind = fields.pop("kind")
    return Compile(**fields) if kind == "Compile" else Link(**fields)


def _notes(
    programs: Sequence[Program], program: Program, commands: Sequence[Compile | Link], parts: Parts
) -> list[str]:
    notes = []
    others = [one for one in programs if one is not program]
    if others:
        shown = ", ".join(built_name(one) for one in others[:5]) + (", ..." if len(others) > 5 else "")
        notes.append(f"{built_name(program)} is measured; the build also linked {shown} (--program=NAME)")
    machines = sorted({one.machine for one in programs})
    if len(machines) > 1:
        notes.append(f"the build is for {' and '.join(machines)}; {built_name(program)} is for {program.machine}")
    if parts.others:
        name, why = next(iter(sorted(parts.others.items())))
        notes.append(f"{len(parts.others)} objects stay as they were built; the first: {os.path.basename(name)} {why}")
    return notes


def _measure(
    compiler: Compiler,
    flags: argparse.Namespace,
    cache: pathlib.Path,
    project: pathlib.Path,
    program: Program,
    parts: Parts,
    notes: list[str],
    build_seconds: float,
) -> int:
    units = Units(compiler, cache)
    scratch = cache / "scratch"
    relinker = Relinker(compiler, units, parts, scratch / "link", max(1, flags.jobs))
    budget = Budget(flags.budget * max(build_seconds, parts.seconds(), _FEWEST_SECONDS))
    try:
        measured = measure(program, parts, relinker, compiler, scratch / "size", budget, _say)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    units.remove_unused()
    chosen = best(measured)
    others = {
        **parts.others,
        **{parts.units[output].source: why for one in measured for output, why in one.refused.items()},
    }
    lines = _closing(measured, chosen, program, flags.output)
    sources = [*(unit.source for unit in parts.units.values()), *program.link.sources]
    content = artefact.content_of(project, compiler, program.link.output, measured, chosen, sources, others)
    text = page.render(built_name(program), lines, measured, chosen, others, notes)
    artefact.write(flags.output.absolute(), content, chosen, text)
    print("\n".join([*page.table(measured), "", *lines]))
    return ExitCode.DONE


def _closing(
    measured: Sequence[Measured], chosen: Measured | None, program: Program, output: pathlib.Path
) -> list[str]:
    """Gain, price, what to type."""
    built, name = measured[0], built_name(program)
    if chosen is None or chosen.size is None or built.size is None:
        return [f"{name}: no variant is smaller than the build", "", f"page: {output / artefact.PAGE}"]
    changes = [page.percent(new, old) for new, old in zip(chosen.size, built.size)]
    price = f"{chosen.seconds or 0:.1f} CPU seconds for its units"
    if built.seconds:
        price += f", {(chosen.seconds or 0) / built.seconds:.2f} times the build's"
    flag = shlex.quote(f"--config={output / artefact.CONFIG}")
    return [
        f"{name}: code {changes[0]}, file {changes[1]}, compressed {changes[2]} with {chosen.row.name}",
        f"compile time: {price}",
        f"to have it: mlgo build -- COMMAND after a clean, or {flag} for compiles and links ({output / artefact.PAGE})",
    ]


def _say(text: str) -> None:
    print(f"mlgo: {text}", file=sys.stderr, flush=True)
