"""Recorded cc1 commands made into commands that need nothing outside the corpus.

What code generation reads from a file, profiles above all, is carried into the corpus and named relative to it; what is
only written is dropped; anything else that still names a place of this machine is an error, because the corpus would
compile to other bytes elsewhere, or not at all.
"""

import os
import pathlib
import re
from collections.abc import Callable, Sequence

from mlgo.corpus import command
from mlgo.run.exit_codes import RunError

# cc1 options (clang/include/clang/Options/Options.td, LLVM 22) whose value names a file that clang's back end opens
# (clang/lib/CodeGen/BackendUtil.cpp, clang/lib/Frontend/CompilerInvocation.cpp). Other options with file names belong
# to the front end: `portable_command` drops them.
_READ = (
    "-fprofile-instrument-use-path=",
    "-fprofile-sample-use=",
    "-fprofile-remapping-file=",
    "-fmemory-profile-use=",
    "-fbasic-block-sections=list=",
    "-fsanitize-coverage-allowlist=",
    "-fsanitize-coverage-ignorelist=",
    "-fexperimental-sanitize-metadata-ignorelist=",
)

# Text that goes into the object and is never opened by the compiler; the bytes are the original's only with it.
_TEXT = (
    "-fprofile-instrument-path=",
    "-fmemory-profile=",
    "-object-file-name",
    "-fsymbol-partition=",
    "-main-file-name",
)

# LLVM's own options (cl::opt of type string in llvm/lib, LLVM 22) which name a file that passes read.
_LLVM_READ = frozenset(
    """
    cgscc-inline-replay codegen-data-use-path extract-blocks-file forceattrs-csv-path fs-profile-file fs-remapping-file
    internalize-public-api-file ir2vec-vocab-path lowertypetests-read-summary memprof-import-summary mir2vec-vocab-path
    ml-inliner-ir2vec-vocab-file ms-secure-hotpatch-functions-file pgo-test-profile-file pgo-test-profile-remapping-file
    prefetch-hints-file sample-profile-file sample-profile-inline-replay sample-profile-remapping-file summary-file
    thinlto-workload-def use-ctx-profile wholeprogramdevirt-read-summary
    """.split()
)

# The same, which only name a file that is written.
_LLVM_WRITTEN = frozenset(
    """
    as-secure-log-file attributor-depgraph-dot-filename-prefix callgraph-dot-filename-prefix cfg-dot-filename-prefix
    coro-elide-info-output-file crash-diagnostics-dir dot-cfg-dir dot-cfg-mssa dot-ddg-filename-prefix info-output-file
    ir-dump-directory
    lowertypetests-write-summary lto-pass-remarks-output lto-stats-file mcfg-dot-filename-prefix
    memprof-dot-file-path-prefix module-summary-dot-file opt-bisect-print-ir-path print-changed-diff-path
    print-changed-dot-path print-on-crash-path regalloc-priority-training-log regalloc-training-log training-log
    wholeprogramdevirt-write-summary
    """.split()
)

# What makes a back end of ThinLTO embed the bitcode that can be compiled again without the modules imported from.
_EMBEDDED_AFTER_IMPORTING = frozenset(
    {"-lto-embed-bitcode=post-merge-pre-opt", "--lto-embed-bitcode=post-merge-pre-opt"}
)

_LLVM_OPTION = re.compile(r"--?(?P<name>[^=]+)(=(?P<value>.*))?", re.DOTALL)


def self_contained_command(
    recorded: Sequence[str],
    working_directory: pathlib.Path,
    add_file: Callable[[pathlib.Path], str],
    module_name: str | None = None,
) -> tuple[str, ...]:
    """The code generation options of `recorded`, with every file they need carried into the corpus.

    Args:
      recorded: cc1 arguments as clang recorded them.
      working_directory: where that clang ran; its relative paths count from there.
      add_file: carries a file into the corpus and returns the relative path ("files/...") that names it there.
      module_name: for a module of a distributed ThinLTO build, whose command names an index: the name under which the
        corpus keeps it. The command then ends with `-fthinlto-index=<module_name>.thinlto.bc`.

    Returns: options without `-cc1`, input, output and action, as `portable_command` gives them.

    Raises:
      RunError: a file that is needed does not exist, or an unknown option names a place of this machine, and it is
        unknown whether code generation needs it; the message names the option. Or ThinLTO's back end embedded other
        bitcode.
    """
    kept: list[str] = []
    arguments = iter(command.portable_command(recorded))
    for argument in arguments:
        if argument == "-mllvm":
            kept += _llvm_option(next(arguments), arguments, working_directory, add_file)
        elif argument in _TEXT:
            kept += [argument, next(arguments)]
        elif argument.startswith(_TEXT):
            kept.append(argument)
        elif prefix := next((prefix for prefix in _READ if argument.startswith(prefix)), None):
            path = argument.removeprefix(prefix)
            kept.append(prefix + (_carried(argument, path, working_directory, add_file) if path else ""))
        else:
            if command.paths_in([argument]):
                raise _not_portable(f"{kept[-1]} {argument}" if kept and not argument.startswith("-") else argument)
            kept.append(argument)
    if module_name is not None and any(argument.startswith(command.THINLTO_INDEX) for argument in recorded):
        if not _EMBEDDED_AFTER_IMPORTING.intersection(recorded):
            raise RunError(
                "the recorded command",
                "embedded the bitcode from before ThinLTO imported into it, or after it was optimised",
                "compile the back ends with -mllvm -lto-embed-bitcode=post-merge-pre-opt, not with -fembed-bitcode",
            )
        kept.append(f"{command.THINLTO_INDEX}{module_name}.thinlto.bc")
    return tuple(kept)


def outside(stored: Sequence[str]) -> list[str]:
    """The words of a corpus's command that name a place outside of it, without text that only goes into the object."""
    text = {place + 1 for place, word in enumerate(stored) if word in _TEXT}
    words = (word for place, word in enumerate(stored) if place not in text and not word.startswith(_TEXT))
    return command.paths_in(words)


def _llvm_option(option: str, arguments, working_directory: pathlib.Path, add_file) -> list[str]:
    """What becomes of `-mllvm option`; its value may follow as `-mllvm value`, which is then taken from `arguments`."""
    parsed = _LLVM_OPTION.fullmatch(option)
    if parsed is None:
        return ["-mllvm", option]
    name, value = parsed["name"], parsed["value"]
    if value is None and name in _LLVM_READ | _LLVM_WRITTEN:
        next(arguments, None)
        value = next(arguments, None)
        if value is None:
            raise RunError(f"recorded option -mllvm {option}", "lacks its value", "extract the module's command again")
    if name in _LLVM_WRITTEN:
        return []
    if name in _LLVM_READ:
        return ["-mllvm", f"-{name}={_carried(f'-mllvm -{name}', value, working_directory, add_file)}"]
    if command.paths_in([option]) or (value and "/" in value and (working_directory / value).exists()):
        raise _not_portable(f"-mllvm {option}")
    return ["-mllvm", option]


def _carried(option: str, path: str, working_directory: pathlib.Path, add_file: Callable[[pathlib.Path], str]) -> str:
    source = working_directory / path
    # Not `source.is_file()`, which raises for a name that is too long.
    if not os.path.isfile(source):
        raise RunError(
            f"recorded option {option}",
            f"names the file {source}, which does not exist",
            "extract where the build ran, while its profiles and lists are still there",
        )
    return add_file(source)


def _not_portable(option: str) -> RunError:
    return RunError(
        f"recorded option {option}",
        "names a place that exists on this machine only, and nothing is known about it",
        "build without that option, or add it to the tables of mlgo/corpus/self_contained.py",
    )
