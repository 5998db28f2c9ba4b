"""Says what policies are worth in real programs: their size, what they do when they run, and what compiling them takes.

    ./bazelw run //mlgo:evaluate_programs                                                     # the policies in //release:clang
    ./bazelw run //mlgo:evaluate_programs -- --problem=inlining_for_size --programs=lua,re2 --inline_thresholds=10,15,25
    ./bazelw run //mlgo:evaluate_programs -- --program_file=my.json --compiler=mine=/opt/clang,-mllvm,-inline-threshold=20

Programs of Debian's source packages (--list names them) are built with the packaged clang, the default, and with our release clang and
its policies; all are linked statically with the same linker and libraries. What every build of a program prints and writes must be
alike, or it is no row but an error.

- inlining_for_size: bytes of code at -Oz, linked with --gc-sections, with --icf=all too, and by ThinLTO; --inline_thresholds adds the
  packaged clang at other values of -inline-threshold, which is what a policy must beat.
- regalloc_eviction: what the programs do at -O2, release clang with and without the policy: instructions, loads and stores counted exactly
  by Valgrind's Cachegrind, CPU time in turns (and cycles, where `perf` has hardware counters), which vary.
- For both, --cost: time and peak memory of compiling the programs' sources, in turns, whole and by stage.

Below --output_dir: summary.md (the tables that are printed), programs.csv, and result.json:

    {"kind": "programs", "seed": int, "counters": {"counts": "cachegrind", "perf": bool}, "digests": {NAME: sha256},
     "programs": {PROGRAM: {"about", "digest"}},
     "size": {PROGRAM: {SIDE: {"code_bytes", "code_bytes_icf", "code_bytes_thinlto", "executable_bytes", "file_bytes"}}},
     "symbols": {PROGRAM: [{"symbol", "default", "policy"}]},            bytes; the largest growth first, the largest saving last
     "run": {PROGRAM: {SIDE: {"instructions", "data_references", "loads", "stores", "cpu_seconds", "wall_seconds"[, "cycles"]}}},
     "run_details": {PROGRAM: {SIDE: {"runs": {RUN: counts}, "times": {MEASURE: [per repeat]}}}},
     "run_times": {PROGRAM: {SIDE: {"cpu_seconds"...: {"ratio", "low", "high", "repeats"}}}},  of medians, interval over turns
     "cost": {LEVEL: {SIDE: {MEASURE or STAGE: {"ratio", "low", "high", "sum", "base_sum", "sources"}}}},
     "totals": {"size"|"run": {SIDE: {MEASURE: {"geometric_mean", "low", "high", "mean", "worst": {"program", "ratio"}, "programs"}}},
                "best_threshold": SIDE or null},
     "left_out": {PART: {PROGRAM: why}}, "differing": {PART: {PROGRAM: why}}}

Ratios are to the side "default"; below 1 is better. Sizes and, in one place, counts are the same in every run, seconds are not. Ctrl-C or worse: the
same command goes on. How to describe a program: mlgo/evaluation/programs/README.md. ./bazelw run //third_party/chromium:evaluate is this
command with programs of Chromium's code.

Exit codes: 0 done, 2 something is not as it should be, 10 nothing could be compared, 11 a program was left out, 12 two builds of a
program do not do the same, 130 interrupted.
"""

import os
import pathlib
import re
import shutil
from collections.abc import Mapping, Sequence
from typing import Any

from absl import flags

from mlgo.commands.training import refuse_arguments, run_command
from mlgo.compiler.executor import available_cores
from mlgo.evaluation.corpora.inline_thresholds import threshold_flags, threshold_of
from mlgo.evaluation.gn.gn_programs import GnPrograms, complete, load_gn_programs
from mlgo.evaluation.programs import run_time, size, tables
from mlgo.evaluation.programs.building import Side, Toolchain
from mlgo.evaluation.programs.counters import Cachegrind, perf_works
from mlgo.evaluation.programs.evaluation import DEFAULT, CostSettings, ProgramEvaluation
from mlgo.evaluation.programs.program import Program, is_slow, load_program
from mlgo.evaluation.programs.totals import best_threshold, timing_ratios, totals
from mlgo.problems.problem import load_problem
from mlgo.run import files, locate
from mlgo.run.exit_codes import ExitCode, RunError
from mlgo.run.run_folder import RunFolder

FLAGS = flags.FLAGS

_INLINING, _EVICTION = "inlining_for_size", "regalloc_eviction"
_GN_PROGRAMS = "MLGO_GN_PROGRAMS"
_PACKAGE_VARIABLE = "MLGO_PROGRAM_PACKAGE_"
_COMPILER = re.compile(r"([A-Za-z0-9_.-]+)=([^,]+)((?:,[^,]+)*)")

flags.DEFINE_enum("problem", "all", ("all", _INLINING, _EVICTION), "Whose policy is evaluated: sizes, runs, or both.")
flags.DEFINE_list(
    "programs",
    [],
    "Names of built-in programs. Default: all that are not slow, or none where there is a --program_file.",
)
flags.DEFINE_multi_string("program_file", [], "JSON description of a program of yours; repeatable.")
flags.DEFINE_multi_string("package", [], "NAME=FOLDER of sources that a description names as its package; repeatable.")
flags.DEFINE_bool("list", False, "Names the built-in programs and ends.")
flags.DEFINE_string("clang", None, "Release clang, with policies inside. Default: //release:clang.")
flags.DEFINE_string(
    "packaged_clang", None, "The default side for sizes, and what calls the linker. Default: the packaged one."
)
flags.DEFINE_multi_string("compiler", [], "NAME=PATH[,FLAG...]: one more side; repeatable.")
flags.DEFINE_string("linker", None, "ld.lld. Default: the packaged one.")
flags.DEFINE_string(
    "sysroot", None, "Debian 12 headers and libraries. Default: those of this workspace; empty: the machine's."
)
flags.DEFINE_string("valgrind", None, "Default: the packaged one.")
flags.DEFINE_list(
    "inline_thresholds", ["10", "15", "25"], "The packaged clang at these values of LLVM's -inline-threshold, too."
)
flags.DEFINE_bool("thinlto", True, "Whether programs are linked by way of ThinLTO, too (not at other thresholds).")
flags.DEFINE_bool("cost", True, "Whether compile time and memory are measured.")
flags.DEFINE_integer(
    "cost_sources", CostSettings.sources, "Sources of each program that are compiled for it.", lower_bound=1
)
flags.DEFINE_integer("cost_turns", CostSettings.turns, "Compiles of each of them by each compiler.", lower_bound=1)
flags.DEFINE_integer("repeats", 7, "Timed runs of each program.", lower_bound=1)
flags.DEFINE_integer(
    "symbols", 20, "Functions in result.json that grew most, and that shrank most, of each program.", lower_bound=0
)
flags.DEFINE_integer("seed", CostSettings.seed, "Of the bootstraps.", lower_bound=0)
flags.DEFINE_integer(
    "workers", None, "Compiles at a time. Default: one per core. Changes no size and no count.", lower_bound=1
)
flags.DEFINE_string(
    "output_dir", None, "Folder of the results. Default: out/programs, or out/NAME for the programs of the target NAME."
)


def main(arguments: list[str]) -> int:
    """Evaluates; returns the exit code."""
    refuse_arguments(arguments)
    if FLAGS.list:
        for name, description in _descriptions().items():
            content = files.read_json(description, "description of a program", "Restore it")
            print(
                f"{name}: {content.get('about', '')}{' (slow: only when it is named)' if content.get('slow') else ''}"
            )
        return ExitCode.DONE
    folder = RunFolder(locate.output_directory(FLAGS.output_dir, _default_folder()))
    programs = _programs(folder.path)
    packaged = locate.program(FLAGS.packaged_clang, "--packaged_clang", "MLGO_PACKAGED_CLANG").resolve()
    release = (locate.user_path(FLAGS.clang) if FLAGS.clang else locate.runfile("release/clang")).resolve()
    linker = locate.program(FLAGS.linker, "--linker", "MLGO_PACKAGED_LINKER")
    toolchain = Toolchain(_sysroot(), linker, packaged, FLAGS.workers or available_cores(), folder.path / "objects")
    sizes = _size_sides(packaged, release) if FLAGS.problem != _EVICTION else []
    runs = _run_sides(release) if FLAGS.problem != _INLINING else []
    evaluation = ProgramEvaluation(folder.stage, folder.path, toolchain)
    result: dict[str, Any] = {
        "kind": "programs",
        "seed": FLAGS.seed,
        "digests": {"linker": toolchain.digest(), **{f"{side.name} at {size.LEVEL}": side.digest() for side in sizes}},
        "programs": {program.name: {"about": program.about, "digest": program.digest()} for program in programs},
        "counters": {"counts": "cachegrind", "perf": False},
        **{
            part: {}
            for part in (
                "size",
                "symbols",
                "run",
                "run_details",
                "run_times",
                "cost",
                "left_out",
                "differing",
                "totals",
            )
        },
    }
    result["digests"] |= {f"{side.name} at {run_time.LEVEL}": side.digest() for side in runs}
    if sizes:
        thinlto = [side.name for side in sizes if FLAGS.thinlto and threshold_of(side.name) is None]
        table, result["symbols"] = evaluation.sizes(programs, sizes, thinlto, FLAGS.symbols)
        _add(result, "size", table, size.SIZES)
    if runs:
        perf = shutil.which("perf")
        usable = pathlib.Path(perf) if perf and perf_works(pathlib.Path(perf)) else None
        result["counters"]["perf"] = usable is not None
        table, result["run_details"] = evaluation.runs(programs, runs, _counter(), FLAGS.repeats, usable)
        times = {
            program: {side: found["times"] for side, found in sides.items()}
            for program, sides in result["run_details"].items()
        }
        result["run_times"] = timing_ratios(times, DEFAULT, FLAGS.seed)
        _add(result, "run", table, (*run_time.COUNTS, "cpu_seconds", "wall_seconds", "cycles"))
    if FLAGS.cost:
        settings = CostSettings(FLAGS.cost_sources, FLAGS.cost_turns, FLAGS.seed)
        for level, sides in ((size.LEVEL, sizes), (run_time.LEVEL, runs)):
            if sides:
                found, left_out = evaluation.cost(programs, _cost_sides(sides, packaged, release), level, settings)
                result["cost"] |= {level: found} if found else {}
                result["left_out"] |= {f"cost at {level}": left_out} if left_out else {}
    result["totals"]["best_threshold"] = best_threshold(result["totals"].get("size", {}))
    return _report(folder.path, result)


def compiler_sides(values: Sequence[str]) -> list[Side]:
    """The sides that --compiler names.

    Raises: RunError: a value is not NAME=PATH[,FLAG...], or its name is taken.
    """
    sides: dict[str, Side] = {}
    for value in values:
        match = _COMPILER.fullmatch(value)
        if match is None:
            raise RunError(
                f"--compiler={value}",
                "is not NAME=PATH[,FLAG...]",
                "Give one such as mine=/opt/clang,-mllvm,-inline-threshold=20",
            )
        if (
            match[1] in sides
            or match[1] in (DEFAULT, "policy", "packaged", "release")
            or threshold_of(match[1]) is not None
        ):
            raise RunError(f"--compiler={value}", f"has the name {match[1]!r}, which is taken", "Give it another")
        clang = locate.program(match[2], "--compiler", "").resolve()
        sides[match[1]] = Side(match[1], clang, tuple(filter(None, match[3].split(","))))
    return list(sides.values())


def _size_sides(packaged: pathlib.Path, release: pathlib.Path) -> list[Side]:
    flags_by_side = threshold_flags(FLAGS.inline_thresholds, load_problem(_INLINING).threshold_option)
    thresholds = [Side(name, packaged, flags_of) for name, flags_of in flags_by_side.items()]
    return [Side(DEFAULT, packaged), *thresholds, _policy(_INLINING, release), *compiler_sides(FLAGS.compiler)]


def _run_sides(release: pathlib.Path) -> list[Side]:
    return [Side(DEFAULT, release), _policy(_EVICTION, release), *compiler_sides(FLAGS.compiler)]


def _cost_sides(sides: Sequence[Side], packaged: pathlib.Path, release: pathlib.Path) -> list[Side]:
    """The packaged clang, the default, and ours without and with a policy: by the middle one it is seen what the policy alone takes."""
    others = [side for side in sides if side.name != DEFAULT and threshold_of(side.name) is None]
    return [Side(DEFAULT, packaged), Side("release", release), *others]


def _policy(problem: str, release: pathlib.Path) -> Side:
    return Side("policy", release, tuple(load_problem(problem).release_flags()))


def _packages() -> dict[str, pathlib.Path]:
    found = {
        variable.removeprefix(_PACKAGE_VARIABLE): locate.of_environment(variable).parent
        for variable in sorted(os.environ)
        if variable.startswith(_PACKAGE_VARIABLE)
    }
    for value in FLAGS.package:
        name, separator, path = value.partition("=")
        if not separator or not locate.user_path(path).is_dir():
            raise RunError(f"--package={value}", "is not NAME=FOLDER", "Give the folder of a package's sources")
        found[name] = locate.user_path(path)
    return found


def _gn_programs() -> GnPrograms | None:
    """Where this command was built for programs of a gn project."""
    path = locate.of_environment(_GN_PROGRAMS)
    return None if path is None else load_gn_programs(path, locate.rlocation)


def _default_folder() -> str:
    path = locate.of_environment(_GN_PROGRAMS)
    return "programs" if path is None else path.stem


def _descriptions() -> dict[str, pathlib.Path]:
    """Of the built-in programs, by name."""
    if (programs := _gn_programs()) is not None:
        return dict(programs.descriptions)
    folder = locate.runfile("mlgo/evaluation/programs/descriptions/lua.json").parent
    return {path.stem: path for path in sorted(folder.glob("*.json"))}


def _built_in(packages: Mapping[str, pathlib.Path], folder: pathlib.Path) -> list[Program]:
    """Those that --programs names, else all that are not slow."""
    paths = _descriptions()
    if unknown := [name for name in FLAGS.programs if name not in paths]:
        raise RunError(f"--programs={','.join(FLAGS.programs)}", f"names {unknown[0]!r}", f"Known: {', '.join(paths)}")
    names = list(dict.fromkeys(FLAGS.programs)) or [name for name, path in paths.items() if not is_slow(path)]
    if (programs := _gn_programs()) is not None:
        return [load_program(path, packages) for path in complete(programs, names, folder / "gn_programs")]
    return [load_program(paths[name], packages) for name in names]


def _programs(folder: pathlib.Path) -> list[Program]:
    packages = _packages()
    programs = [load_program(locate.user_path(path), packages) for path in FLAGS.program_file]
    if FLAGS.programs or not programs:
        programs = [*_built_in(packages, folder), *programs]
    names = [program.name for program in programs]
    if twice := [name for name in names if names.count(name) > 1]:
        raise RunError("--program_file", f"describes {twice[0]!r}, which there is already", "Give it another name")
    return programs


def _sysroot() -> pathlib.Path | None:
    if FLAGS.sysroot == "":
        return None
    if FLAGS.sysroot:
        return locate.user_path(FLAGS.sysroot)
    found = locate.of_environment("MLGO_SYSROOT")
    if found is None:
        raise RunError(
            "--sysroot", "is not given, and there is no packaged one", "start the command with ./bazelw run, or give it"
        )
    # The runfile is its folder `usr`.
    return found.resolve().parent


def _counter() -> Cachegrind:
    valgrind = locate.program(FLAGS.valgrind, "--valgrind", "MLGO_VALGRIND").absolute()
    # An installed one knows where its tools are; the packaged one was built for a place that it is not in.
    return Cachegrind(valgrind, None if FLAGS.valgrind else valgrind.parents[1] / "libexec" / "valgrind")


def _add(result: dict[str, Any], part: str, table: Any, measures: Sequence[str]) -> None:
    result[part] = table.rows
    result["totals"][part] = totals(table.rows, DEFAULT, measures, FLAGS.seed)
    for kind in ("left_out", "differing"):
        if found := getattr(table, kind):
            result[kind][part] = found


def _report(folder: pathlib.Path, result: dict[str, Any]) -> int:
    summary = tables.markdown(result)
    files.write_json_atomically(folder / "result.json", result)
    files.write_atomically(folder / "programs.csv", tables.to_csv(result))
    files.write_atomically(folder / "summary.md", summary.encode("utf-8"))
    print(f"\n{summary}\nResults: {folder / 'result.json'}, programs.csv, summary.md")
    if result["differing"]:
        return ExitCode.OUTPUT_DIFFERS
    if not (result["size"] or result["run"]):
        raise RunError(
            f"{len(result['programs'])} programs",
            "could not be compared",
            "See why each was left out",
            ExitCode.NOTHING_PRODUCED,
        )
    return ExitCode.TOO_MANY_FAILURES if result["left_out"] else ExitCode.DONE


if __name__ == "__main__":
    run_command(main)
