"""Writes the part of an inventory (@debian_inventory//:inventory.json) for some repositories.

The output changes only when one of these repositories changes.

    inventory_part INVENTORY.json OUTPUT.json REPOSITORY...

An error gives exit code 1 and one line on standard error.
"""

import json
import pathlib
import sys
from typing import List


def part(inventory: dict, names: List[str]) -> dict:
    """Repositories of these names. Raises: KeyError: one is not there."""
    return {name: inventory["repositories"][name] for name in sorted(names)}


def main(arguments: List[str]) -> int:
    source, target, *names = arguments
    try:
        found = part(json.loads(pathlib.Path(source).read_text(encoding="utf-8")), names)
    except KeyError as error:
        print(
            f"{source}: has no repository {error.args[0]}; add it to MODULE.bazel or correct its name", file=sys.stderr
        )
        return 1
    pathlib.Path(target).write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
