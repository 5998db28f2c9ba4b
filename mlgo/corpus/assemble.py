"""Puts compiled modules together as a corpus directory. Run by the rules in defs.bzl.

    assemble --output DIR [--part train|held_out] --label //my:corpus LIST

LIST has one line per source with fields separated by tabs: `module`, SOURCE, OWNER, BITCODE, COMMAND, FILE, LICENCE for
a compiled source (its path in its repository; repository, package and name of the target that compiles it, joined by
`/`; the .bc and the .cmd file; the source itself; the licence unless the source names one), and `skipped`, SOURCE,
OWNER, KIND for a source without bitcode.
"""

import argparse
import collections
import dataclasses
import pathlib
import sys
from collections.abc import Iterable, Sequence

from mlgo.corpus import command_check, corpus, properties, self_contained, split
from mlgo.corpus.command import NOT_OPTIMISED, CompileCommand
from mlgo.corpus.extraction import licences
from mlgo.corpus.extraction.outcome import Kind, Omission
from mlgo.corpus.extraction.report import Report
from mlgo.corpus.writer import CorpusWriter
from mlgo.run.exit_codes import ExitCode, RunError
from mlgo.run.printable import printable_message


@dataclasses.dataclass(frozen=True, order=True)
class Compiled:
    """A module as an action left it: a line of LIST."""

    source: str
    owner: str
    bitcode: pathlib.Path
    command: pathlib.Path
    file: pathlib.Path
    licence: str


@dataclasses.dataclass(frozen=True, order=True)
class Skipped:
    """A source without bitcode: `kind` says why, such as `assembly`."""

    source: str
    owner: str
    kind: str


def parse_list(text: str) -> tuple[list[Compiled], list[Skipped]]:
    """The two kinds of lines in LIST."""
    compiled, skipped = [], []
    for line in text.splitlines():
        what, source, owner, *rest = line.split("\t")
        if what == "skipped":
            skipped.append(Skipped(source, owner, *rest))
        else:
            bitcode, command, file = map(pathlib.Path, rest[:3])
            compiled.append(Compiled(source, owner, bitcode, command, file, *rest[3:]))
    return compiled, skipped


def names(modules: Iterable[Compiled]) -> list[tuple[str, Compiled]]:
    """Every module with its name, sorted: the source's name, with the target when several targets compile it."""
    modules = sorted(modules)
    compilers = collections.Counter(module.source for module in modules)
    return sorted(
        (module.source if compilers[module.source] == 1 else module.source + split.OWNER_MARK + module.owner, module)
        for module in modules
    )


def assemble(modules: Iterable[Compiled], skipped: Sequence[Skipped], output: pathlib.Path, part: str | None) -> Report:
    """Writes the corpus and its report; returns that. `part`: only modules of this part; None: all.
    Raises: RunError: a recorded command needs a place outside the corpus, no module is left, or none is optimised."""
    # By the source: what several targets make of one must not stand on both sides.
    chosen = [(name, module) for name, module in names(modules) if part is None or split.part_of(module.source) == part]
    if not chosen:
        where = f"in the part {part}" if part else "C or C++"
        raise RunError("the sources", f"none of them is {where}", "add sources", ExitCode.NOTHING_PRODUCED)
    unoptimised, found = [], {}
    with CorpusWriter(output, durable=False) as writer:
        for name, module in chosen:
            recorded = CompileCommand(corpus.split_command(module.command.read_bytes()))
            if recorded.level == NOT_OPTIMISED:
                unoptimised.append(name)
            try:
                portable = self_contained.self_contained_command(recorded, pathlib.Path.cwd(), writer.add_file)
            except RunError as error:
                raise RunError(f"command of module {name}: {error.subject}", error.wrong, error.remedy) from error
            bitcode = module.bitcode.read_bytes()
            found[name] = properties.of_module(recorded, bitcode, is_thinlto=False)
            licence = licences.of_source(str(module.file)) or module.licence
            # With its action, so that LLVM's and ml-compiler-opt's tools can run the command as it stands.
            writer.add(name, bitcode, ("-cc1", *portable, "-emit-obj"), licence=licence)
        if len(unoptimised) == len(chosen):
            remedy = "build with `-c opt`, give `level` in the rule, or pass --aspects_parameters=level=O2"
            raise RunError(f"all {len(chosen)} modules", "are compiled at -O0, where no policy is asked", remedy)
        omissions = [Omission(one.source, Kind.NO_BITCODE, f"{one.kind}, of {one.owner}") for one in set(skipped)]
        report = Report.of(writer.result(), omissions, found)
        writer.add_report({**report.to_json(), "unoptimised": unoptimised})
        writer.finish()
    return report


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=pathlib.Path, required=True, help="directory to fill")
    parser.add_argument("--part", choices=split.PARTS, help="only modules of this part (default: all)")
    parser.add_argument("--label", default="corpus", help="whose corpus it is, for messages")
    parser.add_argument("list", type=pathlib.Path, help="file with a line per source, see above")
    flags = parser.parse_args(arguments)
    try:
        modules, skipped = parse_list(flags.list.read_text(encoding="utf-8"))
        report = assemble(modules, skipped, flags.output, flags.part)
    except RunError as error:
        print(printable_message(f"{flags.label}: {error}"), file=sys.stderr)
        return error.exit_code
    said = [f"note: {line}" for line in properties.lines(report.properties, len(report.modules))]
    for note in (*command_check.notes(corpus.Corpus.load(flags.output)), *said):
        print(f"{flags.label}: {note}", file=sys.stderr)
    if lines := report.lines():
        left_out = [f"{flags.label}: {len(report.modules):,} modules; left out are", *lines]
        print(printable_message("\n".join(left_out)), file=sys.stderr)
    return ExitCode.DONE


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
