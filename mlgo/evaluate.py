"""Compares policies with the compiler's default on corpora, module by module and in the linked image.

    ./bazelw run //mlgo:evaluate -- --policy=models/inlining_for_size/policy --corpus=out/corpora/zstd_oz
    ./bazelw run //mlgo:evaluate -- --problem=regalloc_eviction --policy=models/regalloc_eviction/policy
    ./bazelw run //mlgo:evaluate -- --policy=mine=out/inlining/policy --corpus=/data/a --inline_thresholds=5,15,25,50

The development clang compiles every module under the default and under every policy. For inlining, the objects of a
corpus are linked into one image, and the code bytes of the image are the headline figure: the size of objects is
misleading (docs/evaluate-a-policy.md). --inline_thresholds adds the default with other values of -inline-threshold; a
policy should beat the best of them. --callee_saved_costs=32768 adds the default and the policies with the cost of
callee-saved registers that mlgo-speed.cfg has (docs/adr/0006), --csr_first_time_costs with LLVM's own option for it.
--compiler adds another clang of the same LLVM version, for inlining:

    ./bazelw run //mlgo:evaluate -- --corpus=/data/a --compiler=search=bazel-bin/release/clang,-mllvm,-mlgo-search=8

The geometric mean counts every function alike, the weighted sum counts it by its score. The verdict names the measures
that it rests on; where one claims a gain and another a loss, it says so.

Output, below --output_dir: result.json, summary.md, worst_regressions.md, and two tables: modules.csv (the compared
scores) and functions.csv (code bytes of each function). Negative changes are better. Intervals are bootstraps over
modules. A module that fails on one side is left out on all sides and listed. An interrupted command continues when it
is started again, and one with further policies, sides or corpora measures only these. A folder that holds other
results is refused.

Exit codes: 0 done, 2 wrong flag or input, 10 nothing to compare, 11 too many modules failed, 12 worse than
--fail_if_worse_than allows, 130 interrupted.
"""

from absl import flags

from mlgo.compiler.symbols import Demangler
from mlgo.corpus.corpus import Corpus
from mlgo.corpus.fitting import chosen_modules
from mlgo.evaluation.corpora.evaluation import Evaluation, chosen_reward, worse_than
from mlgo.evaluation.corpora.results import Results
from mlgo.evaluation.corpora.tables import Regression
from mlgo.evaluation.policies import Policies
from mlgo.evaluation.sides import (
    COMPILER_HELP,
    COSTS_EVERYWHERE_HELP,
    COSTS_HELP,
    DEFAULT,
    Side,
    compiler_sides,
    costs_from_flags,
    threshold_sides,
    with_costs,
)
from mlgo.flags import compiling
from mlgo.flags.main import problem_from_flags, refuse_arguments, run_command
from mlgo.flags.measuring import compiling_from_flags, define_measuring_flags, held_out_corpus
from mlgo.identity.programs import program_identity
from mlgo.problems.problem import Problem, problem_names
from mlgo.run import flag_values, locate
from mlgo.run.exit_codes import ExitCode, RunError
from mlgo.score.problem_score import score_of

FLAGS = flags.FLAGS

#: What a later command in the same folder may name more of.
_GROWS = ("inputs", "inputs.corpora", "inputs.policies", "inputs.compilers", "configuration.sides")

compiling.define_compiler_flags()
compiling.define_gin_flags()
define_measuring_flags()
flags.DEFINE_string("problem", "inlining_for_size", f"Problem that the policies are for: {', '.join(problem_names())}.")
flags.DEFINE_multi_string("policy", [], "Folder of a policy, as [NAME=]FOLDER; repeatable.")
flags.DEFINE_multi_string(
    "corpus",
    [],
    "Corpus, as [NAME=]PATH or [NAME=]LABEL; repeatable. Default: //mlgo/corpus:llvm_small_oz_held_out for"
    " inlining_for_size, //mlgo/corpus:llvm_small_held_out for others. A label is built when it is not yet.",
)
flags.DEFINE_list("inline_thresholds", [], "For inlining: values of -inline-threshold to compare as well.")
flags.DEFINE_list("callee_saved_costs", [], f"For register allocation. {COSTS_HELP}")
flags.DEFINE_list("csr_first_time_costs", [], f"For register allocation. {COSTS_EVERYWHERE_HELP}")
flags.DEFINE_multi_string("compiler", [], COMPILER_HELP)
flags.DEFINE_string("output_dir", None, "Folder of the results. Default: out/evaluation in the workspace.")
flags.DEFINE_string("linker", None, "Path of ld.lld. Default: the packaged one.")
flags.DEFINE_string(
    "fail_if_worse_than",
    None,
    "Percentage, such as 0.1%: exit code 12 when a policy is worse than the default by more than this on a corpus, in"
    " linked code or, where nothing is linked, in the weighted sum of the scores. With --callee_saved_costs and"
    " --csr_first_time_costs, policies are judged with these costs.",
)
flags.DEFINE_float("sampling_rate", 1.0, "Fraction of each corpus's modules to compile.", lower_bound=0, upper_bound=1)
compiling.define_module_filter("Link nothing, and compare only modules")
flags.DEFINE_bool("icf", False, "Fold identical functions when linking.")
flags.DEFINE_string("reward", None, "Reward to compare per module. Default: the problem's first.")


def main(arguments: list[str]) -> int:
    refuse_arguments(arguments)
    problem = problem_from_flags(FLAGS.problem)
    policies = Policies.load(flag_values.named_paths("--policy", FLAGS.policy, (DEFAULT,)), problem)
    others = _other_compilers(problem, policies)
    clang = compiling.clang_from_flags()
    with_policies = policies.sides(clang)
    costs = costs_from_flags(FLAGS.callee_saved_costs, FLAGS.csr_first_time_costs, problem)
    thresholds = threshold_sides(FLAGS.inline_thresholds, problem, clang)
    sides = [*with_policies, *thresholds, *with_costs([Side(DEFAULT, clang), *with_policies], costs), *others]
    if not sides:
        raise RunError("--policy", "is not given", "Give the folder of a policy")
    reward = chosen_reward(problem, FLAGS.reward)
    links = score_of(problem).links_images
    linker = locate.program(FLAGS.linker, "--linker", "MLGO_PACKAGED_LINKER") if links else None
    allowed = flag_values.parse_percent("--fail_if_worse_than", FLAGS.fail_if_worse_than)
    # Last, for a corpus that is given by its label may have to be compiled.
    paths = flag_values.named_paths("--corpus", FLAGS.corpus or [held_out_corpus(problem)], (DEFAULT,))
    corpora = {
        name: _selected(compiling.corpus_from_flags(path, problem), None, FLAGS.sampling_rate)
        for name, path in paths.items()
    }
    configuration = {"problem": problem.name, "compile_cpu_seconds": FLAGS.compile_cpu_seconds}
    inputs = {
        "corpora": {name: corpus.digest for name, corpus in corpora.items()},
        "policies": dict(policies.digests),
        "compilers": {side.name: side.compiler_digest() for side in others},
        **({"linker": program_identity(linker)} if linker is not None else {}),
    }
    settings = {
        "sides": {side.name: list(side.flags) for side in sides},
        "reward": reward,
        "icf": FLAGS.icf,
        "sampling_rate": FLAGS.sampling_rate,
        "module_filter": FLAGS.module_filter,
    }
    with compiling_from_flags(problem, "evaluation", inputs, settings, _GROWS) as (folder, setup, clang_digest):
        evaluation = Evaluation(folder, setup, configuration, FLAGS.seed, reward, linker, FLAGS.icf)
        model_of = policies.models_in(folder.work)
        found = [
            evaluation.of_corpus(name, corpus, sides, model_of, _filtered(corpus)) for name, corpus in corpora.items()
        ]
    described = {"problem": problem.name, "reward": reward, "seed": FLAGS.seed, "icf": FLAGS.icf, "clang": clang_digest}
    described |= {"compilers": {side.name: [side.compiler_digest(), *side.flags] for side in others}} if others else {}
    names = [side.name for side in sides]
    Results(found, names, policies.digests, described).write(folder.path, _flags_of, Demangler.of_command())
    used = [side.name for side in with_costs(with_policies, costs)] if costs else list(policies.digests)
    worse = [] if allowed is None else worse_than(found, used, allowed)
    if worse:
        print(f"Worse by more than {FLAGS.fail_if_worse_than}: {', '.join(worse)}")
    return ExitCode.OUTPUT_DIFFERS if worse else ExitCode.DONE


def _other_compilers(problem: Problem, policies: Policies) -> list[Side]:
    """The sides of --compiler. Raises: RunError: only development compilers log the scores of `problem`."""
    if FLAGS.compiler and score_of(problem).needs_log:
        wrong = f"is not supported for {problem.name}, whose scores only development compilers log"
        raise RunError("--compiler", wrong, "Compare programs: ./bazelw run //mlgo:evaluate_programs -- --compiler=...")
    return compiler_sides(FLAGS.compiler, policies.digests)


def _selected(corpus: Corpus, pattern: str | None, rate: float) -> Corpus:
    return corpus.select(chosen_modules([module.name for module in corpus.modules], pattern, rate, FLAGS.seed))


def _filtered(corpus: Corpus) -> list[str] | None:
    if FLAGS.module_filter is None:
        return None
    return [module.name for module in _selected(corpus, FLAGS.module_filter, 1.0).modules]


def _flags_of(regression: Regression) -> list[str]:
    """The flags of this command that select the policy and the corpus of `regression`, and its settings."""
    chosen = [f"--problem={FLAGS.problem}"]
    for flag, name in (("policy", regression.policy), ("corpus", regression.corpus)):
        chosen += [f"--{flag}={value}" for value in FLAGS[flag].value if name in flag_values.named_paths("", [value])]
    chosen += [f"--reward={FLAGS.reward}"] if FLAGS.reward else []
    chosen += [f"--sampling_rate={FLAGS.sampling_rate} --seed={FLAGS.seed}"] if FLAGS.sampling_rate < 1.0 else []
    return chosen


if __name__ == "__main__":
    run_command(main)
