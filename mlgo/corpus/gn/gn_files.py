"""The content of gn's input files: its arguments, and the root target of a corpus. Pure functions."""

import re
from collections.abc import Mapping, Sequence

from mlgo.run.exit_codes import RunError

#: Folders that we add to a project's, below its root.
ROOT_FOLDER = "mlgo_corpus"
TOOLCHAIN_FOLDER = "mlgo_toolchain"
OUT_FOLDER = "out"
PROGRAMS_FOLDER = "mlgo_programs"
ADDED_FOLDERS = (ROOT_FOLDER, TOOLCHAIN_FOLDER, OUT_FOLDER, PROGRAMS_FOLDER)

#: Ninja's names of the two root targets.
GROUP = f"{ROOT_FOLDER}:corpus"
LIBRARY = f"{ROOT_FOLDER}:linked"
#: Where the second one lies, from the build folder.
LIBRARY_FILE = "libmlgo_corpus.so"

_ARGUMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# A label: //folder, //folder:name or //:name, with a toolchain in parentheses if need be.
_LABEL = re.compile(r'//[^":$\\]*(:[^":$\\]+)?')

# Whole archives, or the linker would take what nothing asks for out; a symbol that cannot be replaced is as good as one
# in a program. What the compiler driver adds behind is no part of it.
LIBRARY_FLAGS = ("-Wl,--whole-archive", "-Wl,-Bsymbolic")


def args_text(arguments: Mapping[str, str]) -> str:
    """args.gn, sorted by name.

    Args: arguments: names and values as gn writes them: `true`, `2`, `"text"`, `[ "a" ]`.
    Raises: RunError: a name that gn cannot have, or a value of several lines.
    """
    for name, value in arguments.items():
        if not _ARGUMENT.fullmatch(name):
            raise RunError(
                f"gn argument {name!r}", "is no name of an argument", "give NAME=VALUE, as in use_thin_lto=true"
            )
        if not value.strip() or "\n" in value:
            raise RunError(
                f"gn argument {name}={value!r}",
                "has no value on one line",
                'give true, false, 2, "text" or [ "a", "b" ]',
            )
    return "".join(f"{name} = {arguments[name].strip()}\n" for name in sorted(arguments))


def root_build_file(targets: Sequence[str], library_flags: Sequence[str] | None = None) -> str:
    """BUILD.gn of the root: a group of all `targets` or, with `library_flags`, a shared library of all of their code.

    The library exports the symbols of its targets: with hidden symbols it is empty.

    Args: library_flags: options of its link.
    Raises: RunError: no target, or one that is no label of the default toolchain.
    """
    if not targets:
        raise RunError("targets", "are none", "name at least one, such as //third_party/re2")
    for target in targets:
        if not _LABEL.fullmatch(target):
            raise RunError(f"target {target!r}", "is no gn label", "give //folder, //folder:name or //:name")
    deps = "".join(f'    "{target}",\n' for target in targets)
    if library_flags is None:
        return f'group("corpus") {{\n  testonly = true\n  deps = [\n{deps}  ]\n}}\n'
    flags = ", ".join(f'"{flag}"' for flag in library_flags)
    return (
        f'shared_library("linked") {{\n  testonly = true\n  output_name = "mlgo_corpus"\n'
        f"  ldflags = [ {flags} ]\n  deps = [\n{deps}  ]\n}}\n"
    )
