"""The programs that a build linked."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import NamedTuple

from mlgo.project.build import Build, linked_inputs
from mlgo.project.command_line import Link
from mlgo.project.size import code_bytes, machine_of
from mlgo.run.exit_codes import ExitCode, RunError

_NAMED = 6
_QUESTIONS = ("/conftest", "/CompilerId", "/CMakeScratch/", "/CMakeTmp/", "/meson-private/", "/_cgo_.o", "/go-link-")
# Words in folders and names of what a project links to try itself, which users of the project do not install.
_TRIALS = re.compile(
    r"\w*(?<!la)(?<!fas)tests?|testing|testsuite|fuzz(ing|ers?)?|bench(marks?)?|(example|sample|demo)s?"
)
_WRITES_PROFILES = ("-fprofile-generate", "-fprofile-instr-generate", "-fcs-profile-generate", "--coverage")


class Program(NamedTuple):
    """A linked file that is there: its link, bytes of code and architecture."""

    link: Link
    code: int
    machine: str


def built_name(program: Program) -> str:
    """File name of a program."""
    return os.path.basename(program.link.output)


def programs_of(build: Build) -> list[Program]:
    """Executables and shared libraries of a build, the largest first; tests, examples and what writes profiles last.

    Where none of them is there, as in a build that renames what it linked: those with most code in their objects.
    """
    links = [
        link
        for link in build.links.values()
        if not is_question(link.output) and not {"-r", "--relocatable"} & set(link.words)
    ]
    found = [
        Program(link, code, machine_of(link.output)) for link in links if (code := code_bytes(link.output)) is not None
    ]
    found = found or [_of_objects(link) for link in links if not os.path.exists(link.output)]
    # The folder of the project itself may be called `test`.
    above = os.path.commonpath([program.link.output for program in found]) if len(found) > 1 else ""
    return sorted(
        found,
        key=lambda program: (
            _is_trial(program.link.output[len(above) :]) or _writes_profiles(program.link),
            -program.code,
            program.link.output,
        ),
    )


def _of_objects(link: Link) -> Program:
    """A program that is gone, by what is left of its objects."""
    sizes = {path: code_bytes(path) for path in linked_inputs(link).values()}
    objects = {path: code for path, code in sizes.items() if code is not None}
    return Program(link, sum(objects.values()), machine_of(next(iter(objects))) if objects else "unknown")


def is_question(path: str) -> bool:
    """Whether configure, CMake, meson or Go made the file to ask the compiler something."""
    return any(part in path for part in _QUESTIONS)


def _is_trial(path: str) -> bool:
    """Whether a path names a test, a benchmark or an example."""
    return any(_TRIALS.fullmatch(word) for word in re.split(r"[^a-z]+", path.lower()))


def _writes_profiles(link: Link) -> bool:
    """Whether runs of a program are for a later compile, as in a build that uses profiles."""
    return any(word.startswith(_WRITES_PROFILES) for word in link.words)


def choose(programs: Sequence[Program], wanted: str | None, units: int) -> Program:
    """The program whose path ends with `wanted`, or the first. libx.so stands for libx.so.1.2 too.

    Args:
      programs: as `programs_of` sorts them.
      units: number of units that the build compiled, for the message.

    Raises: RunError: there is none, or `wanted` means none or several.
    """
    if not programs and units:
        wrong = f"compiled {units} {'unit' if units == 1 else 'units'}, and linked no program or shared library"
        remedy = "Build one too; clean first if one was there already"
        raise RunError("the build", wrong, remedy, ExitCode.NOTHING_PRODUCED)
    if not programs:
        raise RunError(
            "the build",
            "compiled nothing that mlgo saw",
            "If it had nothing to do, clean first. Several commands need a shell: mlgo smaller -- sh -c './configure &&"
            " make'. If its folder was configured with another compiler, configure a new one behind `mlgo smaller --`",
            ExitCode.NOTHING_PRODUCED,
        )
    if wanted is None:
        return programs[0]
    end = os.sep + os.path.normpath(wanted).lstrip(os.sep)
    exact = [one for one in programs if one.link.output.endswith(end)]
    same = exact or [one for one in programs if end.endswith(".so") and f"{end}." in one.link.output]
    if len(same) == 1:
        return same[0]
    shown = ", ".join(one.link.output for one in (same or programs)[:_NAMED])
    wrong = "names several programs" if same else "names no program that the build linked"
    raise RunError(f"--program={wanted}", wrong, f"Choose one of {shown}")
