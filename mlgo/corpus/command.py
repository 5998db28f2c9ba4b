"""Recorded cc1 commands (.llvmcmd sections) made into commands that compile the module's bitcode anywhere.

Bitcode needs no header, macro, warning or language option: options that only the front end uses are dropped, and with
them the paths of the machine that recorded the command. Options of code generation stay.
"""

import re
from collections.abc import Iterable, Sequence

from mlgo.run.exit_codes import RunError

# Options whose argument is a code generation matter even if it looks like another option.
_KEPT_WITH_VALUE = frozenset(
    """
    -mllvm -target-feature -triple -target-cpu -tune-cpu -target-abi -main-file-name -object-file-name -exception-model
    -default-function-attr -ftrapv-handler -fconstant-string-class -mdebug-pass -aux-triple -aux-target-cpu
    -aux-target-feature
    """.split()
)

# Options (clang/include/clang/Options/Options.td, LLVM 22) followed by an argument of their own.
_DROPPED_WITH_VALUE = frozenset(
    """
    -D -U -I -F -include -imacros -include-pch -iquote -idirafter -isystem -isystem-after -iframework -iwithsysroot
    -internal-isystem -internal-externc-isystem -internal-iframework -c-isystem -cxx-isystem -objc-isystem
    -objcxx-isystem
    -iprefix -iwithprefix -iwithprefixbefore -isysroot -resource-dir -ivfsoverlay --include --imacros -chain-include
    -vfsoverlay --vfsoverlay -iframeworkwithsysroot -iapinotes-modules -remap-file -ast-merge -interface-stub-version=
    -dependency-file -MT -MQ -dependency-dot -module-dependency-dir -header-include-file -source-date-epoch -dumpdir
    -o -x -serialize-diagnostic-file -diagnostic-log-file -ferror-limit -fmessage-length -fbracket-depth -ftabstop
    -fdiagnostics-format -fdiagnostics-show-category -error-on-deserialized-decl -ast-dump-filter -code-completion-at
    -dwarf-debug-flags -split-dwarf-file -split-dwarf-output -opt-record-file -opt-record-passes -opt-record-format
    -record-command-line -stack-usage-file -as-secure-log-file -fdebug-compilation-dir
    -add-plugin -plugin -load -working-directory -fconstexpr-steps -fconstexpr-depth -ftemplate-depth
    -fmodule-feature -fmodules-user-build-path -fmodule-implementation-of
    -mlink-bitcode-file -mlink-builtin-bitcode -fcuda-include-gpubinary -fopenmp-host-ir-file-path
    -analyze-function -analyzer-checker -analyzer-config -analyzer-config-compatibility-mode -analyzer-constraints
    -analyzer-disable-checker -analyzer-dump-egraph -analyzer-inline-max-stack-depth -analyzer-inlining-mode
    -analyzer-max-loop -analyzer-output -analyzer-purge
    """.split()
)

_DROPPED = re.compile(
    r"""
      -W .* | -w | -pedantic (-errors)? | -std=.* | -[DUIF] .+ | -v | -R .*
    | -M [DGMPV]* | -MV | -sys-header-deps | -module-file-deps | -header-include-.* | -show-includes
    | -E | -S | -fsyntax-only | -emit-(obj|llvm|llvm-bc|llvm-only|codegen-only|pch|module|interface-stubs|ast)
    | -verify .*
    | -(flto-unit|flto|flto=.*) | -fembed-bitcode (=.*)?
    | -f(debug|coverage)-compilation-dir=.* | -f(debug|macro|file|coverage)-prefix-map=.*
    | -coverage-(notes|data)-file=.*
    | -f(color|no-color|caret|no-caret)-diagnostics | -fdiagnostics-.* | -fno-diagnostics-.*
    | -(ferror-limit|fmessage-length|ftabstop|fconstexpr-steps|ftemplate-depth)=.*
    | -fmodule.* | -fprebuilt-module-path=.* | -fno-implicit-modules | -working-directory=.* | -stats-file=.*
    | -ftime-(report|trace) .* | -print-.* | -nostdsysteminc | -nobuiltininc | -stdlib=.* | -undef
    | -include-pch=.* | -isysroot .+ | -ivfsoverlay .+ | -resource-dir=.* | -fdepfile-entry=.* | -split-dwarf-.*=.*
    | --?(vfsoverlay|include|imacros) .+ | -(include|imacros|iquote|idirafter|isystem|iframework|iprefix|cxx-isystem) .+
    | -iwith.+ | -iframeworkwithsysroot .+ | -iapinotes-modules .+ | --embed-dir=.* | --(no-)?system-header-prefix=.*
    | --warning-suppression-mappings=.* | --std=.* | --stdlib=.* | -analyzer-.* | -analyze-function=.*
    | -ast-dump.* | -code-completion-at=.* | -error-on-deserialized-decl=.* | -dump-minimization-hints=.*
    | --?save-temps=.* | -fverify-debuginfo-preserve-export=.* | -fthin-link-bitcode=.* | -fembed-offload-object=.*
    | -fpass-plugin=.* | -fprofile-list=.* | -fprofile-(filter|exclude)-files=.* | -fthinlto-index=.*
    | -fsanitize-(system-)?ignorelist=.* | -fsanitize-blacklist=.* | -fxray-(always|never)-instrument=.*
    | -fxray-attr-list=.* | -foverride-record-layout=.* | -frandomize-layout-seed(-file)?=.*
    | -fms-secure-hotpatch-functions-(file|list)=.* | --(dependent-lib|linker-option)=.*
    """,
    re.VERBOSE,
)

# `-plugin-arg-NAME VALUE`: the option's own word is open-ended.
_PLUGIN_ARGUMENT = "-plugin-arg-"

# Makes ThinLTO's backend embed what it read. The corpus has that already, and an object with it is not the linked one.
_EMBEDDING = re.compile(r"--?lto-embed-bitcode(=.*)?")

#: cc1's option for the ThinLTO index of a module. It names another file for each module, so it is no part of what
#: `portable_command` keeps: the compile inserts the place of the index.
THINLTO_INDEX = "-fthinlto-index="
# Without this option, compiling a module with merged imports and an index gives an empty object and exit code 0
# (llvm/lib/LTO/LTOBackend.cpp). LLVM refuses the option when it is given twice.
_ASSUME_MERGED = "-thinlto-assume-merged"

# Files that a corpus carries for its commands (mlgo/corpus/writer.py): profiles, lists.
_CARRIED_FILE = re.compile(r"(?:^|=)(files/[0-9a-f]{16}-[^/]+)", re.DOTALL)

_ABSOLUTE_PATH = re.compile(r"(^|[=,:])/")


class CommandError(RunError):
    """A recorded command cannot be used."""


def portable_command(recorded: Sequence[str]) -> tuple[str, ...]:
    """The code generation options in `recorded`, in their order, without `-cc1`, input, output and action.

    Raises: CommandError: the last option lacks its argument, or a word is not an option.
    """
    kept: list[str] = []
    arguments = iter(recorded[1:] if recorded and recorded[0] == "-cc1" else recorded)
    for argument in arguments:
        if argument in _KEPT_WITH_VALUE:
            value = _value_of(argument, arguments)
            if not (argument == "-mllvm" and _EMBEDDING.fullmatch(value)):
                kept += [argument, value]
        elif argument in _DROPPED_WITH_VALUE or argument.startswith(_PLUGIN_ARGUMENT):
            _value_of(argument, arguments)
        elif not _DROPPED.fullmatch(argument):
            kept.append(argument)
    return tuple(kept)


def takes_value(option: str) -> bool:
    """Whether the argument after `option` belongs to it."""
    return option in _KEPT_WITH_VALUE or option in _DROPPED_WITH_VALUE


def paths_in(command: Iterable[str]) -> list[str]:
    """The arguments which name an absolute path: in a corpus that can be moved there is none."""
    return [argument for argument in command if _ABSOLUTE_PATH.search(argument)]


def carried_files(command: Iterable[str]) -> tuple[str, ...]:
    """The files of the corpus that a command names, as it names them: relative to the corpus. Sorted."""
    found = (_CARRIED_FILE.search(argument) for argument in command)
    return tuple(sorted({match[1] for match in found if match}))


def compile_command(
    recorded: Sequence[str],
    bitcode: str,
    output: str,
    extra_flags: Sequence[str] = (),
    thinlto_index: str | None = None,
) -> list[str]:
    """Arguments for clang, program name not included, which compile `bitcode` to the object file `output`.

    Args:
      recorded: the module's command.
      bitcode, output, thinlto_index: paths as clang is to see them.
      extra_flags: cc1 flags put after the module's own, such as a problem's.
      thinlto_index: the module's ThinLTO index; the bitcode is then taken as what ThinLTO has after importing.

    Raises: CommandError: `recorded` is not a cc1 command, or it is one of ThinLTO's and there is no index.
    """
    # clang accepts one action only; `-emit-llvm-bc` among `extra_flags` asks for bitcode instead of an object.
    action = [] if "-emit-llvm-bc" in extra_flags else ["-emit-obj"]
    portable = portable_command(recorded)
    thinlto = _thinlto(recorded, portable, thinlto_index)
    return ["-cc1", *portable, *thinlto, *extra_flags, *action, "-o", output, "-x", "ir", bitcode]


def _thinlto(recorded: Sequence[str], portable: Sequence[str], index: str | None) -> list[str]:
    if index is None:
        if any(argument.startswith(THINLTO_INDEX) for argument in recorded):
            raise CommandError(
                "a module's command",
                "needs a ThinLTO index, and the corpus is not described as one of ThinLTO",
                "extract it again with --thinlto_build=distributed",
            )
        return []
    merged = [] if _ASSUME_MERGED in portable else ["-mllvm", _ASSUME_MERGED]
    return [THINLTO_INDEX + index, *merged]


def _value_of(option: str, arguments) -> str:
    value = next(arguments, None)
    if value is None:
        raise CommandError(
            f"the recorded command's last option {option}", "lacks its argument", "extract the module's command again"
        )
    return value
