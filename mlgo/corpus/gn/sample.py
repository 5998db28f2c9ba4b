"""Builds a seeded sample of a gn project's C and C++ compiles with all that they read, and extrapolates to the whole.

    ./bazelw run //mlgo/corpus/chromium:browser_sample -- --steps=40 --seed=1

Output: DIR/report.json, and DIR/report.txt, which is also printed: what compiled, each failure with its reason, CPU
time, memory and size per compile, and time and disk of all compiles of the project, extrapolated. DIR/build keeps what
was made: the same command resumes, and a larger --steps of the same seed adds to the sample. Ninja makes the headers
and sources that the compiles read; objects, archives and programs that their targets depend on besides are not built.

Exit codes: 0 done, 2 a flag or the project is not usable, 10 no compile of the sample was built.
"""

import argparse
import os
import pathlib
import resource
import sys
import time
from collections.abc import Collection, Mapping, Sequence

from mlgo.corpus.gn import build_part, build_sample, gn_build, gn_files, sample_compiles
from mlgo.corpus.gn.attempt import attempt
from mlgo.corpus.gn.project import Configured, Project, configure
from mlgo.corpus.gn.project_file import project_of, runfiles_of
from mlgo.run import files, locate
from mlgo.run.exit import RESUMABLE, exit_code_of
from mlgo.run.exit_codes import ExitCode, RunError
from mlgo.run.progress import show, tell

_VARIABLE = "MLGO_GN_PROJECT"
_NEEDED = "mlgo_needed"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="sample", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--steps", type=int, default=40, help="number of compiles. Default: 40")
    add("--seed", type=int, default=1, help="which compiles; the same seed chooses the same ones. Default: 1")
    add("--minutes", type=float, default=600.0, help="limit for what the sample reads, and again for it. Default: 600")
    add("--jobs", type=int, default=len(os.sched_getaffinity(0)), help="commands at a time. Default: one per core")
    add("--project", metavar="FILE", help="what a target of mlgo_gn_project made. Default: the command's own project")
    add("--output_dir", metavar="DIR", help="default: out/sample of the workspace")
    return parser


def _load(given: str | None) -> tuple[Project, list[str]]:
    path = locate.user_path(given) if given else locate.of_environment(_VARIABLE)
    if path is None:
        raise RunError("--project", "is not given, and this command has no project of its own", "Give the flag")
    remedy = "Build the target of the rule mlgo_gn_project again"
    content = files.read_json(path, "gn project", remedy)
    try:
        return project_of(content, runfiles_of(path)), list(content["targets"])
    except (AttributeError, KeyError, TypeError) as error:
        raise RunError(f"gn project {path}", f"is not whole ({error!r})", remedy) from error


def _cpu_seconds() -> float:
    """Of all child processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _make_needed(configured: Configured, jobs: int, seconds: float, reading: float) -> build_sample.Needed:
    """Builds what the compiles read. Args: reading: CPU seconds that Ninja takes to read the build's description."""
    before, start = _cpu_seconds(), time.monotonic()
    done = attempt(configured, _NEEDED, build_part.NINJA_FILE, jobs, seconds, "sample")
    return build_sample.Needed(
        cpu_seconds=max(_cpu_seconds() - before - reading, 0.0),
        wall_seconds=time.monotonic() - start,
        failed=build_sample.failures(done.log),
        is_complete=done.is_complete,
        memory=done.memory,
    )


def run(arguments: Sequence[str]) -> int:
    """Runs the command; returns its exit code. Raises: RunError: it cannot be done."""
    flags = _parser().parse_args(arguments)
    if flags.minutes <= 0 or flags.jobs < 1:
        raise RunError(f"--minutes={flags.minutes} --jobs={flags.jobs}", "are not positive", "Give larger numbers")
    project, targets = _load(flags.project)
    output = locate.output_directory(flags.output_dir, "sample")
    tell(f"sample: gn gen of {', '.join(targets)}")
    configured = configure(project, output / "build", targets)
    tools, layout, environment = configured.tools, configured.layout, configured.environment
    rules = build_sample.rules_of(gn_build.targets(tools, layout, environment))
    objects = build_sample.compiles(gn_build.inputs(tools, layout, gn_files.GROUP, environment), rules)
    sample = build_sample.chosen(objects, flags.steps, flags.seed)
    commands = sample_compiles.commands_of(configured, sample)
    reading = _write_targets(configured, commands, rules)
    tell(f"sample: making what {len(sample)} of {len(objects):,} compiles read")
    needed = _make_needed(configured, flags.jobs, flags.minutes * 60, reading)
    tell(f"sample: compiling, after {needed.cpu_seconds:,.0f} CPU s and {len(needed.failed)} failed steps")
    compiled = sample_compiles.compile_all(configured, commands, flags.jobs, flags.minutes * 60)
    others = {path for path, rule in rules.items() if rule != "phony"}.difference(objects)
    made = _made(layout.build, others)
    content = build_sample.report(len(objects), sample, compiled, needed, flags.seed, made)
    said = build_sample.text(content)
    files.write_json_atomically(output / "report.json", content)
    files.write_atomically(output / "report.txt", said.encode("utf-8"))
    show(said.splitlines())
    tell(f"done {len(content['compiled'])} of {len(sample)}, {len(content['failed'])} failed -> {output}")
    return ExitCode.DONE


def _made(build: pathlib.Path, paths: Collection[str]) -> build_sample.Made:
    """What exists of `paths`, which count from `build`."""
    found = [build / path for path in paths if (build / path).is_file()]
    return build_sample.Made(len(found), len(paths), sum(path.stat().st_size for path in found))


def _write_targets(configured: Configured, commands: Mapping[str, str], made: Collection[str]) -> float:
    """Writes a Ninja file with a target for what `commands` read and the build makes.

    Returns: CPU seconds that Ninja takes to read the description of the whole build: a minute for a browser.
    """
    tools, layout, environment = configured.tools, configured.layout, configured.environment
    ours = layout.build / build_part.NINJA_FILE
    text = build_part.ninja_text({build_part.NINJA_TARGET: list(commands)})
    files.write_atomically(ours, text.encode("utf-8"))
    before = _cpu_seconds()
    inputs = gn_build.inputs(tools, layout, build_part.NINJA_TARGET, environment, build_part.NINJA_FILE)
    reading = _cpu_seconds() - before
    needed = sample_compiles.read_by(commands, set(inputs).intersection(made))
    files.write_atomically(ours, build_part.ninja_text({_NEEDED: needed}).encode("utf-8"))
    return reading


if __name__ == "__main__":
    raise SystemExit(exit_code_of(lambda: run(sys.argv[1:]), RESUMABLE))
