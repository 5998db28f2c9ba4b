"""Makes published numbers again by the command that made them, and compares byte by byte; with --update writes them into the workspace instead.

Arguments: COMMAND FOLDER FILES [--update] FLAGS...: the command's runfile; the folder in this workspace, and the names, separated by
commas, of the files in it which the command writes to --output_dir; the command's flags, in which {PATH} is the runfile PATH. FILE#KEY is
only what stands under KEY in a JSON file, without times, which are never the same twice; FILE~KEY the same with numbers that may differ by
0.05 %: where Valgrind and a program lie changes what is counted (Lua seeds its hashes by an address: 0.011 %).
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
from typing import Any

from mlgo.run import files, locate


def with_runfiles(flag: str) -> str:
    """`flag` with every {PATH} replaced."""
    return re.sub(r"\{([^}]+)\}", lambda found: str(locate.runfile(found[1])), flag)


def run(command: str, flags: list[str], output: pathlib.Path) -> None:
    """Runs the command into `output`; its own exit code ends this program when it fails."""
    done = subprocess.run([locate.runfile(command), *map(with_runfiles, flags), f"--output_dir={output}"], check=False)
    if done.returncode:
        sys.exit(done.returncode)


def differing(published: pathlib.Path, made: pathlib.Path, names: list[str]) -> list[str]:
    """Of `names` those of which the folders do not hold the same."""
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
    """JSON without what is under keys that end in "seconds"."""
    if isinstance(value, dict):
        return {key: without_times(each) for key, each in value.items() if not key.endswith("seconds")}
    return value


def _same(published: Any, made: Any, tolerance: float) -> bool:
    """Whether two JSON values, or contents of files, are alike; numbers up to a part of their size."""
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
    """Makes, then compares or updates; returns the exit code."""
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
            f"{folder}: {', '.join(different)} differ from what the command gives now. `bazel run` the .update target beside this test, and look at git diff"
        )
        return 1
    print(f"{folder}: {', '.join(names)}: what the command gives")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
