"""Profiles of programs: an instrumented build, run with other inputs than the measured ones."""

import dataclasses
import pathlib
import tempfile
from collections.abc import Mapping, Sequence
from typing import Any

from mlgo.evaluation.programs.building import BuildFailure, build_inputs, compile_objects, link, run_tool
from mlgo.evaluation.programs.evaluation import ProgramEvaluation
from mlgo.evaluation.programs.program import Program
from mlgo.evaluation.programs.running import RunFailure, run_program
from mlgo.evaluation.programs.target import HOST, Target
from mlgo.evaluation.sides import Side
from mlgo.identity.programs import program_identity
from mlgo.run import locate, progress
from mlgo.run.exit_codes import RunError
from mlgo.run.manifest import digest_of_file

_PROFILE = "profile.profdata"


@dataclasses.dataclass(frozen=True)
class ProfileTools:
    runtime: pathlib.Path  #: the library of instrumented programs, libclang_rt.profile.
    profdata: pathlib.Path  #: llvm-profdata.


def profile_tools(target: Target) -> ProfileTools:
    """The packaged tools; they are fetched if they are not yet.

    Raises: RunError: programs of `target` cannot be instrumented, or the command has no tools for it.
    """
    if target != HOST:
        remedy = f"Leave out --pgo or --target={target.name}"
        raise RunError("--pgo", f"has a library for instrumented programs of {HOST.name} alone", remedy)
    runtime = locate.of_environment("MLGO_PROFILE_RUNTIME")
    if runtime is None:
        wrong = "needs the packaged library of instrumented programs, which this command does not have"
        raise RunError("--pgo", wrong, "Start the command with ./bazelw run in a clone of mlgo")
    return ProfileTools(runtime.resolve(), locate.program(None, "--pgo", "MLGO_PACKAGED_PROFDATA").resolve())


def with_profiles(
    evaluation: ProgramEvaluation, programs: Sequence[Program], levels: Sequence[str], tools: ProfileTools
) -> tuple[list[Program], dict[str, str]]:
    """The programs with profiles, and program -> reason for those that have none and are left out.

    The packaged clang, without any policy, builds the instrumented programs, so that all sides use one profile.
    Programs of the same code and training have one profile: rows of tables may be runs of one program.
    """
    found, left_out = [], {}
    made: dict[tuple[str, str], pathlib.Path] = {}
    bar = progress.start("profiles", len(programs) * len(levels), "builds")
    for program in programs:
        try:
            training = _training_of(program)
            key, profiles = dataclasses.replace(training, name="").digest(), {}
            for level in levels:
                if (key, level) not in made:
                    made[key, level] = _profile(evaluation, training, level, tools)
                profiles[level] = made[key, level]
                bar.advance()
            found.append(dataclasses.replace(program, profiles=profiles))
        except (BuildFailure, RunFailure) as error:
            left_out[program.name] = f"no profile: {error}"
    bar.close()
    return found, left_out


def _training_of(program: Program) -> Program:
    """The program with its training runs in place of those that are measured. Raises: RunFailure: it has none."""
    if program.training is None:
        raise RunFailure("its description has no `training`, the runs for a profile")
    return dataclasses.replace(program, inputs=program.training.inputs, runs=program.training.runs)


def _profile(evaluation: ProgramEvaluation, training: Program, level: str, tools: ProfileTools) -> pathlib.Path:
    toolchain = evaluation.toolchain
    side = Side("instrumented", toolchain.driver)

    def work(stage: pathlib.Path) -> Mapping[str, Any]:
        with tempfile.TemporaryDirectory(prefix="mlgo-profile-") as scratch:
            folder = pathlib.Path(scratch)
            objects = compile_objects(toolchain, side, training, folder / "objects", level, ("-fprofile-generate",))
            runtime = ("-Wl,-u,__llvm_profile_runtime", str(tools.runtime))
            link(toolchain, side, training, objects, folder / "program", runtime)
            counts = folder / "counts"
            counts.mkdir()
            for _ in run_program(training, folder / "program", (), {"LLVM_PROFILE_FILE": str(counts / "%p.profraw")}):
                pass
            raw = sorted(map(str, counts.iterdir()))
            if not raw:
                raise RunFailure("the instrumented program wrote no counts")
            command = [str(tools.profdata), "merge", "-o", str(stage / _PROFILE), *raw]
            run_tool(side, "llvm-profdata", command, folder)
        return {}

    inputs = build_inputs(toolchain, side, training, level)
    inputs |= {"runtime": digest_of_file(tools.runtime), "profdata": program_identity(tools.profdata)}
    name = f"profile/{training.name}/{level.removeprefix('-')}"
    return evaluation.stage(name, inputs, {"level": level}, work) / _PROFILE
