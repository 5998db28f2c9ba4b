"""Recorded cc1 commands made into commands that need nothing outside the corpus.

What code generation reads from a file, profiles above all, is carried into the corpus and named relative to it; what is
only written is dropped; anything else that still names a place of this machine is an error, because the corpus would
compile to other bytes elsewhere, or not at all.
"""

import dataclasses
import os
import pathlib
from collections.abc import Callable, Iterable

from mlgo.corpus.command import THINLTO_INDEX, CompileCommand, paths_in
from mlgo.corpus.options import clang_rules, llvm_rules
from mlgo.corpus.options.parsing import LLVM, GivenOption
from mlgo.corpus.options.verdict import Verdict, judge
from mlgo.run.exit_codes import RunError

# What makes a back end of ThinLTO embed the bitcode that can be compiled again without the modules imported from.
_EMBED_AFTER_IMPORTING = "-lto-embed-bitcode=post-merge-pre-opt"


def self_contained_command(
    recorded: CompileCommand,
    working_directory: pathlib.Path,
    add_file: Callable[[pathlib.Path], str],
    module_name: str | None = None,
) -> tuple[str, ...]:
    """The code generation options of `recorded`, with every file they need carried into the corpus.

    Args:
      working_directory: where that clang ran; its relative paths count from there.
      add_file: carries a file into the corpus and returns the relative path ("files/...") that names it there.
      module_name: for a module of a distributed ThinLTO build: the name under which the corpus keeps its index. A
        command that names one then ends with `-fthinlto-index=<module_name>.thinlto.bc`.

    Returns: options without `-cc1`, input, output and action, as `CompileCommand.portable` has them. Options that
      are refused stay: whoever compiles the corpus may allow them.

    Raises: RunError: a file that is needed does not exist, an option that no rule knows names a place of this machine,
      or ThinLTO's back end embedded other bitcode.
    """
    kept: list[str] = []
    for recorded_option in recorded.options:
        if recorded_option.llvm in llvm_rules.WRITES:
            continue
        option = _with_carried_file(recorded_option, working_directory, add_file)
        verdict = judge(option)
        if verdict is Verdict.REFUSED and _names_place(option, working_directory):
            # A word that no table knows may be the value of the one before.
            before = [] if option.words[0].startswith("-") else kept[-1:]
            wrong = "names a place that exists on this machine only, and nothing is known about it"
            remedy = "build without that option, or add it to the rules of mlgo/corpus/options"
            raise RunError(f"recorded option {' '.join([*before, *option.words])}", wrong, remedy)
        if verdict is not Verdict.DROPPED:
            kept += option.words
    if module_name is not None and recorded.names_thinlto_index:
        if not {_EMBED_AFTER_IMPORTING, f"-{_EMBED_AFTER_IMPORTING}"}.intersection(recorded):
            wrong = "embedded the bitcode from before ThinLTO imported into it, or after it was optimised"
            remedy = "compile the back ends with -mllvm -lto-embed-bitcode=post-merge-pre-opt, not with -fembed-bitcode"
            raise RunError("the recorded command", wrong, remedy)
        kept.append(f"{THINLTO_INDEX}{module_name}.thinlto.bc")
    return tuple(kept)


def _with_carried_file(
    option: GivenOption, working_directory: pathlib.Path, add_file: Callable[[pathlib.Path], str]
) -> GivenOption:
    """`option` with the file that it reads carried into the corpus; as it is, if it reads none."""
    if (name := option.llvm) in llvm_rules.READS:
        if option.value is None:
            raise RunError(f"recorded option {option.name}", "lacks its value", "extract the module's command again")
        carried = _carried(option.name, option.value, working_directory, add_file)
        return dataclasses.replace(option, words=(LLVM, f"-{name}={carried}"), value=carried)
    before = clang_rules.READS.get(option.name)
    if before is None or not option.value or not option.value.startswith(before):
        return option
    path = option.value.removeprefix(before)
    value = before + _carried(option.words[0], path, working_directory, add_file)
    return dataclasses.replace(option, words=(option.name + value,), value=value)


def _names_place(option: GivenOption, working_directory: pathlib.Path) -> bool:
    """Whether the option names a place of this machine: an absolute path, or for LLVM one that exists."""
    if paths_in(option.words):
        return True
    value = None if option.llvm is None else option.value
    # Not `Path.exists`, which raises for a name that is too long.
    return bool(value and "/" in value and os.path.exists(working_directory / value))


def _carried(option: str, path: str, working_directory: pathlib.Path, add_file: Callable[[pathlib.Path], str]) -> str:
    source = working_directory / path
    # Not `source.is_file()`, which raises for a name that is too long.
    if not os.path.isfile(source):
        remedy = "extract where the build ran, while its profiles and lists are still there"
        raise RunError(f"recorded option {option}", f"names the file {source}, which does not exist", remedy)
    return add_file(source)


class FileOutside(RunError):
    """A file lies outside of the build."""


class FileRoots:
    """The folders whose files may become a part of the corpus; those that are links stand for what they lead to."""

    def __init__(self, folders: Iterable[str | os.PathLike[str]]):
        self._roots = tuple(dict.fromkeys(pathlib.Path(os.path.realpath(folder)) for folder in folders))

    def check(self, path: str | os.PathLike[str]) -> None:
        """Raises: FileOutside: `path`, all links on the way resolved, lies in none of the folders."""
        # `realpath` and not `resolve`, which raises where links form a circle.
        place = pathlib.Path(os.path.realpath(path))
        if any(place.is_relative_to(root) for root in self._roots):
            return
        leads = "" if str(place) == os.fspath(path) else f" (it is {place})"
        # In the clause, and not only in the remedy: reports of single objects keep the clause.
        wrong = f"lies outside of the build{leads}; --allow_file_root={place.parent} allows it"
        build = "build without the option that names it"
        remedy = f"Give that flag if the file may be published with the corpus, or {build}"
        raise FileOutside(f"file {os.fspath(path)}", wrong, remedy)

    def guarded(self, add_file: Callable[[pathlib.Path], str]) -> Callable[[pathlib.Path], str]:
        """`add_file`, which carries a file into the corpus, for files in these folders only."""

        def add(path: pathlib.Path) -> str:
            self.check(path)
            return add_file(path)

        return add


def roots_of_build(folders: Iterable[str | os.PathLike[str]]) -> FileRoots:
    """The folders of a build, and what Bazel's link `bazel-out` in them leads to: there lies what actions wrote."""
    given = [pathlib.Path(folder) for folder in folders]
    return FileRoots([*given, *(folder / "bazel-out" for folder in given)])
