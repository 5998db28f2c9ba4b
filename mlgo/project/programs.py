"""The programs that a build linked."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import NamedTuple

from mlgo.project.build import Build
from mlgo.project.command_line import Link
from mlgo.project.size import code_bytes, machine_of
from mlgo.run.exit_codes import ExitCode, RunError

_NAMED = 6
# Programs that configure and CMake link to ask the compiler something.
_QUESTIONS = ("/conftest", "/CompilerId", "/CMakeScratch/", "/CMakeTmp/", "/meson-private/")


class Program(NamedTuple):
    """A linked file that is there: its link, bytes of code and architecture."""

    link: Link
    code: int
    machine: str


def built_name(program: Program) -> str:
    """File name of a program."""
    return os.path.basename(program.link.output)


def programs_of(build: Build) -> list[Program]:
    """Executables and shared libraries of a build, the largest first."""
    found = []
    for link in build.links.values():
        if any(part in link.output for part in _QUESTIONS):
            continue
        code = None if {"-r", "--relocatable"} & set(link.words) else code_bytes(link.output)
        if code is not None:
            found.append(Program(link, code, machine_of(link.output)))
    return sorted(found, key=lambda program: (-program.code, program.link.output))


def choose(programs: Sequence[Program], wanted: str | None) -> Program:
    """The program whose path ends with `wanted`, or the largest. libx.so stands for libx.so.1.2 too.

    Raises: RunError: there is none, or `wanted` means none or several.
    """
    if not programs:
        raise RunError(
            "the build",
            "linked no program or shared library that mlgo saw",
            "If it only updated files, clean first. If its folder was configured with another compiler, configure a new"
            " one behind `mlgo smaller --`",
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
