"""The argument parser of commands whose flags are defined with argparse."""

import argparse


def command_parser(name: str, documentation: str) -> argparse.ArgumentParser:
    """A parser without abbreviated flags, whose --help starts with the command's docstring."""
    return argparse.ArgumentParser(
        prog=name, description=documentation, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )


def add_verbosity(parser: argparse.ArgumentParser) -> None:
    """Adds --verbosity as LLVM's mlgo-utils has it."""
    levels = ("DEBUG", "INFO", "WARNING", "ERROR")
    text = "DEBUG prints details; WARNING and ERROR print neither progress nor summary. Default: %(default)s"
    parser.add_argument("--verbosity", choices=levels, default="INFO", nargs="?", const="INFO", help=text)


def is_quiet(verbosity: str) -> bool:
    """Whether a command prints neither progress nor summary."""
    return verbosity in ("WARNING", "ERROR")
