"""Searches for better inlining decisions for a corpus, and writes them as a file that the release clang applies.

    ./bazelw run //mlgo:tune -- --corpus=out/corpora/zstd_oz --policy=models/inlining_for_size/policy
    ./bazelw run //mlgo:tune -- --corpus=//mlgo/corpus:lua_oz --compiles=20 --output_dir=out/lua
    clang -Oz -mllvm -mlgo-decisions=out/lua/tuned.decisions -c FILE

The search starts from the compiler's heuristic and from the policy of --policy and takes the better one in each part
of the call graph. Then it tries other decisions: all calls of a function, then single calls. Every change was compiled
before it is taken, so no module and no linked image is larger than with the heuristic or the policy. At the end all
objects are linked into one image, whose code bytes are the headline figure.

A call site is named by its functions, so the decisions hold on for what an edit does not touch; elsewhere the policy or
the heuristic decides. Decisions are for one compiler: with another one, fewer of them fit.

Output, below --output_dir: tuned.decisions, result.json, summary.md, modules.csv, and curve.csv (bytes after so many
compiles of each module). An interrupted command continues when it is started again. The results of single modules are
kept in --cache_dir: after an edit, only the modules that it changed are searched again.

Exit codes: 0 done, 2 wrong flag or input, 10 no decision to search, 11 too many modules failed, 130 interrupted.
"""

from absl import flags

from mlgo.commands.compiling import cache_given, corpus_given, define_cache_flags, define_compiler_flags
from mlgo.commands.main import problem_given, refuse_arguments, run_command
from mlgo.commands.measuring import compiling_given, define_measuring_flags
from mlgo.evaluation.corpora.evaluation import chosen_reward
from mlgo.evaluation.corpora.policies import Policies
from mlgo.run import locate
from mlgo.run.exit_codes import ExitCode, RunError
from mlgo.run.progress import show
from mlgo.search.results import Results
from mlgo.search.tuning import POLICY, Tuning

FLAGS = flags.FLAGS

define_compiler_flags()
define_cache_flags()
define_measuring_flags()
flags.DEFINE_string("problem", "inlining_for_size", "Problem whose decisions are searched.")
flags.DEFINE_string("corpus", None, "Corpus, as PATH or LABEL. A label is built when it is not yet.")
flags.DEFINE_string("policy", None, "Folder of a policy to start from too. Default: only from the heuristic.")
flags.DEFINE_integer("compiles", 70, "Compiles for the search of a module, at most.", lower_bound=1)
flags.DEFINE_string("output_dir", None, "Folder of the results. Default: out/tune in the workspace.")
flags.DEFINE_string("linker", None, "Path of ld.lld. Default: the packaged one.")
flags.DEFINE_bool("icf", False, "Fold identical functions when linking.")
flags.DEFINE_string("reward", None, "Which bytes of a module count in its search. Default: the problem's first reward.")


def main(arguments: list[str]) -> int:
    """Searches; returns the exit code."""
    refuse_arguments(arguments)
    problem = problem_given(FLAGS.problem)
    if problem.decisions_flag is None:
        raise RunError(f"--problem={problem.name}", "has no decisions that can be given", "Give inlining_for_size")
    if not FLAGS.corpus:
        raise RunError("--corpus", "is not given", "Give a corpus of your program (docs/corpora.md)")
    paths = {POLICY: locate.user_path(FLAGS.policy)} if FLAGS.policy else {}
    policies = Policies.load(paths, problem)
    reward = chosen_reward(problem, FLAGS.reward)
    linker = locate.program(FLAGS.linker, "--linker", "MLGO_PACKAGED_LINKER")
    corpus = corpus_given(locate.user_path(FLAGS.corpus), problem)
    settings = {"problem": problem.name, "reward": reward, "compiles": FLAGS.compiles}
    with compiling_given(problem, "tune") as (folder, setup, clang):
        inputs = {"clang": clang}
        tuning = Tuning(folder, setup, inputs, settings, reward, linker, FLAGS.icf, FLAGS.compiles, cache_given())
        side = next(iter(policies.sides()), None)
        model_dir = None if side is None else policies.models_in(folder.work, problem)(side)
        tuned = tuning.of_corpus(corpus, side, model_dir)
        described = {**settings, "clang": clang, "corpus": corpus.digest, "policies": dict(policies.digests)}
        described |= {"seed": FLAGS.seed, "icf": FLAGS.icf}
        show(["", *Results(tuned, described, FLAGS.seed).write(folder.path)])
    return ExitCode.DONE


if __name__ == "__main__":
    run_command(main)
