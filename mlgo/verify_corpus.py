"""Proves that a corpus compiles to the same bytes as the original build did, or lists the modules that differ and why.

Every module is compiled from another folder that the corpus was moved to (as links). Without --obj_base_dir, the objects must be those that
the corpus gives where it lies; with it, they must be the original build's, but for the sections in which clang embedded
bitcode and command.

    ./bazelw run //mlgo:verify_corpus -- --corpus=corpus
    ./bazelw run //mlgo:verify_corpus -- --corpus=corpus --obj_base_dir=build --json=report.json

The objects of a local ThinLTO build are the linker's: link with -Wl,--save-temps=import -Wl,--save-temps=prelink to keep
them. The compiler must be of the build's own version. Exit codes: 0 all are the same, 2 something is not as it should be
and nothing was verified, 10 the corpus is empty, 12 some modules differ.
"""

import argparse
import json
import pathlib
import subprocess
import sys

from mlgo.compiler.verification import originals
from mlgo.compiler.verification.comparison import Comparer, Reason
from mlgo.compiler.verification.verify import Verification, verify
from mlgo.corpus.corpus import Corpus
from mlgo.run import files, locate, progress
from mlgo.run.exit_codes import ExitCode, RunError

# //mlgo:verify_corpus sets these to the runfiles of the packaged clang 22 and its tools.
_CLANG, _OBJCOPY = "MLGO_PACKAGED_CLANG", "MLGO_PACKAGED_OBJCOPY"
_SHOWN = 20


def main(arguments: list[str]) -> int:
    flags = _parser().parse_args(arguments)
    try:
        return _verify(flags)
    except RunError as error:
        print(f"verify_corpus: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", required=True, help="directory or archive of the corpus")
    parser.add_argument(
        "--obj_base_dir", help="tree of the original objects, as given to extract_ir. Default: none to compare with"
    )
    parser.add_argument("--clang", help="compiler. Default: the packaged clang 22 of this workspace")
    parser.add_argument("--llvm_objcopy_path", help="llvm-objcopy. Default: the packaged one of this workspace")
    parser.add_argument(
        "--cmd_section_name",
        default=".llvmcmd",
        help="section of the originals with the command (default: %(default)s)",
    )
    parser.add_argument(
        "--bitcode_section_name", default=".llvmbc", help="section with the bitcode (default: %(default)s)"
    )
    parser.add_argument("--num_workers", type=int, help="compiles at a time. Default: one per core")
    parser.add_argument("--json", help="file for the report")
    return parser


def _verify(flags: argparse.Namespace) -> int:
    if flags.num_workers is not None and flags.num_workers < 1:
        raise RunError(
            f"--num_workers={flags.num_workers}", "is not a positive number", "give 1 or more, or leave it out"
        )
    corpus = Corpus.load(locate.user_path(flags.corpus))
    clang = locate.program(flags.clang, "--clang", _CLANG)
    objcopy = locate.program(flags.llvm_objcopy_path, "--llvm_objcopy_path", _OBJCOPY)
    comparer = Comparer(objcopy, (flags.bitcode_section_name, flags.cmd_section_name))
    find = None
    if flags.obj_base_dir is not None:
        directory = locate.user_path(flags.obj_base_dir)
        if not directory.is_dir():
            raise RunError(
                f"--obj_base_dir={directory}", "is not a directory", "give the directory that extract_ir was given"
            )
        find = originals.finder(directory)
    shown = progress.start("verify", len(corpus.modules), "modules")
    try:
        found = verify(corpus, clang, comparer, find, flags.num_workers, shown)
    finally:
        shown.close()
    if flags.json:
        files.write_json_atomically(
            locate.user_path(flags.json), report(corpus, clang, found, flags.obj_base_dir is not None)
        )
    _summarise(found, len(corpus.modules), with_originals=find is not None)
    return ExitCode.OUTPUT_DIFFERS if found.different else ExitCode.DONE


def report(corpus: Corpus, clang: pathlib.Path, found: Verification, with_originals: bool) -> dict:
    """The report as JSON has it; nothing in it depends on where the corpus lies or on the machine."""
    return {
        "clang": _version(clang),
        "compared_with": "original objects" if with_originals else "the corpus where it lies",
        "corpus_digest": corpus.digest,
        "different": {
            name: {"reason": why.reason.value, "detail": why.detail} for name, why in found.different.items()
        },
        "reasons": {reason.value: found.count(reason) for reason in Reason if found.count(reason)},
        "same": list(found.same),
    }


def _version(clang: pathlib.Path) -> str:
    done = subprocess.run([clang, "--version"], capture_output=True, text=True, errors="replace", check=False)
    return done.stdout.partition("\n")[0]


def _summarise(found: Verification, total: int, with_originals: bool) -> None:
    for name, why in list(found.different.items())[:_SHOWN]:
        print(f"{json.dumps(name, ensure_ascii=False)}: {why.reason.value}: {why.detail}", file=sys.stderr)
    if len(found.different) > _SHOWN:
        print(f"and {len(found.different) - _SHOWN} more; --json=FILE has them all", file=sys.stderr)
    against = "the original objects" if with_originals else "themselves before the move"
    failed = ", ".join(f"{found.count(reason)} {reason.value}" for reason in Reason if found.count(reason))
    print(
        f"done {len(found.same)} of {total} the same as {against}" + (f", different: {failed}" if failed else ""),
        file=sys.stderr,
    )


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
