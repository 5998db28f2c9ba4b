"""The argument parser of commands whose flags are defined with argparse."""

import argparse


def command_parser(name: str, documentation: str) -> argparse.ArgumentParser:
    """A parser without abbreviated flags, whose --help starts with the command's docstring."""
    return argparse.ArgumentParser(
        prog=name, description=documentation, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )


#: Help of --compile_cpu_seconds, of all commands that compile modules of a corpus.
COMPILE_CPU_SECONDS = "CPU seconds that one compile may use. A module that needs more fails."


def add_compile_limit(parser: argparse.ArgumentParser, default: int) -> None:
    """Adds --compile_cpu_seconds. Args: default: CompileLimits.cpu_seconds."""
    text = f"{COMPILE_CPU_SECONDS} Default: %(default)s"
    parser.add_argument("--compile_cpu_seconds", type=_positive, default=default, metavar="SECONDS", help=text)


def _positive(text: str) -> int:
    """The whole number `text`. Raises: ValueError: it is below 1; argparse then names the flag."""
    if (value := int(text)) < 1:
        raise ValueError
    return value


def add_verbosity(parser: argparse.ArgumentParser) -> None:
    """Adds --verbosity as LLVM's mlgo-utils has it."""
    levels = ("DEBUG", "INFO", "WARNING", "ERROR")
    text = "DEBUG prints details; WARNING and ERROR print neither progress nor summary. Default: %(default)s"
    parser.add_argument("--verbosity", choices=levels, default="INFO", nargs="?", const="INFO", help=text)


def is_quiet(verbosity: str) -> bool:
    """Whether a command prints neither progress nor summary."""
    return verbosity in ("WARNING", "ERROR")
