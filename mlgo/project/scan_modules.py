#!/usr/bin/env python3
"""Stands for clang-scan-deps while `mlgo` runs a build: tells CMake which C++20 modules a source provides and requires.

    clang-scan-deps -format=p1689 -- clang++ -std=c++20 -c a.cpp -o a.o -MT a.ddi -MD -MF a.d

Preprocesses the source with that command, which also writes the dependency file, reads the lines of `module` and
`import`, and prints JSON as in https://wg21.link/p1689r5. Exit code: the preprocessor's.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

_LINE = re.compile(
    r"[ \t]*(?P<export>export[ \t]+)?(?P<kind>module|import)[ \t]+"
    r"(?P<name>[\w.]+(?:[ \t]*:[ \t]*[\w.]+)?|:[ \t]*[\w.]+)[ \t]*(?:\[\[.*\]\][ \t]*)?;",
    re.ASCII,
)


def main(arguments: Sequence[str]) -> int:
    """Args: of the command line, without the program's name."""
    if "--" not in arguments:
        print("error: clang-scan-deps of mlgo: has no command. Write it behind --", file=sys.stderr)
        return 2
    command = list(arguments[arguments.index("--") + 1 :])
    output = command[command.index("-o") + 1] if "-o" in command[:-1] else None
    kept = [word for before, word in zip(["", *command], command) if word not in ("-c", "-o") and before != "-o"]
    done = subprocess.run([*kept, "-E"], stdout=subprocess.PIPE, check=False)
    if done.returncode:
        return done.returncode
    place = command.index("-c") if "-c" in command else 0
    source = command[place - 1] if place > 1 else None  # CMake has it before -c.
    print(json.dumps(rules(done.stdout.decode("utf-8", "replace"), output, source), indent=1))
    return 0


def rules(text: str, output: str | None, source: str | None) -> dict[str, Any]:
    """What p1689 says of a preprocessed source. Args: output: the object. source: path of the source."""
    own = ""
    provided: list[dict[str, Any]] = []
    required: dict[str, None] = {}
    for line in text.splitlines():
        match = _LINE.match(line)
        if match is None:
            continue
        name = re.sub(r"\s", "", match["name"])
        if match["kind"] == "import":
            required[own.partition(":")[0] + name if name.startswith(":") else name] = None
        elif not name.startswith(":"):  # `module :private;` is a part of the source itself.
            own = name
            if match["export"] or ":" in name:
                entry: dict[str, Any] = {"is-interface": bool(match["export"]), "logical-name": name}
                provided = [{**entry, "source-path": os.path.abspath(source)} if source else entry]
            else:
                required[name] = None
    rule: dict[str, Any] = {"requires": [{"logical-name": name} for name in required]}
    if output is not None:
        rule["primary-output"] = output
    if provided:
        rule["provides"] = provided
    return {"revision": 0, "rules": [rule], "version": 1}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
