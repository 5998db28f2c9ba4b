"""Makes a corpus from the output of a build. Flags and module names are those of LLVM's mlgo-utils.

Compile with `-Xclang -fembed-bitcode=all`: each object then contains its bitcode and its command. Name the objects:

    cmake -G Ninja -DCMAKE_EXPORT_COMPILE_COMMANDS=ON -DCMAKE_C_FLAGS="-Xclang -fembed-bitcode=all" \\
          -DCMAKE_CXX_FLAGS="-Xclang -fembed-bitcode=all" -S . -B build && ninja -C build
    ./bazelw run //mlgo:extract_ir -- --input=build/compile_commands.json --output_dir=corpus

    ... --input=app.params --input_type=params --obj_base_dir=build      words of a link command, or one object per line
    ... --input=build --input_type=directory                             every *.o below build
    ... --input=aquery.json --input_type=bazel_aquery --obj_base_dir=.   bazel aquery --output=jsonproto \\
                                              --include_param_files 'deps(//your:target)' > aquery.json

Distributed ThinLTO (back ends compiled with -mllvm -lto-embed-bitcode=post-merge-pre-opt): add
--thinlto_build=distributed. ThinLTO within lld (linked with -Wl,--save-temps=import -Wl,--thinlto-emit-index-files):
the options of the link become the command of all modules.

    ... --thinlto_build=local --obj_base_dir=build --ninja_dir=build --target=bin/app
    ... --thinlto_build=local --obj_base_dir=build --link_command="clang++ -O2 -flto=thin -fuse-ld=lld a.o -o app"

Output: NAME.bc and NAME.cmd per module, corpus_licences.json, files/ (profiles that commands read),
extraction_report.json (each object without a module, and why) and, written last, corpus_description.json. NAME is the
path of the object as the build states it. Commands contain no absolute path, so the corpus can be moved. Files that
commands name are copied only from below the folders of the build and of --allow_file_root. Nothing is written outside
--output_dir. The same command resumes an interrupted extraction. A corpus in that folder is replaced, and a line says
so; while another command writes there, this one stops. Relative paths are relative to the directory in which you run
the command.

Exit codes: 0 done, 2 a flag or an input is not usable, 10 no module, 11 more failures than --max_failures,
130 interrupted.
"""

import argparse
import sys

from mlgo.corpus.description import UNKNOWN_LICENCE
from mlgo.corpus.extraction.extraction import DISTRIBUTED, INPUT_TYPES, LOCAL, Extraction, extract
from mlgo.flags.arguments import add_verbosity, command_parser
from mlgo.run import locate
from mlgo.run.exit import RESUMABLE, exit_code_of
from mlgo.run.exit_codes import ExitCode

_MISSPELT_AQUERY = "bazel_aqeury"  # LLVM's document has it.
_PATHS = ("input", "obj_base_dir", "ninja_dir")


def _parser() -> argparse.ArgumentParser:
    parser = command_parser("extract_ir", __doc__)

    def add(name: str, text: str, *aliases: str, **settings) -> None:
        parser.add_argument(f"--{name}", *aliases, help=text, **settings)

    add("input", "compile_commands.json, linker parameter file, folder of objects, or output of aquery")
    types = (*INPUT_TYPES, _MISSPELT_AQUERY)
    add("input_type", "kind of --input. Default: json", choices=types, default="json", nargs="?", const="json")
    add("output_dir", "folder of the corpus: new, empty, or a corpus to replace. Default: out/corpus in the workspace")
    add("obj_base_dir", "folder that object paths are relative to. Default: the current one", nargs="?")
    add("cmd_filter", "keep modules with an argument that contains a match of this regular expression", nargs="?")
    add("thinlto_build", "kind of ThinLTO build, if it is one", choices=(DISTRIBUTED, LOCAL), nargs="?")
    add("cmd_section_name", "section of the command. Default: .llvmcmd", nargs="?")
    add("bitcode_section_name", "section of the bitcode. Default: .llvmbc", nargs="?")
    add(
        "llvm_objcopy_path",
        "read objects, of any format, with this llvm-objcopy. Default: without it, of ELF, which is faster",
        nargs="?",
    )
    add("link_command", "for local ThinLTO: the quoted link command, which ran in --obj_base_dir")
    add("ninja_dir", "for local ThinLTO: ninja's build folder, in which --target was linked")
    add("target", "the output of that link, as ninja names it: bin/app")
    add("max_failures", "largest number of objects that may fail; no bitcode is no failure. Default: any", type=int)
    add("licence", "SPDX expression of modules whose source states none. Default: %(default)s", default=UNKNOWN_LICENCE)
    text = "folder outside of the build from which commands may name files, such as profiles. Repeatable"
    add("allow_file_root", text, action="append", default=[], metavar="DIR")
    text = "objects read at a time. Default: one per core. Changes no result"
    add("workers", text, "--num_workers", type=int, nargs="?")
    add_verbosity(parser)
    return parser


def extraction_of(arguments: list[str]) -> Extraction:
    """The extraction that the flags describe. Raises: RunError: a flag is not usable."""
    values = vars(_parser().parse_args(arguments))
    values |= {name: locate.user_path(values[name]) for name in _PATHS if values[name]}
    values["allow_file_root"] = tuple(map(locate.user_path, values["allow_file_root"]))
    if values["input_type"] == _MISSPELT_AQUERY:
        values["input_type"] = "bazel_aquery"
    if "/" in (values["llvm_objcopy_path"] or ""):  # A name without a folder is searched for in PATH.
        values["llvm_objcopy_path"] = str(locate.user_path(values["llvm_objcopy_path"]))
    values["output_dir"] = locate.output_directory(values["output_dir"], "corpus")
    return Extraction(working_directory=locate.user_path("."), **values)


def main(arguments: list[str]) -> int:

    def work() -> int:
        extract(extraction_of(arguments))
        return ExitCode.DONE

    return exit_code_of(work, RESUMABLE)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
