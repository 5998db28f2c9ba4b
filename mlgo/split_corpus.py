"""Splits a corpus in two: one to train on, one to judge the policy by.

    ./bazelw run //mlgo:split_corpus -- --corpus=out/corpus --output_dir=out/split
    ./bazelw run //mlgo:split_corpus -- --corpus=corpus.zip --output_dir=out/split --by=directory --held_out_directory=lib/IR

writes the corpora out/split/train and out/split/held_out. What --by goes by:

    hash        each module's name, as the built-in corpora and //mlgo/corpus:defs.bzl do; a module never changes sides when others
                come or go
    directory   all of a directory goes to one side, since its files are much alike: to the held-out one what lies below a
                --held_out_directory, or, without any, what a hash of the directory's name says
    size        of each four modules of about the same size one is held out, so that both sides have small and large ones alike

The same corpus gives the same two, on every machine. Relative paths are relative to where you type the command. Exit codes: 0 done,
2 something is not as it should be, 10 one side would be empty.
"""

import argparse
import sys

from mlgo.corpus import split
from mlgo.corpus.corpus import Corpus
from mlgo.corpus.parts import write_parts
from mlgo.run import locate
from mlgo.run.exit import exit_code_of
from mlgo.run.exit_codes import ExitCode, RunError


def _parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="split_corpus",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument(
        "--corpus", required=True, metavar="PATH", help="directory, or .zip, .tar, .tar.gz or .tar.zst file"
    )
    parser.add_argument("--output_dir", required=True, metavar="DIR", help="where train/ and held_out/ are written")
    parser.add_argument("--by", choices=("hash", "directory", "size"), default="hash", help="default: %(default)s")
    parser.add_argument(
        "--held_out_one_in",
        type=int,
        default=split.HELD_OUT_ONE_IN,
        metavar="N",
        help="about one module (or directory) in N is held out; default: %(default)s",
    )
    parser.add_argument(
        "--held_out_directory",
        action="append",
        default=[],
        metavar="DIR",
        help="for --by=directory: hold out the modules whose names begin with DIR/; may be given several times",
    )
    flags = parser.parse_args(arguments)
    if flags.held_out_one_in < 2:
        parser.error(f"argument --held_out_one_in: {flags.held_out_one_in} is less than 2")
    if flags.held_out_directory and flags.by != "directory":
        parser.error("argument --held_out_directory: needs --by=directory")
    return flags


def _parts(corpus: Corpus, flags: argparse.Namespace) -> dict[str, str]:
    names = [module.name for module in corpus.modules]
    if flags.by == "hash":
        return split.by_hash(names, flags.held_out_one_in)
    if flags.by == "size":
        return split.by_size({module.name: module.bitcode_size for module in corpus.modules}, flags.held_out_one_in)
    for folder in flags.held_out_directory:
        if not any(name.startswith(f"{folder.rstrip('/')}/") for name in names):
            raise RunError(f"--held_out_directory={folder}", "holds no module", "give the beginning of modules' names")
    return split.by_directory(names, flags.held_out_directory, flags.held_out_one_in)


def run(arguments: list[str]) -> int:
    """Runs the command; returns its exit code."""
    flags = _parse(arguments)
    corpus = Corpus.load(locate.user_path(flags.corpus))
    output = locate.user_path(flags.output_dir)
    source = corpus.path.resolve()
    for part in split.PARTS:
        target = (output / part).resolve()
        if source.is_relative_to(target) or target.is_relative_to(source):
            raise RunError(
                f"--output_dir={output}", f"would be written over the corpus {corpus.path}", "give another directory"
            )
    written = write_parts(corpus, _parts(corpus, flags), output)
    corpora = {part: Corpus.load(output / part) for part in written}
    for part, result in written.items():
        size = sum(module.bitcode_size for module in corpora[part].modules)
        left_out = f", {len(result.duplicates)} duplicates left out" if result.duplicates else ""
        print(
            f"{part}: {len(result.modules):,} modules, {size:,} bytes of bitcode{left_out} -> {output / part}",
            file=sys.stderr,
        )
    trained_on = {module.sha256(".bc") for module in corpora[split.TRAIN].modules}
    shared = sum(module.sha256(".bc") in trained_on for module in corpora[split.HELD_OUT].modules)
    if shared:
        print(
            f"note: {shared} held-out modules have the bitcode of a training module under another name", file=sys.stderr
        )
    return ExitCode.DONE


if __name__ == "__main__":
    raise SystemExit(exit_code_of(lambda: run(sys.argv[1:])))
