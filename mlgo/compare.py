"""Compares policies with each other on the same code.

    ./bazelw run //mlgo:compare -- models/inlining_for_size out/inlining
    ./bazelw run //mlgo:compare -- old=out/old new=out/evaluation --output=comparison.md
    ./bazelw run //mlgo:compare -- models/inlining_for_size out/inlining --fail_if_worse_than=0.1%      # for CI
    ./bazelw run //mlgo:compare -- out/evaluation                               # its sides with each other

Each argument is [NAME=]FOLDER: a result of //mlgo:evaluate, an ended training run, or a shipped policy. The first one
is the reference. Figures are paired: each function, or each module of the linked image, under one policy is compared
with the same one under the reference. Intervals are 95 % bootstraps over modules of the paired ratio. Negative is
better. Functions or modules that one folder lacks are omitted for all and counted.

Results with different problems, rewards, compilers or corpora cannot be compared.

Exit codes: 0 done, 2 the results cannot be compared, 10 they have nothing in common, 12 one is worse than the first by
more than --fail_if_worse_than allows.
"""

from absl import flags

from mlgo.flags.main import run_command
from mlgo.pages.markdown import table_lines
from mlgo.reporting import comparison
from mlgo.reporting.comparison import Contender, verdict_lines
from mlgo.reporting.reading import read_folder, readable
from mlgo.run import files, flag_values, locate
from mlgo.run.exit_codes import ExitCode, RunError
from mlgo.run.progress import show
from mlgo.run.tabular import markdown_text

FLAGS = flags.FLAGS

flags.DEFINE_string("output", None, "File for the table as Markdown. Default: none.")
flags.DEFINE_string(
    "fail_if_worse_than",
    None,
    "Percentage, such as 0.1%: exit code 12 when a policy is worse than the first by more than this on a corpus, in the"
    " first measure of the verdict: linked code or the weighted sum of the scores.",
)
flags.DEFINE_integer("seed", 1, "Seed of the bootstraps.", lower_bound=0)


def main(arguments: list[str]) -> int:
    allowed = flag_values.parse_percent("--fail_if_worse_than", FLAGS.fail_if_worse_than)
    with readable(f"results ({', '.join(arguments[1:])})"):
        contenders = _contenders(arguments[1:])
        pairings = comparison.compare(contenders, FLAGS.seed)
        not_shared = comparison.left_out_corpora(contenders)
        table = comparison.table_of(pairings)
    show(["Paired by function or module; negative is better:", "", *comparison.text_lines(table), ""])
    show(verdict_lines(pairings))
    if not_shared:
        show([f"Omitted corpora, not measured for all: {', '.join(not_shared)}"])
    for corpus, left_out in {pairing.corpus: pairing.left_out for pairing in pairings if pairing.left_out}.items():
        show([f"{corpus}: omitted functions or modules, not measured for all: {left_out}"])
    if FLAGS.output:
        verdicts = [f"- {markdown_text(line)}" for line in verdict_lines(pairings)]
        lines = "\n".join([*table_lines(table), "", *verdicts]) + "\n"
        files.write_atomically(locate.user_path(FLAGS.output), lines.encode("utf-8", "replace"))
    worse = [] if allowed is None else comparison.worse_than(pairings, allowed)
    if worse:
        show([f"Worse than {contenders[0].name} by more than {FLAGS.fail_if_worse_than}: {', '.join(worse)}"])
    return ExitCode.OUTPUT_DIFFERS if worse else ExitCode.DONE


def _contenders(words: list[str]) -> list[Contender]:
    found = []
    paths = flag_values.named_paths("", words)
    for name, path in paths.items():
        # The sides of a single evaluation are compared with each other, the default with other flags included.
        found += comparison.contenders_of(read_folder(path, name, locate.workspace()), name, all_sides=len(paths) == 1)
    if len(found) < 2:
        remedy = "Give two folders or more: models/inlining_for_size out/inlining"
        raise RunError(f"{len(found)} policies", "cannot be compared with each other", remedy)
    return found


if __name__ == "__main__":
    run_command(main)
