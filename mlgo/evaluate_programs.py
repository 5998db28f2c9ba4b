"""Compares policies with the compiler's default in real programs: code size, executed instructions, compile cost.

    ./bazelw run //mlgo:evaluate_programs                                   # the policies in //release:clang
    ./bazelw run //mlgo:evaluate_programs -- --programs=all                 # in more programs, held-out ones among them
    ./bazelw run //mlgo:evaluate_programs -- --programs=exam                # in ten that nothing was chosen with
    ./bazelw run //mlgo:evaluate_programs -- --problem=inlining_for_size --programs=lua,re2 --inline_thresholds=10
    ./bazelw run //mlgo:evaluate_programs -- --lto=thin,full                # and with the policies in the linker
    ./bazelw run //mlgo:evaluate_programs -- --pgo --allocations=18         # with profiles, from other inputs
    ./bazelw run //mlgo:evaluate_programs -- --target=aarch64 --nocost      # for AArch64, run under QEMU
    ./bazelw run //mlgo:evaluate_programs -- --program_file=my.json --compiler=mine=/opt/clang,-O1
    ./bazelw run //mlgo:evaluate_programs -- --problem=regalloc_eviction --program_file=my.json \\
        --policy=mine=out/eviction/policy --callee_saved_costs=32768     # your policy and the shipped one

The programs come from Debian's source packages (--list shows them); mlgo/evaluation/programs/README.md says how to
describe another one. All are linked statically with the same linker and libraries. All builds of a program must print
and write the same; a program whose builds differ is reported as an error and is in no table.

- inlining_for_size: bytes of code at -Oz, linked with --gc-sections, with --icf=all, and through ThinLTO. The default
  is the packaged clang; --inline_thresholds adds it with other values of -inline-threshold.
- regalloc_eviction: instructions, loads and stores that the programs execute at -O2, counted exactly by Valgrind's
  Cachegrind, and CPU time in alternating runs (also cycles, where `perf` has hardware counters, and the events of
  --perf_events). The default is the release clang without policy; --allocations adds the policy with the best of
  several allocations, --callee_saved_costs the default and the policy with a cost of callee-saved registers as
  mlgo-speed.cfg has it, --csr_first_time_costs with that of LLVM's own option.
- --lto, for both: the same of programs whose code the linker generates. The policy's side has a linker with policies.
- --pgo, for both: all sides are compiled with a profile of the program's training runs, whose inputs are not the
  measured ones. The packaged clang makes it; a program without training runs is left out.
- --target: the same of another target's programs. QEMU runs them, and a plugin of it counts in place of Cachegrind.
  Seconds and cycles would be the emulator's and are not measured.
- --policy: a further side per policy that is in no release clang yet. The development clang asks its TFLite model, so
  that its decisions are those of a release clang with this policy; its compile cost is not, and is not measured.
- --cost, for both: time and peak memory of compiling the programs' sources, in total and by stage.

Output, below --output_dir: summary.md, programs.csv and result.json (fields: mlgo/evaluation/programs/README.md).
Ratios are to the side "default"; below 1 is better. An interrupted command continues when it is started again, and one
with further programs or sides measures only these. Seconds and compile cost are taken of all sides in turns, so further
sides measure those again.

Exit codes: 0 done, 2 wrong flag or input, 10 nothing could be compared, 11 a program was left out, 12 two builds of a
program behave differently, 130 interrupted.
"""

import pathlib
import tempfile
from collections.abc import Sequence

from absl import flags

from mlgo.compiler.preflight import preflight
from mlgo.compiler.symbols import Demangler
from mlgo.evaluation.policies import Policies
from mlgo.evaluation.programs import results, run_time, size
from mlgo.evaluation.programs.catalogue import Catalogue
from mlgo.evaluation.programs.compilers import (
    EVICTION,
    INLINING,
    TAKEN,
    Compilers,
    allocation_counts,
    linker_beside,
    lto_kinds,
)
from mlgo.evaluation.programs.counters import Emulator, Perf, cachegrind_from_flags, perf_from_flags
from mlgo.evaluation.programs.evaluation import CostSettings, ProgramEvaluation
from mlgo.evaluation.programs.profiles import profile_tools, with_profiles
from mlgo.evaluation.programs.target import HOST, target_from_flags
from mlgo.evaluation.sides import (
    COMPILER_HELP,
    COSTS_EVERYWHERE_HELP,
    COSTS_HELP,
    Side,
    compiler_sides,
    costs_from_flags,
    is_taken,
    with_costs,
)
from mlgo.flags import counting
from mlgo.flags.main import refuse_arguments, run_command
from mlgo.identity.code import run_identity
from mlgo.problems.problem import load_problem
from mlgo.run import flag_values, locate
from mlgo.run.exit_codes import ExitCode, RunError
from mlgo.run.progress import tell
from mlgo.run.run_folder import RunFolder

FLAGS = flags.FLAGS

# Folder of the builds in the output folder.
_GN_PROGRAMS = "gn_programs"

# Flags that change the results besides programs and compilers.
_SETTINGS = (
    *("problem", "seen", "thinlto", "cost", "cost_sources", "cost_turns", "repeats"),
    *("perf_events", "symbols", "seed", "target"),
)
# What a later command in the same folder may name more of.
_GROWS = ("inputs", "configuration.programs", "configuration.seen")

counting.define_program_tool_flags()
counting.define_program_choice_flags()
flags.DEFINE_enum("problem", "all", ("all", INLINING, EVICTION), "Problem whose policy is evaluated.")
flags.DEFINE_list("seen", [], "Programs whose sources training saw. The others then have means of their own.")
flags.DEFINE_string("clang", "//release:clang", "Release clang with policies inside: a path or a label.")
flags.DEFINE_multi_string(
    "policy", [], "Folder of a policy of --problem to compare as well, as [NAME=]FOLDER; repeatable."
)
flags.DEFINE_string(
    "development_clang", "//development:clang", "For --policy: the development clang, a path or a label."
)
flags.DEFINE_multi_string("compiler", [], COMPILER_HELP)
flags.DEFINE_string("linker", None, "Path of ld.lld. Default: the packaged one.")
flags.DEFINE_list("inline_thresholds", ["10", "15", "25"], "Values of -inline-threshold to compare as well.")
flags.DEFINE_list("callee_saved_costs", [], f"In the run-time comparison. {COSTS_HELP}")
flags.DEFINE_list("csr_first_time_costs", [], f"In the run-time comparison. {COSTS_EVERYWHERE_HELP}")
flags.DEFINE_list(
    "allocations",
    [],
    "Numbers of register allocations that the policy's clang tries, as further sides of the run-time comparison"
    " (release/search).",
)
flags.DEFINE_bool("thinlto", True, "Link through ThinLTO too, except with --inline_thresholds.")
flags.DEFINE_list(
    "lto",
    ["none"],
    "Kinds of LTO within the linker that programs are linked through besides: thin, full. The policy's side uses the"
    " ld.lld beside --clang, which has the policies too. none: no LTO.",
)
flags.DEFINE_bool(
    "pgo", False, "Compile all sides with profiles of the programs' training runs, whose inputs are not measured."
)
flags.DEFINE_bool("cost", True, "Measure compile time and memory.")
flags.DEFINE_integer("cost_sources", CostSettings.sources, "Sources compiled per program for --cost.", lower_bound=1)
flags.DEFINE_integer("cost_turns", CostSettings.turns, "Compiles of each source per compiler.", lower_bound=1)
flags.DEFINE_integer("repeats", 7, "Timed runs of each program.", lower_bound=1)
flags.DEFINE_list(
    "perf_events",
    [],
    "Events, as `perf list` names them, that perf counts in the timed runs besides cycles, such as branch-misses. The"
    " machine must have hardware counters.",
)
flags.DEFINE_integer("symbols", 20, "Functions recorded per program that grew, and that shrank, most.", lower_bound=0)
flags.DEFINE_integer("seed", CostSettings.seed, "Seed of the bootstraps.", lower_bound=0)
flags.DEFINE_integer(
    "workers",
    None,
    "Compiles, and counted programs, at a time. Default: one per core. Changes no result.",
    lower_bound=1,
)
flags.DEFINE_string(
    "target", HOST.name, "What programs are built for: x86_64, or aarch64, armv7_thumb, riscv64 (platforms/README.md)."
)
flags.DEFINE_string("output_dir", None, "Folder of the results. Default: out/programs, or out/ and the target's name.")


def main(arguments: list[str]) -> int:
    refuse_arguments(arguments)
    catalogue = counting.catalogue_unless_listed()
    if catalogue is None:
        return ExitCode.DONE
    with tempfile.TemporaryDirectory(prefix="mlgo-policies-") as models:
        return _evaluated(catalogue, pathlib.Path(models))


def _evaluated(catalogue: Catalogue, models: pathlib.Path) -> ExitCode:
    """Evaluates. Args: models: an empty folder for the models of --policy."""
    target = target_from_flags(FLAGS.target)
    perf = _perf(target == HOST)
    profiling = profile_tools(target) if FLAGS.pgo else None
    folder = RunFolder(locate.output_directory(FLAGS.output_dir, catalogue.name), _GN_PROGRAMS)
    programs = counting.chosen_programs(catalogue, folder.path / _GN_PROGRAMS)
    toolchain = counting.toolchain_from_flags(target, folder.path / "objects")
    release = locate.program(FLAGS.clang, "--clang", variable="").resolve()
    lto = lto_kinds(FLAGS.lto)
    compilers = Compilers(
        toolchain.driver, release, compiler_sides(FLAGS.compiler, TAKEN), linker_beside(release) if lto else None
    )
    sizes = compilers.for_size(FLAGS.inline_thresholds) if FLAGS.problem != EVICTION else []
    allocations = allocation_counts(FLAGS.allocations)
    costs = costs_from_flags(FLAGS.callee_saved_costs, FLAGS.csr_first_time_costs)
    if allocations and lto:
        wrong = "is not supported with --lto, because the linker has no search"
        raise RunError(f"--allocations={','.join(FLAGS.allocations)}", wrong, "Leave one of them out")
    runs = compilers.for_runs(allocations, costs, has_profiles=FLAGS.pgo) if FLAGS.problem != INLINING else []
    measured = {size.LEVEL: list(sizes), run_time.LEVEL: list(runs)}
    levels = [level for level, sides in measured.items() if sides]
    own = _own_policies(models, lto)
    sizes += own if sizes else []
    runs += [*own, *with_costs(own, costs)] if runs else []
    for program in programs:
        if (note := program.level_note(levels)) is not None:
            tell(note)
    plan = results.Plan(
        sizes=sizes,
        runs=runs,
        cost={level: compilers.for_cost(measured[level]) for level in levels if FLAGS.cost},
        thinlto=FLAGS.thinlto,
        symbols=FLAGS.symbols,
        repeats=FLAGS.repeats if target == HOST else 0,
        counter=cachegrind_from_flags(FLAGS.valgrind) if target == HOST else Emulator(target),
        perf=perf,
        cost_settings=CostSettings(FLAGS.cost_sources, FLAGS.cost_turns, FLAGS.seed),
        seen=results.seen_from_flags(FLAGS.seen, programs),
        seed=FLAGS.seed,
    )
    settings = {
        "programs": [program.name for program in programs],
        "pgo": FLAGS.pgo,
        "lto": lto,
        **{name: FLAGS[name].value for name in _SETTINGS},
    }
    folder.claim(run_identity({"inputs": plan.inputs(toolchain), "configuration": settings}), grows=_GROWS)
    evaluation = ProgramEvaluation(folder, toolchain, lto)
    left_out: dict[str, str] = {}
    if profiling is not None:
        programs, left_out = with_profiles(evaluation, programs, levels, profiling)
    result = results.measure(evaluation, programs, plan)
    result["left_out"] |= {"profile": left_out} if left_out else {}
    return results.write(folder.path, result, Demangler.of_command())


def _own_policies(models: pathlib.Path, lto: Sequence[str]) -> list[Side]:
    """The sides of --policy. Args: models: folder for their models; lto: kinds of LTO within the linker.

    Raises: RunError: there is no policy of --problem in a folder, or another flag excludes --policy.
    """
    if not FLAGS.policy:
        return []
    if FLAGS.problem == "all" or lto:
        wrong = "is not supported with --lto, because the linker cannot ask a model" if lto else "needs a problem"
        remedy = "Leave one of them out" if lto else f"Give --problem={INLINING} or --problem={EVICTION}"
        raise RunError(f"--policy={','.join(FLAGS.policy)}", wrong, remedy)
    problem = load_problem(FLAGS.problem)
    paths = flag_values.named_paths("--policy", FLAGS.policy)
    if taken := [name for name in paths if is_taken(name, TAKEN)]:
        raise RunError("--policy", f"would have the name {taken[0]!r}, which is taken", "Give --policy=NAME=FOLDER")
    policies = Policies.load(paths, problem)
    clang = locate.program(FLAGS.development_clang, "--development_clang", variable="").resolve()
    preflight(clang, problem)
    return policies.program_sides(clang, policies.models_in(models))


def _perf(is_timed: bool) -> Perf | None:
    """What counts events in timed runs; None: nothing does. Raises: RunError: --perf_events cannot be counted."""
    if FLAGS.problem != INLINING and is_timed:
        return perf_from_flags(FLAGS.perf_events)
    if FLAGS.perf_events:
        wrong = "is for timed runs, which this command does not do"
        raise RunError(f"--perf_events={','.join(FLAGS.perf_events)}", wrong, "Leave it, --target or --problem out")
    return None


if __name__ == "__main__":
    run_command(main)
