"""Puts compiled modules together as a corpus directory. Run by the rules in defs.bzl.

    assemble --output DIR [--part train|held_out] LIST

LIST has one line per module: its name, the .bc and the .cmd file that the compiler left, separated by tabs.
"""

import argparse
import json
import pathlib
import shutil
import sys

from mlgo.compiler import command
from mlgo.corpus import corpus, split
from mlgo.run.exit_codes import ExitCode, RunError


def assemble(modules: list[tuple[str, pathlib.Path, pathlib.Path]], output: pathlib.Path, part: str | None) -> int:
    """Writes the corpus; returns the number of its modules.

    Args:
      modules: name, bitcode file, recorded command (a .llvmcmd section).
      output: the directory to fill.
      part: only modules of this part; None: all.

    Raises: RunError: a recorded command names a path outside the corpus, two modules have one name, or none is left.
    """
    names = []
    for name, bitcode, recorded in sorted(modules):
        if part is not None and split.part_of(name) != part:
            continue
        if names and names[-1] == name:
            raise RunError(f"module {name}", "is listed twice", "remove one of the two from `srcs`", ExitCode.MISUSE)
        names.append(name)
        portable = command.portable_command(corpus.split_command(recorded.read_bytes()))
        if paths := command.paths_in(portable):
            raise RunError(
                f"command of module {name}",
                f"names the path {paths[0]}, which exists on this machine only",
                "drop that option in `copts`, or in mlgo/compiler/command.py if bitcode does not need it",
            )
        target = output / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(bitcode, output / f"{name}.bc")
        # With its action, so that LLVM's and ml-compiler-opt's tools can run the command as it stands.
        (output / f"{name}.cmd").write_bytes(corpus.join_command(("-cc1", *portable, "-emit-obj")))
    if not names:
        raise RunError(
            f"{len(modules)} modules", f"none of them is in the part {part}", "add sources", ExitCode.NOTHING_PRODUCED
        )
    description = {"has_thinlto": False, "modules": names}
    (output / corpus.DESCRIPTION_NAME).write_text(json.dumps(description, indent=2) + "\n", encoding="utf-8")
    return len(names)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=pathlib.Path, required=True, help="directory to fill")
    parser.add_argument("--part", choices=split.PARTS, help="only modules of this part (default: all)")
    parser.add_argument("list", type=pathlib.Path, help="file with a line NAME<tab>BITCODE<tab>COMMAND per module")
    flags = parser.parse_args(arguments)
    modules = []
    for line in flags.list.read_text(encoding="utf-8").splitlines():
        name, bitcode, recorded = line.split("\t")
        modules.append((name, pathlib.Path(bitcode), pathlib.Path(recorded)))
    try:
        assemble(modules, flags.output, flags.part)
    except RunError as error:
        print(f"assemble: {error}", file=sys.stderr)
        return error.exit_code
    return ExitCode.DONE


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
