"""Writes one HTML page about training runs, evaluations, programs, searches and explanations.

    ./bazelw run //mlgo:report -- out/inlining                        # a training run: out/inlining/report.html
    ./bazelw run //mlgo:report -- out/evaluation                      # a result of //mlgo:evaluate
    ./bazelw run //mlgo:report -- models/inlining_for_size            # a shipped policy with all its records
    ./bazelw run //mlgo:report -- new=out/inlining old=models/inlining_for_size --output=out/both.html

Each argument is [NAME=]FOLDER: a training run, ended or not, a result of //mlgo:evaluate, //mlgo:evaluate_programs,
//mlgo:tune or //mlgo:explain, or a shipped policy. The command recognises the kind from the files in the folder. It
also reads the folders `evaluation`, `programs` and `explanation` inside. Several folders with one NAME belong to one
policy.

The page is one file: it loads nothing and runs no script. The Markdown summary beside it, with the suffix .md, is meant
for comments of CI. Equal inputs give equal bytes.

Exit codes: 0 done, 2 a folder holds no result, or a result cannot be read.
"""

from absl import flags

from mlgo.flags.main import run_command
from mlgo.flags.report_page import PAGE_NAME, summary_path, write_page
from mlgo.run import flag_values, locate
from mlgo.run.exit_codes import ExitCode, RunError
from mlgo.run.progress import show

FLAGS = flags.FLAGS

flags.DEFINE_string("output", None, "HTML file. Default: report.html in the first folder.")


def main(arguments: list[str]) -> int:
    # One at a time: several folders with one name belong to one policy.
    named = [folder for word in arguments[1:] for folder in flag_values.named_paths("", [word]).items()]
    if not named:
        wrong = "names no folder"
        raise RunError("the command line", wrong, "Give a folder with results, such as models/inlining_for_size")
    output = locate.user_path(FLAGS.output) if FLAGS.output else named[0][1] / PAGE_NAME
    page = write_page(named, output)
    verdict = [page.verdict.text, ""] if page.verdict else []
    show([*verdict, f"Report:  {output}", f"Summary: {summary_path(output)}"])
    return ExitCode.DONE


if __name__ == "__main__":
    run_command(main)
