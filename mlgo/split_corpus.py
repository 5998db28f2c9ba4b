"""Splits a corpus into two: one for training, one for evaluation.

    ./bazelw run //mlgo:split_corpus -- --corpus=out/corpus --output_dir=out/split
    ./bazelw run //mlgo:split_corpus -- --corpus=corpus.zip --output_dir=out/split --by=directory \\
        --held_out_directory=lib/IR

Output: the corpora out/split/train and out/split/held_out. --by is the criterion:

    hash        a hash of the module's name, as in the built-in corpora and //mlgo/corpus:defs.bzl. A module stays in
                its part when other modules are added or removed
    directory   all modules of a directory are in one part, because files of a directory are alike: modules below a
                --held_out_directory are held out; without that flag, a hash of the directory's name selects
    size        of four modules of similar size, one is held out: both parts have small and large modules

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
    add("--corpus", required=True, metavar="CORPUS", help="directory, .zip, .tar, .tar.gz or .tar.zst file, or label")
    add("--output_dir", required=True, metavar="DIR", help="folder of the two corpora, train/ and held_out/")
    add("--by", choices=split.CRITERIA, default=split.HASH, help="criterion, see above. Default: %(default)s")
    text = "about one module (or directory) in N is held out. Default: %(default)s"
    add("--held_out_one_in", type=int, default=split.HELD_OUT_ONE_IN, metavar="N", help=text)
    text = "for --by=directory: hold out the modules below DIR. Repeatable"
    add("--held_out_directory", action="append", default=[], metavar="DIR", help=text)
    flags = parser.parse_args(arguments)
    if flags.held_out_one_in < 2:
        parser.error(f"argument --held_out_one_in: {flags.held_out_one_in} is less than 2")
    if flags.held_out_directory and flags.by != split.DIRECTORY:
        parser.error("argument --held_out_directory: needs --by=directory")
    return flags


def run(arguments: list[str]) -> int:
    flags = _parse(arguments)
    corpus = Corpus.load(locate.user_path(flags.corpus))
    output = locate.user_path(flags.output_dir)
    sizes = {module.name: module.bitcode_size for module in corpus.modules}
    parts = split.parts_of(sizes, flags.by, flags.held_out_one_in, flags.held_out_directory)
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
