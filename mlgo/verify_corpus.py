"""Checks that a corpus compiles to the same bytes as the original build, and lists the modules that differ and why.

Every module is compiled from a copy of the corpus in another folder (as links). The objects are compared with those
that the corpus gives in its own folder or, with --obj_base_dir, with those of the original build, apart from the
sections in which clang embedded bitcode and command.

    ./bazelw run //mlgo:verify_corpus -- --corpus=corpus
    ./bazelw run //mlgo:verify_corpus -- --corpus=corpus --obj_base_dir=build --json=report.json

The objects of a local ThinLTO build are the linker's: link with -Wl,--save-temps=import -Wl,--save-temps=prelink to
keep them. The compiler must have the version of the original one.

Exit codes: 0 all objects are equal, 2 a flag or an input is not usable, 10 the corpus is empty, 12 some modules differ.
"""

import contextlib
import sys

from mlgo.compiler.driver_command import with_usable_commands
from mlgo.compiler.request import CompileLimits
from mlgo.compiler.verification import originals
from mlgo.compiler.verification.comparison import Comparer
from mlgo.compiler.verification.verify import report_json, report_lines, verify
from mlgo.corpus.corpus import Corpus
from mlgo.corpus.fitting import chosen_modules
from mlgo.flags.arguments import add_compile_limit, command_parser
from mlgo.flags.command_flags import flag_changes
from mlgo.flags.peer_arguments import translated
from mlgo.run import files, locate, progress
from mlgo.run.exit import exit_code_of
from mlgo.run.exit_codes import ExitCode, RunError

#: Flags that settings of ml-compiler-opt may stand for.
_GIN_SETS = ("clang", "add_flags", "delete_flags", "replace_flags")
# //mlgo:verify_corpus sets these to the runfiles of the packaged clang and its tools.
_CLANG, _OBJCOPY = "MLGO_PACKAGED_CLANG", "MLGO_PACKAGED_OBJCOPY"


def run(arguments: list[str]) -> int:
    parser = command_parser("verify_corpus", __doc__)
    add = parser.add_argument
    add("--corpus", required=True, help="directory or label of the corpus")
    add("--obj_base_dir", help="folder of the original objects, as given to extract_ir. Default: compare with none")
    add("--clang", help="compiler. Default: the packaged clang of this workspace")
    add("--llvm_objcopy_path", help="llvm-objcopy. Default: the packaged one of this workspace")
    add("--cmd_section_name", default=".llvmcmd", help="the originals' section of the command. Default: %(default)s")
    text = "the originals' section of the bitcode. Default: %(default)s"
    add("--bitcode_section_name", default=".llvmbc", help=text)
    add("--workers", "--num_workers", type=int, help="compiles at a time. Default: one per core")
    add_compile_limit(parser, CompileLimits.cpu_seconds)
    text = "option that commands may have although it may do more than change code (docs/corpora.md). Repeatable"
    add("--allow_option", action="append", default=[], metavar="OPTION", help=text)
    text = "words after every command, quoted as in a shell. Repeatable"
    add("--add_flags", action="append", default=[], metavar="WORDS", help=text)
    text = "option that is left out of every command, with its value. Repeatable"
    add("--delete_flags", action="append", default=[], metavar="OPTION", help=text)
    text = "option that gets another value in every command. Repeatable"
    add("--replace_flags", action="append", default=[], metavar="OPTION=VALUE", help=text)
    text = "gin file of ml-compiler-opt, for its compiler and changes of commands. Repeatable"
    add("--gin_files", action="append", default=[], metavar="FILE", help=text)
    text = "setting of ml-compiler-opt, such as problem_config.flags_to_add.add_flags=('-g0',). Repeatable"
    add("--gin_bindings", action="append", default=[], metavar="SETTING", help=text)
    text = "check only modules whose name contains a match of this regular expression"
    add("--module_filter", "--key_filter", metavar="REGEX", help=text)
    add("--json", help="file for the report. Default: none")
    translation = translated(["verify_corpus", *arguments], _GIN_SETS, locate.user_path)
    flags = parser.parse_args(translation.arguments[1:])
    for note in translation.notes:
        progress.tell(f"note: {note}")
    if flags.workers is not None and flags.workers < 1:
        raise RunError(f"--workers={flags.workers}", "is not a positive number", "give 1 or more, or leave it out")
    clang = locate.program(flags.clang, "--clang", _CLANG)
    changes = flag_changes(flags.add_flags, flags.delete_flags, flags.replace_flags)
    corpus = with_usable_commands(Corpus.load(locate.user_path(flags.corpus), flags.allow_option), clang, changes)
    if flags.module_filter is not None:
        names = [module.name for module in corpus.modules]
        corpus = corpus.select(chosen_modules(names, flags.module_filter, sampling_rate=1.0, seed=0))
    objcopy = locate.program(flags.llvm_objcopy_path, "--llvm_objcopy_path", _OBJCOPY)
    comparer = Comparer(objcopy, (flags.bitcode_section_name, flags.cmd_section_name))
    find = originals.finder(locate.user_path(flags.obj_base_dir)) if flags.obj_base_dir is not None else None
    with contextlib.closing(progress.start("verify", len(corpus.modules), "modules")) as shown:
        found = verify(corpus, clang, comparer, find, flags.workers, shown, CompileLimits(flags.compile_cpu_seconds))
    if flags.json:
        content = report_json(corpus, clang, found, with_originals=find is not None)
        files.write_json_atomically(locate.user_path(flags.json), content)
    for line in report_lines(found, with_originals=find is not None):
        progress.tell(line)
    return ExitCode.OUTPUT_DIFFERS if found.different else ExitCode.DONE


def main(arguments: list[str]) -> int:
    return exit_code_of(lambda: run(arguments))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
