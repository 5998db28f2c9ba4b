"""Describes a corpus: modules, bytes, options, licences, duplicates and, given a trace, decisions.

    ./bazelw run //mlgo:corpus_info -- --corpus=out/corpus
    ./bazelw run //mlgo:corpus_info -- --corpus=corpus --trace=out/regalloc --json > corpus.json
    ./bazelw run //mlgo:corpus_info -- --corpus=//mlgo/corpus:zstd      # built first, if it is not yet

A corpus is a directory. Options are counted by module: `122  -O 2` means that 122 commands have -O2. With --json,
stdout is one JSON object, sizes in bytes. Relative paths are relative to the directory in which you run the command.

Exit codes: 0 done, 2 the corpus or the trace is not usable.
"""

import contextlib
import dataclasses
import sys

from mlgo.corpus import information
from mlgo.corpus.corpus import Corpus
from mlgo.corpus.description import encode
from mlgo.flags.arguments import command_parser
from mlgo.run import locate, progress
from mlgo.run.exit import exit_code_of
from mlgo.run.exit_codes import ExitCode
from mlgo.trace import finished


def run(arguments: list[str]) -> int:
    parser = command_parser("corpus_info", __doc__)
    text = "directory, or label of a target that is then built. Default: %(default)s"
    parser.add_argument("--corpus", metavar="CORPUS", default="//mlgo/corpus:llvm_small", help=text)
    text = "--output_dir of a training run, or a trace below it. Repeatable"
    parser.add_argument("--trace", action="append", default=[], metavar="DIR", help=text)
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of text")
    flags = parser.parse_args(arguments)
    corpus = Corpus.load(locate.user_path(flags.corpus))
    traces = [folder for path in flags.trace for folder in finished.stage_folders(locate.user_path(path))]
    decisions = finished.count_decisions(traces, [module.name for module in corpus.modules])
    with contextlib.closing(progress.start("corpus_info", len(corpus.modules), "modules")) as shown:
        found = information.inspect(corpus, shown.advance)
    if flags.json:
        counts = {problem: dataclasses.asdict(count) for problem, count in decisions.items()}
        sys.stdout.buffer.write(encode({**found.to_json(), "decisions": counts}))
        return ExitCode.DONE
    progress.show(information.lines(found))
    for problem, count in decisions.items():
        outcomes = ", ".join(f"{number:,} {outcome}" for outcome, number in count.modules.items() if number)
        rest = f" (and {count.elsewhere:,} in none that the objects hold)" if count.elsewhere else ""
        named = count.decisions - count.elsewhere
        print(f"decisions of {problem}: {named:,} in {count.functions:,} functions{rest}; modules: {outcomes}")
    return ExitCode.DONE


if __name__ == "__main__":
    raise SystemExit(exit_code_of(lambda: run(sys.argv[1:])))
