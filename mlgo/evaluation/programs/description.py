"""The file that describes a program: a JSON object, whose fields the README lists."""

import pathlib
from typing import Any

from mlgo.run import files
from mlgo.run.exit_codes import RunError

REMEDY = "See mlgo/evaluation/programs/README.md for the fields"


def read_description(path: pathlib.Path) -> dict[str, Any]:
    """The JSON object in the description `path`. Raises: RunError: the file is no JSON object."""
    content = files.read_json(path, "description of a program", REMEDY)
    if not isinstance(content, dict):
        raise RunError(f"program {path}", "is not a JSON object", REMEDY)
    return content
