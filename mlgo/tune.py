"""Searches for better decisions for a corpus or a program, and writes them as a file for the release clang.

    ./bazelw run //mlgo:tune -- --corpus=out/corpora/zstd_oz --policy=models/inlining_for_size/policy
    ./bazelw run //mlgo:tune -- --corpus=//mlgo/corpus:lua_oz --compiles=20 --output_dir=out/lua
    clang -Oz -mllvm -mlgo-decisions=out/lua/tuned.decisions -c FILE

Inlining: the search starts from the compiler's heuristic and from the policy of --policy and takes the better one in
each part of the call graph. Then it tries other decisions: all calls of a function, then single calls. Every change was
compiled before it is taken, so no module and no linked image is larger than with the heuristic or the policy. At the
end all objects are linked into one image, whose code bytes are the headline figure.

A call site is named by its functions, so the decisions hold on for what an edit does not touch; elsewhere the policy or
the heuristic decides. Decisions are for one compiler: with another one, fewer of them fit.

Output, below --output_dir: tuned.decisions, result.json, summary.md, modules.csv and curve.csv (bytes after so many
compiles of each module). An interrupted command continues when it is started again; a folder of another search is
refused. The results of single modules are kept in --cache_dir: after an edit, with another --output_dir, only the
modules that it changed are searched again.

Exit codes: 0 done, 2 wrong flag or input, 10 no decision to search, 11 too many modules failed, 130 interrupted.
"""

import dataclasses

from absl import flags

from mlgo.compiler.executor import CountingExecutor
from mlgo.evaluation.corpora.evaluation import chosen_reward
from mlgo.evaluation.policies import Policies
from mlgo.flags import compiling
from mlgo.flags.main import problem_from_flags, refuse_arguments, run_command
from mlgo.flags.measuring import compiling_from_flags, define_measuring_flags
from mlgo.identity.programs import program_identity
from mlgo.run import locate
from mlgo.run.exit_codes import ExitCode, RunError
from mlgo.run.progress import show, tell
from mlgo.search.budget import Budget
from mlgo.search.decision_file import POLICY
from mlgo.search.tuning import Tuning

FLAGS = flags.FLAGS

compiling.define_compiler_flags()
compiling.define_gin_flags()
compiling.define_cache_flags()
define_measuring_flags()
flags.DEFINE_string("problem", "inlining_for_size", "Problem whose decisions are searched.")
flags.DEFINE_string("corpus", None, "Corpus, as PATH or LABEL. A label is built when it is not yet.")
flags.DEFINE_string("policy", None, "Folder of a policy to start from too. Default: only from the heuristic.")
flags.DEFINE_integer("compiles", 70, "Compiles for the search of a module, at most.", lower_bound=1)
flags.DEFINE_float(
    "budget",
    None,
    "CPU seconds of all compiles of the command, about: each module's share becomes a number of compiles by the size of"
    " its bitcode. The smaller limit of --compiles and --budget holds. Default: no limit.",
    lower_bound=0.0,
)
flags.DEFINE_string("output_dir", None, "Folder of the results. Default: out/tune in the workspace.")
flags.DEFINE_string("linker", None, "Path of ld.lld. Default: the packaged one.")
flags.DEFINE_bool(
    "icf", False, "Fold identical functions when linking, and search for the smallest image that is so linked."
)
flags.DEFINE_string("reward", None, "Which bytes of a module count in its search. Default: the problem's first reward.")


def main(arguments: list[str]) -> int:
    refuse_arguments(arguments)
    problem = problem_from_flags(FLAGS.problem)
    if problem.decisions_flag is None:
        remedy = "Give inlining_for_size; for live ranges, compile with -mlgo-allocations"
        raise RunError(f"--problem={problem.name}", "has no decisions that can be given", remedy)
    if FLAGS.corpus is None:
        raise RunError("--corpus", "is missing", "Give a corpus of your program (docs/corpora.md)")
    # Read before anything is built: a search takes hours.
    policies = Policies.load({POLICY: locate.user_path(FLAGS.policy)} if FLAGS.policy else {}, problem)
    reward = chosen_reward(problem, FLAGS.reward)
    cache = compiling.cache_from_flags()
    linker = locate.program(FLAGS.linker, "--linker", "MLGO_PACKAGED_LINKER")
    corpus = compiling.corpus_from_flags(locate.user_path(FLAGS.corpus), problem)
    digests = {"corpus": corpus.digest, "policies": dict(policies.digests)}
    settings = {"reward": reward, "compiles_limit": FLAGS.compiles, "budget": FLAGS.budget}
    inputs = {**digests, "linker": program_identity(linker)}
    with compiling_from_flags(problem, "tune", inputs, {**settings, "icf": FLAGS.icf}) as (folder, setup, clang):
        assert setup.executor is not None  # compiling_from_flags sees to it.
        metered = CountingExecutor(setup.executor, tell)
        side = next(iter(policies.sides(setup.clang)), None)
        settings = {"problem": problem.name, **settings}
        tuned = Tuning(
            folder=folder,
            setup=dataclasses.replace(setup, executor=metered),
            corpus=corpus,
            policy=side,
            model_dir=None if side is None else policies.models_in(folder.work)(side),
            inputs={"clang": clang},
            configuration=settings,
            reward=reward,
            linker=linker,
            icf=FLAGS.icf,
            budget=Budget(FLAGS.compiles, FLAGS.budget),
            cache=cache,
        ).run()
        described = {**settings, "clang": clang, **digests, "seed": FLAGS.seed, "icf": FLAGS.icf}
        lines = tuned.write(folder.path, described, FLAGS.seed)
        # What an earlier process or the cache had is not in it.
        used = f"CPU seconds of the compiles of this run: {metered.cpu_seconds:,.1f}"
        used += "" if FLAGS.budget is None else f" of --budget={FLAGS.budget:g}"
        show(["", *lines, "", used])
    return ExitCode.DONE


if __name__ == "__main__":
    run_command(main)
