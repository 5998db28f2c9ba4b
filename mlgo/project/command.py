"""Makes a project smaller or faster with one command in front of its build.

    mlgo smaller -- make -j8                     # runs the build, then measures what makes its largest program smaller
    mlgo faster --run='./prog input' -- make     # what makes this run execute less, also with a profile of it
    mlgo faster -- make                          # the same without a run, as an estimate: each function called once
    mlgo smaller --program=libx.so -- ninja      # of another program or shared library
    mlgo smaller                                 # measures again what the last build made
    mlgo smaller --compile_commands=build/compile_commands.json    # of a build that is there already
    mlgo build -- make -j8                       # the same build with the options that were found

`smaller` and `faster` write the folder mlgo: report.html, mlgo.cfg for --config=, toolchain.cmake, mlgo.json.
Needs Python 3.9 and the compiler beside it. Exit codes: the build's where it fails, 2 a flag or a file is not usable,
10 the build linked nothing, 130 interrupted; the same command goes on where it stopped.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import sys
import tempfile
from collections.abc import Sequence

from mlgo.project import answer, artefact, recorded, recording
from mlgo.project.compiler import Compiler, compiler_at
from mlgo.project.steps import Allowance
from mlgo.run.exit import RESUMABLE, exit_code_of
from mlgo.run.exit_codes import RunError
from mlgo.run.printable import printable_message

#: Without --budget. All variants of a small project fit into the seconds.
_BUDGET = {"smaller": Allowance(times=2.0, seconds=30.0), "faster": Allowance(times=8.0, seconds=30.0)}


def main(arguments: Sequence[str], prefix: pathlib.Path) -> int:
    """Runs the command line without the program's name. Args: prefix: folder of the compiler."""
    return exit_code_of(lambda: run(arguments, prefix), RESUMABLE)


def run(arguments: Sequence[str], prefix: pathlib.Path) -> int:
    """As `main`. Raises: RunError."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    own, command = arguments[:end], arguments[end + 1 :]
    flags, others = _parser().parse_known_args(own)
    if others:
        remedy = f"mlgo {flags.verb} --help has its flags; the build stands behind --: mlgo {flags.verb} -- make -j8"
        raise RunError(" ".join(others), f"is no flag of mlgo {flags.verb}", remedy)
    if command and os.environ.get("MLGO_LINKS"):
        wrong = "runs in a build of another `mlgo`, and each would lead its compilers to itself"
        raise RunError(f"mlgo {flags.verb}", wrong, "Write the build's own command behind one `mlgo`")
    compiler = compiler_at((flags.prefix or prefix).absolute())
    if flags.directory:
        try:
            os.chdir(flags.directory)
        except OSError as error:
            wrong = f"cannot be entered: {error.strerror}"
            raise RunError(f"--directory={flags.directory}", wrong, "Name the folder of the project") from error
    if recording.is_hermetic(command):
        _say(f"{command[0]} checks what its compilers read, so they are not replaced: it builds as without mlgo")
    if flags.verb == "build":
        return _build(compiler, flags, command)
    return _ask(compiler, flags, command)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "mlgo", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="smaller|faster|build")
    helps = {
        "smaller": "build, and measure what makes the program smaller",
        "faster": "build, and measure what makes its runs execute less",
        "build": "build with the options that were found",
    }
    each = {verb: verbs.add_parser(verb, help=text, allow_abbrev=False) for verb, text in helps.items()}
    for one in each.values():
        text = "folder of the result. Default: mlgo"
        one.add_argument("--output", metavar="DIR", type=pathlib.Path, default=pathlib.Path("mlgo"), help=text)
        text = "folder of the project, in which the command runs. Default: the current one"
        one.add_argument("-C", "--directory", metavar="DIR", type=pathlib.Path, help=text)
        text = "folder of the compiler. Default: the one that holds this command"
        one.add_argument("--prefix", metavar="DIR", type=pathlib.Path, help=text)
    for verb, default in _BUDGET.items():
        one = each[verb]
        text = "program or shared library, by the end of its path. Default: the one with most code, tests last"
        one.add_argument("--program", metavar="NAME", help=text)
        text = (
            "CPU time of all compiles, in times of the build's; at least one compile. Default:"
            f" {default.times:g}, and {default.seconds:g} seconds where that is more"
        )
        one.add_argument("--budget", metavar="N", type=float, help=text)
        text = "compiles at a time. Default: the number of cores"
        one.add_argument("--jobs", metavar="N", type=int, default=len(os.sched_getaffinity(0)), help=text)
        text = "in place of a build: the compiles of one that is there; links from build.ninja or link.txt beside it"
        one.add_argument("--compile_commands", metavar="FILE", type=pathlib.Path, help=text)
        text = "with --compile_commands: a command that links, as run in the folder of FILE. May be repeated"
        one.add_argument("--link", metavar="COMMAND", action="append", default=[], help=text)
    text = (
        "a command that runs the program; {} in it stands for the program. May be repeated. Default: none. Then what"
        " a call of each function executes is estimated, from the frequencies of its blocks, and summed: each function"
        " once, or as often as a profile that the build uses says. An estimate is no measurement"
    )
    each["faster"].add_argument("--run", metavar="COMMAND", action="append", default=[], help=text)
    text = (
        "a command as --run, for the profile with which variants are compiled. May be repeated. Default: those of --run"
    )
    each["faster"].add_argument("--profile_run", metavar="COMMAND", action="append", default=[], help=text)
    return parser


def _build(compiler: Compiler, flags: argparse.Namespace, command: Sequence[str]) -> int:
    if not command:
        raise RunError("mlgo build", "has no command", "Write the build behind --: mlgo build -- make")
    folder = flags.output.absolute()
    why = artefact.stale(folder, compiler)
    if why:
        _say(f"{artefact.shown(str(folder), pathlib.Path.cwd())} {why}")
    cache = artefact.opened(folder)
    recording.make_links(cache / "path", compiler, os.environ.get("PATH", os.defpath))
    config = folder / artefact.CONFIG
    with tempfile.TemporaryDirectory(dir=cache, prefix="build.") as alive:
        environment = recording.environment_of(
            compiler, cache / "path", os.environ, pathlib.Path(alive), config=config, command=command
        )
        return recording.run_build(command, environment)[0]


def _ask(compiler: Compiler, flags: argparse.Namespace, command: Sequence[str]) -> int:
    budget = _BUDGET[flags.verb] if flags.budget is None else Allowance(flags.budget)
    if not budget.times > 0:
        raise RunError(f"--budget={budget.times:g}", "is not above 0", "Give times of the build's CPU time, such as 2")
    if flags.verb == "faster" and flags.profile_run and not flags.run:
        remedy = "Give the command that is counted too: --run='./prog input'"
        raise RunError("--profile_run", "makes a profile for what --run counts, and there is no --run", remedy)
    if flags.link and not flags.compile_commands:
        raise RunError("--link", "belongs to --compile_commands", "Links of a build behind -- are seen")
    if flags.compile_commands and command:
        raise RunError("--compile_commands", "stands in the place of a build, and there is one behind --", "Give one")
    cache = artefact.opened(flags.output.absolute())
    with artefact.locked(cache):
        recorded.adopt(cache)
        if flags.compile_commands:
            recorded.state(compiler, cache, flags.compile_commands, flags.link, _say)
        code = recorded.record(compiler, cache, command, _say) if command else 0
        if code:
            _say(f"the build ended with exit code {code}; `mlgo {flags.verb}` alone measures what it linked")
            return code
        return answer.give(compiler, flags, budget, cache, pathlib.Path.cwd(), _say)


def _say(text: str) -> None:
    print(f"mlgo: {printable_message(text)}", file=sys.stderr, flush=True)
