"""Repeats published results with the command that computed them and compares them; with --update, writes them instead.

Arguments: COMMAND FOLDER FILES [--update] FLAGS...

COMMAND is the command's runfile, FOLDER the folder in this workspace. FILES are names of files that the command writes
to --output_dir, separated by commas. FLAGS are flags of the command, in which {PATH} stands for the runfile PATH.
FILE#KEY compares only the value of KEY in a JSON file, without times. FILE~KEY does so with a tolerance of 0.05 %:
event counts depend on where Valgrind and the program are loaded (Lua seeds its hashes with an address: 0.011 %).
"""

import json
import math
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from typing import Any

from mlgo.run import files, locate


def with_runfiles(flag: str) -> str:
    """`flag` with every {PATH} replaced."""
    return re.sub(r"\{([^}]+)\}", lambda found: str(locate.runfile(found[1])), flag)


def run(command: str, flags: Sequence[str], output: pathlib.Path) -> None:
    """Runs the command with --output_dir=`output`. If it fails, exits with its exit code."""
    done = subprocess.run([locate.runfile(command), *map(with_runfiles, flags), f"--output_dir={output}"], check=False)
    if done.returncode:
        sys.exit(done.returncode)


def differing(published: pathlib.Path, made: pathlib.Path, names: list[str]) -> list[str]:
    """Those of `names` whose contents differ between the folders."""
    return [
        name
        for name in names
        if not _same(_content(published, name), _content(made, name), 5e-4 if "~" in name else 0.0)
    ]


def file_and_key(name: str) -> tuple[str, str]:
    """("result.json", "size") of "result.json#size" and "result.json~size"; ("a.csv", "") of "a.csv"."""
    parts = re.split("[#~]", name, maxsplit=1)
    return parts[0], parts[1] if len(parts) > 1 else ""


def without_times(value: Any) -> Any:
    """A JSON value without the keys that end in "seconds"."""
    if isinstance(value, dict):
        return {key: without_times(each) for key, each in value.items() if not key.endswith("seconds")}
    return value


def _same(published: Any, made: Any, tolerance: float) -> bool:
    """Whether two JSON values or file contents are equal, numbers within a relative tolerance."""
    if isinstance(published, dict) and isinstance(made, dict):
        return published.keys() == made.keys() and all(_same(published[key], made[key], tolerance) for key in published)
    if isinstance(published, int | float) and isinstance(made, int | float):
        return math.isclose(published, made, rel_tol=tolerance)
    return published == made


def _content(folder: pathlib.Path, name: str) -> Any:
    name, key = file_and_key(name)
    if not (folder / name).is_file():
        return None
    content = (folder / name).read_bytes()
    return without_times(json.loads(content)[key]) if key else content


def main(arguments: list[str]) -> int:
    """Repeats the results, then compares or updates. Returns the exit code."""
    command, folder, listed, *flags = arguments
    names, update = listed.split(","), "--update" in flags
    with tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMPDIR")) as scratch:
        output = pathlib.Path(scratch) / "out"
        run(command, [flag for flag in flags if flag != "--update"], output)
        if update:
            target = pathlib.Path(os.environ["BUILD_WORKSPACE_DIRECTORY"]) / folder
            written = sorted(
                {file_and_key(name)[0] for name in names}
                | {path.name for path in target.glob("*") if (output / path.name).is_file()}
            )
            for name in written:
                files.write_atomically(target / name, (output / name).read_bytes())
            print(f"written: {', '.join(written)} in {folder}")
            return 0
        different = differing(locate.runfile(folder), output, names)
        kept = os.environ.get("TEST_UNDECLARED_OUTPUTS_DIR")
        if different and kept:
            shutil.copytree(output, pathlib.Path(kept) / "made", ignore=shutil.ignore_patterns("objects"))
    if different:
        print(
            f"{folder}: {', '.join(different)} differ from the command's output. "
            "Run the .update target beside this test and check git diff"
        )
        return 1
    print(f"{folder}: {', '.join(names)} equal the command's output")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
