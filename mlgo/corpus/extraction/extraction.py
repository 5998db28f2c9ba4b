"""Extracts a corpus from the files that a build left behind."""

import contextlib
import dataclasses
import os
import pathlib
import re
from collections.abc import Iterable, Sequence

from mlgo.corpus import command_check, level, properties
from mlgo.corpus.contained_files import NameRefused
from mlgo.corpus.corpus import Corpus
from mlgo.corpus.description import UNKNOWN_LICENCE, UNSPECIFIED_OVERRIDE
from mlgo.corpus.extraction import bazel_aquery, inputs, licences, modules, object_file
from mlgo.corpus.extraction.inputs import BuildObject, Listing
from mlgo.corpus.extraction.modules import ModuleContent, ModuleReader
from mlgo.corpus.extraction.outcome import Kind, LeftOut, Omission
from mlgo.corpus.extraction.report import Report
from mlgo.corpus.self_contained import FileRoots, roots_of_build
from mlgo.corpus.thinlto import link_command
from mlgo.corpus.writer import CorpusWriter
from mlgo.run import progress
from mlgo.run.exit_codes import RunError
from mlgo.run.printable import printable
from mlgo.run.progress import Progress
from mlgo.run.write_queue import read_ahead

INPUT_TYPES = ("json", "params", "directory", "bazel_aquery")
#: Kinds of ThinLTO builds.
LOCAL, DISTRIBUTED = "local", "distributed"

#: Modules read ahead of the one being written, per worker. Limits memory.
_READ_AHEAD = 4


@dataclasses.dataclass(frozen=True)
class Extraction:
    """Which corpus to extract. Each other attribute is the flag of //mlgo:extract_ir with its name.

    Raises: RunError: the values exclude each other, or one of them is out of range."""

    output_dir: pathlib.Path
    #: Folder that object paths are relative to without `obj_base_dir`.
    working_directory: pathlib.Path = pathlib.Path("/")
    input: pathlib.Path | None = None
    input_type: str = "json"
    workers: int | None = None
    llvm_objcopy_path: str | None = None
    obj_base_dir: pathlib.Path | None = None
    cmd_filter: str | None = None
    thinlto_build: str | None = None
    cmd_section_name: str | None = None
    bitcode_section_name: str | None = None
    link_command: str | None = None
    ninja_dir: pathlib.Path | None = None
    target: str | None = None
    max_failures: int | None = None
    licence: str = UNKNOWN_LICENCE
    verbosity: str = "INFO"
    allow_file_root: tuple[pathlib.Path, ...] = ()

    def __post_init__(self):
        if self.workers is not None and self.workers < 1:
            raise RunError(f"--workers={self.workers}", "is below 1", "Leave it out for one per core")
        if self.max_failures is not None and self.max_failures < 0:
            raise RunError(f"--max_failures={self.max_failures}", "is negative", "Leave it out to allow any number")
        if not licences.is_expression(self.licence):
            remedy = "Give one such as MIT (https://spdx.org/licenses)"
            raise RunError(f"--licence={self.licence}", "is no SPDX expression", remedy)
        link_flags = [f"--{name}" for name in ("link_command", "ninja_dir", "target") if getattr(self, name)]
        if not self.is_local and link_flags:
            raise RunError(link_flags[0], "is for --thinlto_build=local only", "Add that flag, or remove this one")
        if not self.is_local and self.input is None:
            raise RunError("--input", "is missing", "Give it, or --thinlto_build=local with --obj_base_dir. See --help")
        if bool(self.ninja_dir) != bool(self.target) or (self.link_command and self.ninja_dir):
            remedy = "Give --link_command, or --ninja_dir with --target"
            raise RunError(", ".join(link_flags), "do not identify one link", remedy)
        wrong = "cannot be used with --thinlto_build=local"
        if self.is_local and self.cmd_filter:
            raise RunError("--cmd_filter", wrong, "Remove it: lld records no commands")
        if self.is_local and self.input and self.input_type not in ("directory", "bazel_aquery"):
            remedy = "Give --obj_base_dir, the folder in which lld saved the modules"
            raise RunError(f"--input={self.input}", wrong, remedy)

    @property
    def is_local(self) -> bool:
        """Whether the modules come from a ThinLTO link within lld."""
        return self.thinlto_build == LOCAL

    @property
    def base(self) -> str:
        """Folder that object paths are relative to."""
        if self.is_local and self.input and self.input_type == "directory":
            return str(self.input)
        return str(self.obj_base_dir or self.working_directory)

    @property
    def file_roots(self) -> FileRoots:
        """Where files must lie that a command names: below the build's folders or those that the user allows."""
        of_input = self.input and (self.input if self.input_type == "directory" else self.input.parent)
        folders = [folder for folder in (pathlib.Path(self.base), of_input, self.ninja_dir) if folder]
        return roots_of_build([*folders, *self.allow_file_root])


def extract(extraction: Extraction) -> Report:
    """Writes the corpus. Raises: RunError: an input is not usable, or no module was extracted."""
    override = UNSPECIFIED_OVERRIDE if extraction.is_local else None
    # Before anything is read: of two commands with one --output_dir, the later one stops.
    with CorpusWriter(extraction.output_dir, extraction.thinlto_build is not None, override) as writer:
        listing = _listing(extraction)
        # Names are relative to the base only where a path leads out of its own folder: elsewhere they are mlgo-utils'.
        named, unnamed = inputs.named(listing.objects, extraction.base if extraction.obj_base_dir else None)
        read = _module_reader(extraction, writer)
        differences = _set_override(extraction, writer) if extraction.is_local else []
        quiet = extraction.verbosity in ("WARNING", "ERROR")
        workers = extraction.workers or len(os.sched_getaffinity(0))
        omissions = [*listing.omissions, *unnamed]
        bar = progress.Silent() if quiet else progress.start("extract", len(named), "objects")
        with contextlib.closing(bar):
            report = add_modules(writer, named, read, omissions, extraction.licence, workers, bar)
        writer.add_report({**report.to_json(), "override_differences": differences})
        for line in report.lines() if not quiet else ():
            progress.tell(line)
        for omission in report.omissions if extraction.verbosity == "DEBUG" else ():
            progress.tell(f"  {printable(omission.name)}: {omission.kind.word}: {omission.reason}")
        report.check(extraction.max_failures)
        writer.finish()
    if not quiet:
        made = Corpus.load(extraction.output_dir)
        found = properties.of_corpus(made, of_bitcode=False) if extraction.is_local else report.properties
        said = [f"note: {line}" for line in properties.lines(found, len(report.modules))]
        for note in (*command_check.notes(made), *said, *level.notes(made)):
            progress.tell(note)
        failed = ""
        if report.failures:
            first = report.failures[0]
            failed = f", {len(report.failures):,} failed (first: {printable(first.name)}: {first.reason})"
        done = f"done, {len(report.modules):,} modules of {report.objects:,} objects{failed}"
        progress.tell(f"extract_ir: {done} -> {extraction.output_dir}")
    return report


def _listing(extraction: Extraction) -> Listing:
    base, path = extraction.base, extraction.input
    if extraction.is_local or path is None:
        return inputs.from_local_thinlto(base)
    if extraction.input_type == "json":
        listing = inputs.from_compile_commands(path)
    elif extraction.input_type == "params":
        listing = inputs.from_linker_params(path, base)
    elif extraction.input_type == "directory":
        listing = inputs.from_directory(str(path))
    else:
        listing = bazel_aquery.load(path, base)
    return inputs.with_members(listing)


def _module_reader(extraction: Extraction, writer: CorpusWriter) -> modules.ModuleReader:
    if extraction.is_local:
        return modules.local_thinlto_module
    given = {"bitcode": extraction.bitcode_section_name, "command": extraction.cmd_section_name}
    names = object_file.SectionNames(**{section: name for section, name in given.items() if name})
    read_sections = object_file.section_reader(names, extraction.llvm_objcopy_path)
    expression = extraction.cmd_filter
    try:
        command_filter = re.compile(expression) if expression else None
    except re.error as error:
        raise RunError(f"--cmd_filter={expression}", f"is no regular expression: {error}", "Correct it") from error
    distributed = extraction.thinlto_build == DISTRIBUTED
    return modules.EmbeddedModules(read_sections, writer.add_file, extraction.file_roots, command_filter, distributed)


def _link(extraction: Extraction) -> tuple[tuple[str, ...], pathlib.Path] | None:
    """The command of a local ThinLTO link and the folder it ran in; None: no flag identifies a link."""
    base = pathlib.Path(extraction.base)
    if extraction.link_command:
        return (extraction.link_command,), base
    if extraction.ninja_dir and extraction.target:
        return link_command.ninja_link(extraction.ninja_dir, extraction.target)
    if extraction.input and extraction.input_type == "bazel_aquery":
        return bazel_aquery.last_link(bazel_aquery.read_actions(extraction.input), extraction.base), base
    return None


def _set_override(extraction: Extraction, writer: CorpusWriter) -> list[str]:
    """Gives a local ThinLTO corpus its command; returns how objects made with it differ from the link's."""
    link = _link(extraction)
    if link is None:
        progress.tell(
            "extract_ir: warning: global_command_override is <UNSPECIFIED>: no flag identifies the link of these"
            " modules. Give --link_command, or --ninja_dir and --target, or edit corpus_description.json before use"
        )
        return []
    command, differences = link_command.link_override(*link, extraction.file_roots.guarded(writer.add_file))
    for difference in differences:
        progress.tell(f"extract_ir: warning: {difference}")
    writer.override_commands(command)
    return list(differences)


def add_modules(
    writer: CorpusWriter,
    objects: Sequence[tuple[str, BuildObject]],
    read: ModuleReader,
    omissions: Iterable[Omission],
    licence: str,
    workers: int,
    progress: Progress,
) -> Report:
    """Adds the module of every object to `writer`, which is left unfinished.

    Args:
      objects: names and objects, sorted by name, so that collisions do not depend on timing.
      licence: SPDX expression of modules whose source states none.
      workers: objects read at a time.
    """
    left_out = list(omissions)
    properties = {}

    def read_one(named: tuple[str, BuildObject]) -> ModuleContent | LeftOut:
        try:
            return read(*named)
        except LeftOut as error:
            return error

    # Threads: the work is reading, and hashing that lets go of the interpreter.
    for (name, found), content in zip(objects, read_ahead(read_one, objects, workers, workers * _READ_AHEAD)):
        if isinstance(content, LeftOut):
            left_out.append(Omission(name, content.kind, content.reason))
        else:
            stated = licences.of_source(found.source) if found.source else None
            # mlgo-utils reads no archives: a member must not replace a module that mlgo-utils would extract.
            rank = 0 if found.member is None else 1
            try:
                writer.add(name, content.bitcode, content.command, content.thinlto_index, stated or licence, rank)
                properties[name] = content.properties
            except NameRefused as error:
                left_out.append(Omission(name, Kind.NAME_TAKEN, error.wrong))
        progress.advance()
    return Report.of(writer.result(), left_out, properties)
