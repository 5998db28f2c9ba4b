"""The likely reason why an object of a corpus is not the original one, read from what clang embedded in that."""

import dataclasses
from collections.abc import Sequence

from mlgo.compiler.verification.comparison import FORGOTTEN, Difference, Reason
from mlgo.corpus import elf, properties
from mlgo.corpus.command import CommandError, CompileCommand
from mlgo.corpus.corpus import Module, split_command
from mlgo.corpus.elf import ElfError, ElfFile

# Each writes its value, a path or the command itself, into the object.
_LEAVES_TEXT = frozenset(
    "-coverage-data-file= -coverage-notes-file= -dwarf-debug-flags -record-command-line -split-dwarf-file".split()
)
# These passes write the name of the compiled file into the object; the corpus compiles a copy of another name.
_NAMES_THE_FILE = (properties.SANITIZED, properties.INSTRUMENTED)
_DEBUG = (".debug_", ".rela.debug_", ".rel.debug_")


def with_likely_reason(
    difference: Difference | None, original: bytes, module: Module, embedded: Sequence[str]
) -> Difference | None:
    """`difference` with the likely reason for differing sections or missing symbols, if one is known.

    Args: original: the object of the build. embedded: names of its sections with the bitcode and with the command.
    """
    if difference is None or difference.reason not in (Reason.SECTIONS_DIFFER, Reason.USED_FORGOTTEN):
        return difference
    if not (reason := _reason(original, module, *embedded)):
        return _with_reason_of_sections(difference)
    found = difference.detail.partition(f"; {FORGOTTEN}")[0]
    return Difference(Reason.SECTIONS_DIFFER, f"{found}; {reason}")


def _reason(original: bytes, module: Module, bitcode_section: str, command_section: str) -> str:
    """What the build's object and command show; "": nothing."""
    bitcode, recorded = (_section(original, name) for name in (bitcode_section, command_section))
    if bitcode is not None and bitcode != module.read_bitcode():
        return (
            "the original was compiled again since the extraction: it embeds other bitcode (another source, __DATE__ or"
            " __TIME__). Extract again"
        )
    if recorded is None:
        return ""
    try:
        of_build = CompileCommand(split_command(recorded))
        build, corpus = properties.of_command(of_build), properties.of_command(module.command)
        lost = _dropped(of_build)
    except CommandError:
        return ""
    lost += [said for kind, said in build.items() if kind not in corpus and said not in lost]
    if lost:
        return f"probably {', '.join(lost)} of the build's command, which a corpus does not keep"
    named = [build[kind] for kind in _NAMES_THE_FILE if kind in build]
    return f"probably {named[0]}, which puts the name of the compiled file into the object" if named else ""


def _with_reason_of_sections(difference: Difference) -> Difference:
    names = [name.removeprefix("+") for name in difference.detail.split(", ")]
    if not all(name.startswith(_DEBUG) for name in names):
        return difference
    said = f"{difference.detail}; only debug information differs, such as its paths; code and data are the same"
    return dataclasses.replace(difference, detail=said)


def _dropped(recorded: CompileCommand) -> list[str]:
    """Options of the build's command that leave something in the object, and that corpora do not keep."""
    return list(dict.fromkeys(option.name for option in recorded.options if option.name in _LEAVES_TEXT))


def _section(content: bytes, name: str) -> bytes | None:
    """The first section of this name in an ELF object; None: there is none."""
    try:
        file = ElfFile.of_bytes(content)
        names = file.section_names()
        return next((file.content(each) for each in file.sections if elf.string_at(names, each.name) == name), None)
    except ElfError:
        return None
