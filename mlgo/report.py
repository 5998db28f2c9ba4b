"""Writes one HTML page about training runs, evaluations, programs and explanations.

    ./bazelw run //mlgo:report -- out/inlining                        # a training run: out/inlining/report.html
    ./bazelw run //mlgo:report -- out/evaluation                      # a result of //mlgo:evaluate
    ./bazelw run //mlgo:report -- models/inlining_for_size            # a shipped policy with all its records
    ./bazelw run //mlgo:report -- new=out/inlining old=models/inlining_for_size --output=out/both.html

Each argument is [NAME=]FOLDER: a training run, ended or not, a result of //mlgo:evaluate, //mlgo:evaluate_programs
or //mlgo:explain, or a shipped policy. The command recognises the kind from the files in the folder. It
also reads the folders `evaluation`, `programs` and `explanation` inside. Several folders with one NAME belong to one
policy.

The page is one file: it loads nothing and runs no script. The Markdown summary beside it, with the suffix .md, is meant
for comments of CI. Equal inputs give equal bytes.

Exit codes: 0 done, 2 a folder holds no result, or a result cannot be read.
"""

import pathlib

from absl import flags

from mlgo.compiler.symbols import Demangler
from mlgo.flags.main import run_command
from mlgo.pages.markdown import summary
from mlgo.pages.rendering import html
from mlgo.reporting.compose import compose
from mlgo.reporting.reading import read_folder
from mlgo.run import files, flag_values, locate
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
    output = locate.user_path(FLAGS.output) if FLAGS.output else named[0][1] / "report.html"
    summary_file = _summary_path(output)
    records = [record for name, path in named for record in read_folder(path, name, locate.workspace())]
    page = compose(records, Demangler.of_command())
    files.write_atomically(output, html(page))
    files.write_atomically(summary_file, summary(page))
    verdict = [page.verdict.text, ""] if page.verdict else []
    show([*verdict, f"Report:  {output}", f"Summary: {summary_file}"])
    return ExitCode.DONE


def _summary_path(output: pathlib.Path) -> pathlib.Path:
    """The file of the Markdown summary of the page at `output`. Raises: RunError: it is the page's own file."""
    path = output.with_suffix(".md")
    if path == output:
        raise RunError(f"--output={output}", "ends in .md, which is the suffix of the summary", "Use the suffix .html")
    return path


if __name__ == "__main__":
    run_command(main)
