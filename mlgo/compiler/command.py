"""Recorded cc1 commands (.llvmcmd sections) made into commands that compile the module's bitcode anywhere.

Bitcode needs no header, macro, warning or language option, so everything that only the front end's way from source to
bitcode used is dropped; with it go the paths of the machine which recorded the command. What code generation reads stays.
"""

import re
from collections.abc import Iterable, Sequence

from mlgo.run.exit_codes import RunError

# Options whose argument is a code generation matter even if it looks like another option.
_KEPT_WITH_VALUE = frozenset({"-mllvm", "-target-feature", "-triple", "-target-cpu", "-tune-cpu", "-main-file-name"})

# Options (clang/include/clang/Options/Options.td, LLVM 22) followed by an argument of their own.
_DROPPED_WITH_VALUE = frozenset(
    """
    -D -U -I -F -include -imacros -include-pch -iquote -idirafter -isystem -isystem-after -iframework -iwithsysroot
    -internal-isystem -internal-externc-isystem -internal-iframework -c-isystem -cxx-isystem -objc-isystem -objcxx-isystem
    -iprefix -iwithprefix -iwithprefixbefore -isysroot -resource-dir -ivfsoverlay
    -dependency-file -MT -MQ -dependency-dot -module-dependency-dir -header-include-file
    -o -x -serialize-diagnostic-file -diagnostic-log-file -ferror-limit -fmessage-length -fbracket-depth -ftabstop
    -dwarf-debug-flags -split-dwarf-file -split-dwarf-output -opt-record-file -opt-record-passes -opt-record-format
    -add-plugin -plugin -load -working-directory -fconstexpr-steps -fconstexpr-depth -ftemplate-depth
    """.split()
)

_DROPPED = re.compile(
    r"""
      -W .* | -w | -pedantic (-errors)? | -std=.* | -[DUIF] .+ | -v | -R .*
    | -M [DGMPV]* | -MV | -sys-header-deps | -module-file-deps | -header-include-.* | -show-includes
    | -E | -S | -fsyntax-only | -emit-(obj|llvm|llvm-bc|llvm-only|codegen-only|pch|module|interface-stubs|ast) | -verify .*
    | -(flto-unit|flto|flto=.*) | -fembed-bitcode (=.*)?
    | -f(debug|coverage)-compilation-dir=.* | -f(debug|macro|file|coverage)-prefix-map=.* | -coverage-(notes|data)-file=.*
    | -f(color|no-color|caret|no-caret)-diagnostics | -fdiagnostics-.* | -fno-diagnostics-.*
    | -(ferror-limit|fmessage-length|ftabstop|fconstexpr-steps|ftemplate-depth)=.*
    | -fmodule.* | -fprebuilt-module-path=.* | -fno-implicit-modules | -working-directory=.* | -stats-file=.*
    | -ftime-(report|trace) .* | -print-.* | -nostdsysteminc | -nobuiltininc | -stdlib=.* | -undef
    | -include-pch=.* | -isysroot .+ | -ivfsoverlay .+ | -resource-dir=.* | -fdepfile-entry=.* | -split-dwarf-.*=.*
    """,
    re.VERBOSE,
)

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
            kept += [argument, _value_of(argument, arguments)]
        elif argument in _DROPPED_WITH_VALUE:
            _value_of(argument, arguments)
        elif not _DROPPED.fullmatch(argument):
            kept.append(argument)
    return tuple(kept)


def paths_in(command: Iterable[str]) -> list[str]:
    """The arguments which name an absolute path: in a corpus that can be moved there is none."""
    return [argument for argument in command if _ABSOLUTE_PATH.search(argument)]


def compile_command(
    recorded: Sequence[str], bitcode: str, output: str, extra_flags: Sequence[str] = ()
) -> list[str]:
    """Arguments for clang, program name not included, which compile `bitcode` to the object file `output`.

    Args:
      recorded: the module's command.
      bitcode, output: paths as clang is to see them.
      extra_flags: cc1 flags put after the module's own, such as a problem's.

    Raises: CommandError: `recorded` is not a cc1 command.
    """
    # clang accepts one action only; `-emit-llvm-bc` among `extra_flags` asks for bitcode instead of an object.
    action = [] if "-emit-llvm-bc" in extra_flags else ["-emit-obj"]
    return ["-cc1", *portable_command(recorded), *extra_flags, *action, "-o", output, "-x", "ir", bitcode]


def _value_of(option: str, arguments) -> str:
    value = next(arguments, None)
    if value is None:
        raise CommandError(
            f"the recorded command's last option {option}", "lacks its argument", "extract the module's command again"
        )
    return value
