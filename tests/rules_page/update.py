"""Writes docs/rules.md into the workspace that `bazel run` was called in."""

import os
import pathlib

from tests.rules_page import page


def main() -> None:
    root = pathlib.Path(os.environ["BUILD_WORKSPACE_DIRECTORY"])
    (root / page.PAGE).write_text(page.page(root), encoding="utf-8")


if __name__ == "__main__":
    main()
