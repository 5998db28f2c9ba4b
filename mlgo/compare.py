"""Compares policies on the same code: two runs, a new policy with the shipped one, a policy with other thresholds.

    ./bazelw run //mlgo:compare -- models/inlining_for_size out/inlining
    ./bazelw run //mlgo:compare -- old=out/evaluation_old new=out/evaluation --output=comparison.md --html=comparison.html
    ./bazelw run //mlgo:compare -- models/inlining_for_size out/inlining --fail_if_worse_than=0.1%      # for CI
    ./bazelw run //mlgo:compare -- out/evaluation                                                       # its sides with each other

A PATH is [NAME=]FOLDER of //mlgo:evaluate, of a training run that has ended, or of a shipped policy. The first is what the others are
compared with. Figures are paired: each function, or each module of the linked image, under one policy by the same under the other; the
interval is a 95 % bootstrap over modules of that ratio. Minus is better. What one of them lacks is left out for all, and counted.

Results of different problems, rewards, compilers or contents of a corpus are refused: their difference would say nothing about policies.

Exit codes: 0 done, 2 they cannot be compared, 10 they have nothing in common, 12 one is worse than the first by more than
--fail_if_worse_than allows.
"""

from absl import flags

from mlgo.commands.training import run_command
from mlgo.reporting import comparison
from mlgo.reporting.comparison import Contender
from mlgo.reporting.comparison_page import comparison_page, comparison_table, text_lines
from mlgo.reporting.markdown import table_lines
from mlgo.reporting.reading import read_folder
from mlgo.reporting.rendering import html
from mlgo.run import files, locate
from mlgo.run import flag_values as given
from mlgo.run.exit_codes import ExitCode, RunError

FLAGS = flags.FLAGS

flags.DEFINE_string("output", None, "A file for the table as Markdown.")
flags.DEFINE_string("html", None, "A file for the comparison as a page.")
flags.DEFINE_string(
    "fail_if_worse_than",
    None,
    "PERCENT, such as 0.1%: exit code 12 when one is worse than the first by more than this on a corpus: in linked code, or where nothing"
    " was linked in the geometric mean.",
)
flags.DEFINE_integer("seed", 1, "Of the bootstraps.", lower_bound=0)


def main(arguments: list[str]) -> int:
    """Compares; returns the exit code."""
    allowed = given.percent_given("--fail_if_worse_than", FLAGS.fail_if_worse_than)
    contenders = _contenders(arguments[1:])
    pairings = comparison.compare(contenders, FLAGS.seed)
    if not pairings:
        raise RunError(
            "the compared",
            "have no function or module in common",
            "Evaluate them on the same corpora",
            ExitCode.NOTHING_PRODUCED,
        )
    not_shared = comparison.left_out_corpora(contenders)
    table = comparison_table(pairings)
    print("\n".join(["Paired by function or module; minus is better:", "", *text_lines(table)]))
    if not_shared:
        print(f"Left out, since not all have it: {', '.join(not_shared)}")
    for corpus, left_out in {pairing.corpus: pairing.left_out for pairing in pairings}.items():
        if left_out:
            print(f"{corpus}: left out, since not all have them: {left_out} functions or modules")
    if FLAGS.output:
        files.write_atomically(
            locate.user_path(FLAGS.output), ("\n".join(table_lines(table)) + "\n").encode("utf-8", "replace")
        )
    if FLAGS.html:
        files.write_atomically(locate.user_path(FLAGS.html), html(comparison_page(contenders, pairings, not_shared)))
    worse = [] if allowed is None else comparison.worse_than(pairings, allowed)
    if worse:
        print(f"Worse than {contenders[0].name} by more than {FLAGS.fail_if_worse_than}: {', '.join(worse)}")
    return ExitCode.OUTPUT_DIFFERS if worse else ExitCode.DONE


def _contenders(words: list[str]) -> list[Contender]:
    found = []
    paths = given.named_paths("", words)
    for name, path in paths.items():
        # Alone, an evaluation is compared within itself, the default with other flags included.
        found += comparison.contenders_of(read_folder(path, name, locate.workspace()), name, all_sides=len(paths) == 1)
    if len(found) < 2:
        remedy = "Name two folders or more: models/inlining_for_size out/inlining"
        raise RunError(f"{len(found)} policies", "cannot be compared with each other", remedy)
    return found


if __name__ == "__main__":
    run_command(main)
