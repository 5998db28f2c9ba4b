"""Splits a corpus into two: one for training, one for evaluation.

    ./bazelw run //mlgo:split_corpus -- --corpus=out/corpus --output_dir=out/split
    ./bazelw run //mlgo:split_corpus -- --corpus=corpus --output_dir=out/split --held_out_one_in=10

Output: the corpora out/split/train and out/split/held_out. A hash of the module's name is the criterion, as in the
built-in corpora and //mlgo/corpus:defs.bzl: a module stays in its part when other modules are added or removed.
The result is the same on every machine. Relative paths are relative to the directory in which you run the command.

Exit codes: 0 done, 2 a flag or an input is not usable, 10 a part would be empty.
"""

import argparse
import sys

from mlgo.corpus import split
from mlgo.corpus.corpus import Corpus
from mlgo.corpus.split import write_parts
from mlgo.flags.arguments import command_parser
from mlgo.run import locate
from mlgo.run.exit import exit_code_of
from mlgo.run.exit_codes import ExitCode
from mlgo.run.progress import tell


def _parse(arguments: list[str]) -> argparse.Namespace:
    parser = command_parser("split_corpus", __doc__)
    add = parser.add_argument
    add("--corpus", required=True, metavar="CORPUS", help="directory or label")
    add("--output_dir", required=True, metavar="DIR", help="folder of the two corpora, train/ and held_out/")
    text = "about one module in N is held out. Default: %(default)s"
    add("--held_out_one_in", type=int, default=split.HELD_OUT_ONE_IN, metavar="N", help=text)
    flags = parser.parse_args(arguments)
    if flags.held_out_one_in < 2:
        parser.error(f"argument --held_out_one_in: {flags.held_out_one_in} is less than 2")
    return flags


def run(arguments: list[str]) -> int:
    flags = _parse(arguments)
    corpus = Corpus.load(locate.user_path(flags.corpus))
    output = locate.user_path(flags.output_dir)
    names = [module.name for module in corpus.modules]
    parts = split.with_both_parts(split.by_hash(names, flags.held_out_one_in), flags.held_out_one_in)
    written = write_parts(corpus, parts, output)
    corpora = {part: Corpus.load(output / part) for part in written}
    for part, result in written.items():
        size = sum(module.bitcode_size for module in corpora[part].modules)
        left_out = f", {len(result.duplicates)} duplicates left out" if result.duplicates else ""
        tell(f"{part}: {len(result.modules):,} modules, {size:,} bytes of bitcode{left_out} -> {output / part}")
    trained_on = {module.sha256(".bc") for module in corpora[split.TRAIN].modules}
    shared = sum(module.sha256(".bc") in trained_on for module in corpora[split.HELD_OUT].modules)
    if shared:
        tell(f"note: {shared} held-out modules have the bitcode of a training module under another name")
    return ExitCode.DONE


if __name__ == "__main__":
    raise SystemExit(exit_code_of(lambda: run(sys.argv[1:])))
