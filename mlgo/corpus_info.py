"""Tells what is in a corpus: modules, bytes, options, licences, duplicates, and, given a trace, decisions.

    ./bazelw run //mlgo:corpus_info -- --corpus=out/corpus
    ./bazelw run //mlgo:corpus_info -- --corpus=corpus.zip --trace=out/regalloc --json > corpus.json
    ./bazelw run //mlgo:corpus_info                                     # the built-in corpus

A corpus is a directory or one .zip, .tar, .tar.gz or .tar.zst file. Options are counted by module: `122  -O 2` says that 122
commands have -O2. With --json, stdout is one object for machines, sizes in bytes. Relative paths are relative to where you type
the command. Exit codes: 0 done, 2 the corpus or the trace is not as it should be.
"""

import argparse
import dataclasses
import sys

from mlgo.corpus import information
from mlgo.corpus.corpus import Corpus
from mlgo.corpus.description import encode
from mlgo.run import locate, progress
from mlgo.run.exit import exit_code_of
from mlgo.run.exit_codes import ExitCode
from mlgo.trace import decision_counts


def _parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="corpus_info",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--corpus", metavar="PATH", help="directory or archive; default: the built-in corpus")
    parser.add_argument(
        "--trace",
        action="append",
        default=[],
        metavar="DIR",
        help="--output_dir of a training run, or a trace below it; may be given several times",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of text")
    return parser.parse_args(arguments)


def run(arguments: list[str]) -> int:
    """Runs the command; returns its exit code."""
    flags = _parse(arguments)
    corpus = Corpus.load(locate.user_path(flags.corpus) if flags.corpus else locate.runfile("mlgo/corpus/llvm_small"))
    traces = [folder for path in flags.trace for folder in decision_counts.stage_folders(locate.user_path(path))]
    decisions = decision_counts.count_decisions(traces, [module.name for module in corpus.modules])
    shown = progress.start("corpus_info", len(corpus.modules), "modules")
    try:
        found = information.inspect(corpus, shown.advance)
    finally:
        shown.close()
    if flags.json:
        counts = {problem: dataclasses.asdict(count) for problem, count in decisions.items()}
        content = {**found.to_json(), "decisions": counts}
        sys.stdout.buffer.write(encode(content))
        return ExitCode.DONE
    for line in information.lines(found):
        print(line.encode("utf-8", "backslashreplace").decode("utf-8"))
    for problem, count in decisions.items():
        outcomes = ", ".join(f"{number:,} {outcome}" for outcome, number in count.modules.items() if number)
        print(f"decisions of {problem}: {count.decisions:,} in {count.functions:,} functions; modules: {outcomes}")
    return ExitCode.DONE


if __name__ == "__main__":
    raise SystemExit(exit_code_of(lambda: run(sys.argv[1:])))
