"""Shows decisions of a policy and of the compiler's heuristic in the same states, and the features that explain them.

    ./bazelw run //mlgo:explain -- --policy=models/inlining_for_size/policy --module=StringRef --function=find
    ./bazelw run //mlgo:explain -- --policy=models/inlining_for_size/policy --module=Debug.cpp     # lists its functions
    ./bazelw run //mlgo:explain -- --policy=models/inlining_for_size/policy --corpus=/data/zstd_oz # the whole corpus
    ./bazelw run //mlgo:explain -- --problem=regalloc_eviction --policy=models/regalloc_eviction/policy --modules=20

With --module, one module is compiled under the default and under the policy, and the decisions in one function are
printed, and written to --html as a page. A name may be given in full or as a part that only one name contains; C++
names may be given demangled.

Without --module, the whole corpus is compiled: how often the policy differs from the heuristic, which features its
decisions depend on (permutation importance), and where it differs most. Output, below --output_dir: explanation.json
(fields: mlgo/explanation/README.md), explanation.md and explanation.html.

The policy is evaluated in NumPy, bit for bit as in the compiler, in the states of the default's compile, where the
heuristic's decisions are logged. In the states of the policy's own compile the heuristic's answer is known for inlining
only. Intervals are 95 % bootstraps over modules. An interrupted command continues when it is started again.

Exit codes: 0 done, 2 wrong flag or input, 10 no decision to explain, 11 too many modules failed, 130 interrupted.
"""

import pathlib

from absl import flags

from mlgo.compiler.symbols import CXXFILT
from mlgo.explanation import selection
from mlgo.explanation.corpus_explanation import explain_corpus
from mlgo.explanation.explainer import Explainer
from mlgo.explanation.function_report import FunctionRequest
from mlgo.explanation.module_explanation import explain_module
from mlgo.flags.compiling import corpus_from_flags, define_compiler_flags, define_gin_flags, define_module_filter
from mlgo.flags.main import problem_from_flags, refuse_arguments, run_command
from mlgo.flags.measuring import compiling_from_flags, define_measuring_flags, held_out_corpus
from mlgo.policy.peer_policy import load_any_policy
from mlgo.problems.problem import Problem, problem_names
from mlgo.run import locate
from mlgo.run.exit_codes import ExitCode, RunError
from mlgo.run.manifest import digest_of_json

FLAGS = flags.FLAGS

define_compiler_flags()
define_gin_flags()
define_module_filter("Explain only modules")
define_measuring_flags()
flags.DEFINE_string("problem", "inlining_for_size", f"Problem that the policy is for: {', '.join(problem_names())}.")
flags.DEFINE_string("policy", None, "Folder of the policy.")
flags.DEFINE_string("corpus", None, "Path or label of the corpus. Default: that of //mlgo:evaluate.")
flags.DEFINE_string("output_dir", None, "Folder of the results. Default: out/explanation/PROBLEM in the workspace.")
flags.DEFINE_string("module", None, "Module to explain: its name, or a part that only one name contains.")
flags.DEFINE_string("function", None, "Function to explain; for inlining, the caller. Default: list the functions.")
flags.DEFINE_string("callsite", None, "For inlining: show only calls of functions whose name contains this.")
flags.DEFINE_bool("only_different", False, "Show only decisions that differ from the heuristic's.")
flags.DEFINE_integer("limit", 20, "Decisions shown of each compile; 0: all.", lower_bound=0)
flags.DEFINE_integer("features", 6, "Features shown per decision; 0: all that the policy uses.", lower_bound=0)
flags.DEFINE_bool("all_features", False, "Show all features, including those that the policy does not use.")
flags.DEFINE_string("html", None, "File for the report of the function as a page.")
flags.DEFINE_string("cxxfilt", None, "Path of llvm-cxxfilt. Default: the packaged one; without it, names stay mangled.")
flags.DEFINE_integer("modules", 0, "Modules of the corpus to draw at random; 0: all.", lower_bound=0)
flags.DEFINE_integer("decisions", 20_000, "Approximate sample size for the feature importance.", lower_bound=1)
flags.DEFINE_integer("repeats", 5, "Permutations per feature.", lower_bound=1)
flags.DEFINE_integer("examples", 20, "Differing decisions to list.", lower_bound=0)


def main(arguments: list[str]) -> int:
    refuse_arguments(arguments)
    problem = problem_from_flags(FLAGS.problem)
    _check_flags(problem)
    policy, record = load_any_policy(locate.user_path(FLAGS.policy), problem)
    path = locate.user_path(FLAGS.corpus or held_out_corpus(problem))
    corpus = corpus_from_flags(path, problem, FLAGS.module_filter)
    module = None
    if FLAGS.module:
        names = {each.name: each.name for each in corpus.modules}
        module = selection.the_one(FLAGS.module, names, "--module", "module", f"corpus {corpus.path}")
    digest = digest_of_json(record["sha256"])
    settings = {name: FLAGS[name].value for name in ("modules", "decisions", "repeats", "examples")}
    inputs = {"corpus": corpus.digest, "policy": digest}
    with compiling_from_flags(problem, f"explanation/{problem.name}", inputs, settings) as (folder, setup, clang):
        explainer = Explainer(problem, policy, digest, corpus, folder, setup, clang, _cxxfilt())
        if module is None:
            explain_corpus(explainer, **settings, seed=FLAGS.seed)
        else:
            html = locate.user_path(FLAGS.html) if FLAGS.html else None
            which = (FLAGS.policy, FLAGS.function, FLAGS.callsite, FLAGS.only_different, FLAGS.limit)
            explain_module(explainer, module, FunctionRequest(*which, FLAGS.features, FLAGS.all_features, html))
    return ExitCode.DONE


def _check_flags(problem: Problem) -> None:
    if not FLAGS.policy:
        raise RunError("--policy", "is not given", "Give the folder of a policy")
    for flag in ("function", "callsite", "html"):
        if FLAGS[flag].value and not FLAGS.module:
            raise RunError(f"--{flag}", "needs --module", "Give --module=NAME, or a part of the name")
    if FLAGS.callsite and not problem.context_flags:
        raise RunError("--callsite", f"is not supported for {problem.name}", "Remove the flag")


def _cxxfilt() -> pathlib.Path | None:
    if FLAGS.cxxfilt is None and locate.of_environment(CXXFILT) is None:
        return None
    return locate.program(FLAGS.cxxfilt, "--cxxfilt", CXXFILT)


if __name__ == "__main__":
    run_command(main)
