"""Makes a corpus from what a build left behind: the same flags and names as LLVM's mlgo-utils, nothing edited by hand.

Compile with `-Xclang -fembed-bitcode=all`; the objects then carry their bitcode and their command. Say which objects:

    cmake -G Ninja -DCMAKE_EXPORT_COMPILE_COMMANDS=ON -DCMAKE_C_FLAGS="-Xclang -fembed-bitcode=all" \\
          -DCMAKE_CXX_FLAGS="-Xclang -fembed-bitcode=all" -S . -B build && ninja -C build
    ./bazelw run //mlgo:extract_ir -- --input=build/compile_commands.json --output_dir=corpus

    ... --input=app.params --input_type=params --obj_base_dir=build          the words of a link command, or one object per line
    ... --input=build --input_type=directory                                 every *.o below build
    ... --input=aquery.json --input_type=bazel_aquery --obj_base_dir=.       bazel aquery --output=jsonproto --include_param_files
                                                                             'deps(//your:target)' > aquery.json

ThinLTO, distributed (back ends compiled with -mllvm -lto-embed-bitcode=post-merge-pre-opt): add --thinlto_build=distributed.
ThinLTO within lld (linked with -Wl,--save-temps=import -Wl,--thinlto-emit-index-files): the link tells how its modules compile.

    ... --thinlto_build=local --obj_base_dir=build --ninja_dir=build --target=bin/app
    ... --thinlto_build=local --obj_base_dir=build --link_command="clang++ -O2 -flto=thin -fuse-ld=lld a.o -o app"

Written are corpus_description.json (last), NAME.bc and NAME.cmd per module, corpus_licences.json, files/ (profiles that commands
read) and extraction_report.json (what became of every object that gave no module). NAME is the object's path as the build
states it. Commands hold no path of this machine: the corpus may be moved. Nothing is written outside --output_dir. The
same command continues an interrupted extraction. Relative paths count from where you type.

Exit codes: 0 done, 2 a flag or input is not usable, 10 no module, 11 more failures than --max_failures, 130 interrupted.
"""

import argparse
import os
import pathlib
import re
import sys
from collections.abc import Sequence

from mlgo.corpus.description import UNKNOWN_LICENCE, UNSPECIFIED_OVERRIDE
from mlgo.corpus.extraction import (
    archive_members,
    bazel_aquery,
    build_directory,
    compile_commands,
    engine,
    licences,
    linker_params,
    modules,
    naming,
    objcopy,
    object_file,
)
from mlgo.corpus.extraction.listing import Listing
from mlgo.corpus.extraction.report import Report, printable
from mlgo.corpus.thinlto import find_link, link_command
from mlgo.corpus.writer import CorpusWriter
from mlgo.run import locate, progress
from mlgo.run.exit import RESUMABLE, exit_code_of
from mlgo.run.exit_codes import ExitCode, RunError

LOCAL, DISTRIBUTED = "local", "distributed"
_INPUT_TYPES = ("json", "params", "directory", "bazel_aquery")
_MISSPELT_AQUERY = "bazel_aqeury"  # LLVM's document has it.


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="extract_ir", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    add = parser.add_argument
    add("--input", help="compile_commands.json, linker parameter file, folder of objects, or aquery output")
    add(
        "--input_type",
        choices=(*_INPUT_TYPES, _MISSPELT_AQUERY),
        default="json",
        nargs="?",
        const="json",
        help="what --input is; default: json",
    )
    add(
        "--output_dir",
        help="folder of the corpus: absent, empty, or a corpus to replace. Default: out/corpus in the workspace",
    )
    add("--num_workers", type=int, nargs="?", help="objects read at a time; default: one per core. Changes no result")
    add(
        "--llvm_objcopy_path",
        nargs="?",
        help="read sections with this llvm-objcopy; default: directly, which is faster",
    )
    add(
        "--obj_base_dir",
        nargs="?",
        help="folder that object paths count from; default: where you type (json: each entry's `directory`)",
    )
    add(
        "--cmd_filter",
        nargs="?",
        help="keep modules with a recorded argument in which this regular expression is found: ^-Oz$ keeps those built for size",
    )
    add(
        "--thinlto_build",
        choices=(DISTRIBUTED, LOCAL),
        nargs="?",
        help="the build used ThinLTO, distributed by a build system or within lld",
    )
    add(
        "--cmd_section_name", nargs="?", help="section with the command; default: .llvmcmd, for Mach-O __LLVM,__cmdline"
    )
    add(
        "--bitcode_section_name",
        nargs="?",
        help="section with the bitcode; default: .llvmbc, for Mach-O __LLVM,__bitcode",
    )
    add("--link_command", help="--thinlto_build=local: the command that linked, in quotes; it ran in --obj_base_dir")
    add(
        "--ninja_dir", help="--thinlto_build=local: build folder of ninja, which knows the command that linked --target"
    )
    add("--target", help="what --ninja_dir linked, as ninja calls it: bin/app")
    add(
        "--max_failures",
        type=int,
        help="objects that may fail (missing, unreadable, ...; not: without bitcode). Default: any number",
    )
    add(
        "--licence",
        default=UNKNOWN_LICENCE,
        help="SPDX identifier for modules whose source states none. Default: %(default)s",
    )
    add(
        "--verbosity",
        choices=("DEBUG", "INFO", "WARNING", "ERROR"),
        default="INFO",
        nargs="?",
        const="INFO",
        help="DEBUG names every object that gave no module, WARNING and ERROR leave progress and summary out",
    )
    return parser


def _check(flags: argparse.Namespace) -> None:
    """Raises: RunError: flags do not go together."""
    if flags.num_workers is not None and flags.num_workers < 1:
        raise RunError(f"--num_workers={flags.num_workers}", "is below 1", "Leave it out for one per core")
    if flags.max_failures is not None and flags.max_failures < 0:
        raise RunError(f"--max_failures={flags.max_failures}", "is negative", "Leave it out to allow any number")
    if not licences.is_expression(flags.licence):
        raise RunError(
            f"--licence={flags.licence}", "is no SPDX expression", "Give one such as MIT (https://spdx.org/licenses)"
        )
    for_link = {"--link_command": flags.link_command, "--ninja_dir": flags.ninja_dir, "--target": flags.target}
    given = [name for name, value in for_link.items() if value]
    if flags.thinlto_build != LOCAL:
        if given:
            raise RunError(given[0], "is for --thinlto_build=local only", "Add that, or leave it out")
        if not flags.input:
            raise RunError("--input", "is missing", "Give it, or --thinlto_build=local with --obj_base_dir. See --help")
        return
    if bool(flags.ninja_dir) != bool(flags.target) or (flags.link_command and flags.ninja_dir):
        raise RunError(
            ", ".join(given), "do not tell which link is meant", "Give --link_command, or --ninja_dir with --target"
        )
    if flags.cmd_filter:
        raise RunError(
            "--cmd_filter", "cannot be used with --thinlto_build=local", "lld records no commands: leave it out"
        )
    if flags.input and flags.input_type not in ("directory", "bazel_aquery"):
        raise RunError(
            f"--input={flags.input}",
            "cannot be used with --thinlto_build=local",
            "Give --obj_base_dir: lld left the modules there",
        )


def _base(flags: argparse.Namespace) -> str:
    if flags.thinlto_build == LOCAL and flags.input and flags.input_type == "directory":
        return str(locate.user_path(flags.input))
    return str(locate.user_path(flags.obj_base_dir or "."))


def _listing(flags: argparse.Namespace, base: str) -> Listing:
    if flags.thinlto_build == LOCAL:
        return build_directory.load_local_thinlto(base)
    path = locate.user_path(flags.input)
    if flags.input_type == "json":
        listing = compile_commands.load(path)
    elif flags.input_type == "params":
        listing = linker_params.load(path, base)
    elif flags.input_type == "directory":
        listing = build_directory.load(str(path))
    else:
        listing = bazel_aquery.load(path, base)
    return archive_members.expanded(listing)


def _section_names(flags: argparse.Namespace) -> object_file.SectionNames | None:
    if not flags.cmd_section_name and not flags.bitcode_section_name:
        return None
    default = object_file.DEFAULT_NAMES
    return object_file.SectionNames(
        flags.bitcode_section_name or default.bitcode, flags.cmd_section_name or default.command
    )


def _module_reader(flags: argparse.Namespace, writer: CorpusWriter) -> modules.ModuleReader:
    if flags.thinlto_build == LOCAL:
        return modules.local_thinlto_module
    names = _section_names(flags)
    if flags.llvm_objcopy_path:
        # A bare name is looked for in PATH.
        tool = flags.llvm_objcopy_path
        read_sections = objcopy.reader(str(locate.user_path(tool)) if "/" in tool else tool, names)
    else:
        read_sections = object_file.reader(names)
    return modules.EmbeddedModules(
        read_sections, writer.add_file, _filter(flags.cmd_filter), flags.thinlto_build == DISTRIBUTED
    )


def _filter(expression: str | None) -> re.Pattern[str] | None:
    try:
        return re.compile(expression) if expression else None
    except re.error as error:
        raise RunError(f"--cmd_filter={expression}", f"is no regular expression: {error}", "Correct it") from error


def _link(flags: argparse.Namespace, base: str) -> tuple[tuple[str, ...], pathlib.Path] | None:
    """The command that linked a local ThinLTO build and where it ran; None: the flags do not tell."""
    if flags.link_command:
        return (flags.link_command,), pathlib.Path(base)
    if flags.ninja_dir:
        return find_link.ninja_link(locate.user_path(flags.ninja_dir), flags.target)
    if flags.input and flags.input_type == "bazel_aquery":
        actions = bazel_aquery.read_actions(locate.user_path(flags.input))
        return find_link.aquery_link({"actions": actions}), pathlib.Path(base)
    return None


def _warn(text: str) -> None:
    print(f"extract_ir: warning: {text}", file=sys.stderr)


def _set_override(flags: argparse.Namespace, base: str, writer: CorpusWriter) -> list[str]:
    """Gives a local ThinLTO corpus its command; returns how objects made with it will differ from the link's."""
    link = _link(flags, base)
    if link is None:
        _warn(
            "global_command_override is <UNSPECIFIED>: nothing tells how lld compiled these modules. Give --link_command, or"
            " --ninja_dir and --target, or edit corpus_description.json before use"
        )
        return []
    override = link_command.link_override(*link, writer.add_file)
    for difference in override.differences:
        _warn(difference)
    writer.override_commands(override.command)
    return list(override.differences)


def extract(flags: argparse.Namespace) -> Report:
    """Does what the flags say. Raises: RunError: it cannot be done, or nothing came of it."""
    _check(flags)
    base = _base(flags)
    # Names count from the base only where a path leads out of its own folder: elsewhere they are mlgo-utils'.
    listing = _listing(flags, base)
    named, unnamed = naming.named(listing.objects, base if flags.obj_base_dir else None)
    omissions = [*listing.omissions, *unnamed]
    local = flags.thinlto_build == LOCAL
    directory = locate.output_directory(flags.output_dir, "corpus")
    with CorpusWriter(directory, flags.thinlto_build is not None, UNSPECIFIED_OVERRIDE if local else None) as writer:
        read = _module_reader(flags, writer)
        differences = _set_override(flags, base, writer) if local else []
        quiet = flags.verbosity in ("WARNING", "ERROR")
        bar = progress.Silent() if quiet else progress.start("extract", len(named), "objects")
        try:
            workers = flags.num_workers or len(os.sched_getaffinity(0))
            report = engine.extract(writer, named, read, omissions, flags.licence, workers, bar)
        finally:
            bar.close()
        writer.add_report({**report.to_json(), "override_differences": differences})
        if not quiet:
            _tell(report, flags.verbosity == "DEBUG")
        report.check(flags.max_failures)
        writer.finish()
    if not quiet:
        print(_closing_line(report, directory), file=sys.stderr)
    return report


def _tell(report: Report, everything: bool) -> None:
    for line in report.lines():
        print(line, file=sys.stderr)
    for omission in report.omissions if everything else ():
        print(f"  {printable(omission.name)}: {omission.kind.word}: {omission.reason}", file=sys.stderr)


def _closing_line(report: Report, directory: pathlib.Path) -> str:
    failed = ""
    if report.failures:
        first = report.failures[0]
        failed = f", {len(report.failures):,} failed (first: {printable(first.name)}: {first.reason})"
    return f"extract_ir: done, {len(report.modules):,} modules of {report.objects:,} objects{failed} -> {directory}"


def parsed(arguments: Sequence[str]) -> argparse.Namespace:
    """Flags for `extract`."""
    return _parser().parse_args(arguments)


def main(arguments: list[str]) -> int:
    """Runs the command; returns its exit code."""

    def work() -> int:
        extract(parsed(arguments))
        return ExitCode.DONE

    return exit_code_of(work, RESUMABLE)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
