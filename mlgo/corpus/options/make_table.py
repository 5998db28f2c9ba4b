"""Writes the table of a compiler's options: what cc1, LLVM's own command line and the driver know, with the kinds of
values.

./bazelw run //mlgo/corpus/options:table.update
"""

import argparse
import json
import os
import pathlib
import sys
from collections.abc import Iterable, Mapping
from typing import Any

from mlgo.corpus.options.clang_table import read_clang_table, read_driver_table
from mlgo.corpus.options.llvm_table import read_llvm_table, read_major
from mlgo.run.exit_codes import ExitCode, RunError


def make_table(clang: pathlib.Path, headers: Iterable[pathlib.Path]) -> str:
    """The table as JSON, with one option a line, sorted, so that a new pin of LLVM shows which options changed.

    Args:
      clang: the packaged clang.
      headers: folders, one of which has clang's headers.

    Raises: RunError: the table of clang's options is not in the headers, or a table cannot be read.
    """
    path = _options_inc(headers)
    text = path.read_text("utf-8")
    tables: dict[str, Mapping[str, Any]] = {
        "cc1": read_clang_table(text, str(path)),
        "driver": read_driver_table(text),
        "llvm": read_llvm_table(clang),
    }
    parts = [f'"major": {read_major(clang)}', *(f'"{name}": {_lines(table)}' for name, table in tables.items())]
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _lines(table: Mapping[str, Any]) -> str:
    return "{\n" + ",\n".join(f"{json.dumps(option)}: {json.dumps(table[option])}" for option in sorted(table)) + "\n}"


def _options_inc(headers: Iterable[pathlib.Path]) -> pathlib.Path:
    # LLVM 22 moved it.
    places = [folder / "clang" / part / "Options.inc" for folder in headers for part in ("Options", "Driver")]
    if (found := next((place for place in places if place.exists()), None)) is None:
        raise RunError("clang's headers", "have no Options.inc", "give the folder include of the packages")
    return found


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--major", required=True, help="of LLVM")
    parser.add_argument("clang", type=pathlib.Path, help="clang of the packages")
    parser.add_argument("headers", type=pathlib.Path, nargs="+", help="folders of headers")
    flags = parser.parse_args(arguments)
    folder = pathlib.Path(os.environ.get("BUILD_WORKSPACE_DIRECTORY", ""), "mlgo", "corpus", "options")
    try:
        (folder / f"llvm{flags.major}.json").write_text(make_table(flags.clang, flags.headers), "utf-8")
    except RunError as error:
        print(f"make_table: {error}", file=sys.stderr)
        return error.exit_code
    return ExitCode.DONE


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
