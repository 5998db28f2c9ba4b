"""Command-line arguments that the programs of this folder share."""

import argparse
import pathlib


def tool_parser(description: str) -> argparse.ArgumentParser:
    """A parser with the flag --output."""
    result = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter, fromfile_prefix_chars="@"
    )
    result.add_argument("--output", type=pathlib.Path, required=True, help="file or directory to write")
    return result


def pair(text: str) -> tuple[str, str]:
    """(name, value) of "NAME=VALUE"."""
    name, _, value = text.partition("=")
    if not name or not value:
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=VALUE")
    return name, value
