"""Writes one HTML page to decide by: what was trained on what, how good it is, where it is worse, and how to check all that.

    ./bazelw run //mlgo:report -- out/inlining                                    # a training run: out/inlining/report.html
    ./bazelw run //mlgo:report -- out/evaluation                                  # what //mlgo:evaluate found
    ./bazelw run //mlgo:report -- models/inlining_for_size                        # a shipped policy with all its records
    ./bazelw run //mlgo:report -- new=out/inlining old=models/inlining_for_size --output=out/both.html

A PATH is [NAME=]FOLDER of a training run, ended or not, of //mlgo:evaluate, //mlgo:evaluate_programs or //mlgo:explain, or of a shipped
policy; what it is, is seen from what lies in it. Folders `evaluation`, `programs` and `explanation` inside are read, too, so results
that belong together can lie together; and several paths of one NAME are one policy's.

The page is one file: it loads nothing, runs no script, and can be sent, printed and read on a phone. Beside it, REPORT.md is a summary
for a comment that CI writes. Equal inputs give equal bytes. --output says where; default: report.html in the first folder.

Exit codes: 0 done, 2 a folder holds nothing that can be shown, or what it holds cannot be read.
"""

import pathlib

from absl import flags

from mlgo.commands.training import run_command
from mlgo.reporting.compose import compose
from mlgo.reporting.markdown import markdown
from mlgo.reporting.reading import read_folder
from mlgo.reporting.records import Record
from mlgo.reporting.rendering import html
from mlgo.run import files, locate
from mlgo.run import flag_values as given
from mlgo.run.exit_codes import ExitCode, RunError

FLAGS = flags.FLAGS

flags.DEFINE_string(
    "output",
    None,
    "The HTML file. The Markdown summary gets the same name, ending in .md. Default: report.html in the first folder.",
)


def main(arguments: list[str]) -> int:
    """Writes the page; returns the exit code."""
    named = _named(arguments[1:])
    records: list[Record] = []
    for name, path in named:
        records += read_folder(path, name, locate.workspace())
    output = locate.user_path(FLAGS.output) if FLAGS.output else named[0][1] / "report.html"
    page = compose(records)
    files.write_atomically(output, html(page))
    files.write_atomically(summary_path(output), markdown(page))
    print(f"{page.verdict.text}\n\nReport:  {output}\nSummary: {summary_path(output)}")
    return ExitCode.DONE


def summary_path(output: pathlib.Path) -> pathlib.Path:
    """Where the Markdown summary of the page at `output` lies.

    Raises: RunError: the page itself would be written there.
    """
    path = output.with_suffix(".md")
    if path == output:
        raise RunError(f"--output={output}", "ends in .md, which is the summary's", "Give a name that ends in .html")
    return path


def _named(words: list[str]) -> list[tuple[str, pathlib.Path]]:
    if not words:
        raise RunError(
            "the command line",
            "names no folder",
            "Name a run's, an evaluation's or a shipped policy's: models/inlining_for_size",
        )
    found = []
    for word in words:
        # One at a time: several folders of one name are one policy's.
        ((name, path),) = given.named_paths("", [word]).items()
        found.append((name, path))
    return found


if __name__ == "__main__":
    run_command(main)
