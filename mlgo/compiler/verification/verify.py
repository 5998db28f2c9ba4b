"""Compiles a moved corpus, compares with the original objects or with the corpus in its own folder, and reports."""

import collections
import contextlib
import dataclasses
import itertools
import json
import os
import pathlib
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from mlgo.compiler.executor import CountingExecutor, LocalExecutor, Outcomes, available_cores
from mlgo.compiler.request import CompileFailure, CompileLimits, CompileOutcome, CompileRequest
from mlgo.compiler.verification.comparison import Comparer, Difference, Reason
from mlgo.corpus.corpus import (
    BITCODE_SUFFIX,
    COMMAND_SUFFIX,
    DESCRIPTION_NAME,
    THINLTO_INDEX_SUFFIX,
    Corpus,
    CorpusError,
    Module,
)
from mlgo.run import progress
from mlgo.run.exit_codes import RunError
from mlgo.run.write_queue import read_ahead

_LIMITS = CompileLimits()
#: Differences that the text lists.
_SHOWN = 20
#: Comparisons that may wait.
_AHEAD = 64

#: The original object of a module, by the module's name; None: it is not there.
Originals = Callable[[str], bytes | None]


@dataclasses.dataclass(frozen=True)
class Verification:
    """The modules that are the same, and why the others are not; sorted by name."""

    same: tuple[str, ...]
    different: dict[str, Difference]

    @property
    def counts(self) -> dict[str, int]:
        """Modules by the reasons that there are, in their order."""
        found = collections.Counter(difference.reason for difference in self.different.values())
        return {reason.value: found[reason] for reason in Reason if found[reason]}


def verify(
    corpus: Corpus,
    clang: pathlib.Path,
    comparer: Comparer,
    originals: Originals | None = None,
    workers: int | None = None,
    shown: progress.Progress | None = None,
    limits: CompileLimits = _LIMITS,
) -> Verification:
    """Verifies every module of `corpus`.

    Args:
      corpus: the corpus in its own folder. A copy (as links) in a folder with another name is compiled: a dependency on
        the old folder changes the object, or is found in the commands.
      clang: compiles; no ML support is needed.
      originals: the objects to compare with; None: what the corpus gives where it lies.
      workers: compiles at a time; None: all cores.
      limits: of each compile. A module has four at most: here and in the copy, and each failure is repeated.

    Raises: RunError: the corpus cannot be linked, or clang or llvm-objcopy cannot be started.
    """
    shown = shown or progress.Silent()
    same: list[str] = []
    different = _refused(corpus)
    shown.advance(len(different))
    usable = [module for module in corpus.modules if module.name not in different]
    compiles = CountingExecutor(LocalExecutor(workers), progress.tell)

    def objects(modules: Iterable[Module]) -> Outcomes:
        return compiles.run_ordered(
            CompileRequest(clang, module, want_log=False, want_object=True, limits=limits) for module in modules
        )

    def difference(compiled: tuple[Module, CompileOutcome, CompileOutcome | None]) -> Difference | None:
        return _difference(*compiled, originals, comparer)

    def begun(module: Module) -> Module:
        shown.advance(0, f"{len(different)} different, at {module.name}")
        return module

    with moved(corpus) as copy:
        here = itertools.repeat(None) if originals is not None else objects(usable)
        there = objects(copy.select([module.name for module in usable]).modules)
        # Compiles run ahead in order; comparisons, one or two processes each, must not delay them.
        outcomes = zip(map(begun, usable), there, here)
        compared = read_ahead(difference, outcomes, workers or available_cores(), _AHEAD)
        for module, found in zip(usable, compared):
            if found is None:
                same.append(module.name)
            else:
                different[module.name] = found
            shown.advance()
    shown.advance(0, f"{len(different)} different")
    compiles.close()
    return Verification(tuple(same), dict(sorted(different.items())))


def _refused(corpus: Corpus) -> dict[str, Difference]:
    """The modules that no compile takes, by name, because of their commands."""
    found = {}
    for module in corpus.modules:
        try:
            refused = module.command.refused
        except RunError as error:
            if corpus.command_override is not None:
                raise  # It is the corpus's, not one module's.
            # Without the path, which is of this machine.
            subject = "its command" if isinstance(error, CorpusError) else error.subject
            found[module.name] = Difference(Reason.COMPILE_FAILED, f"{subject} {error.wrong}")
            continue
        if refused:
            why = f"refused: its command has {', '.join(refused)}, which may do more than change code"
            found[module.name] = _not_self_contained(module) or Difference(Reason.COMPILE_FAILED, why)
    return found


def _difference(
    module: Module,
    outcome: CompileOutcome,
    reference: CompileOutcome | None,
    originals: Originals | None,
    comparer: Comparer,
) -> Difference | None:
    """Args: reference: the module's compile in its own folder; None: `originals` has what to compare with."""
    if outside := _not_self_contained(module):
        return outside
    if isinstance(outcome, CompileFailure):
        return _failed(outcome)
    if isinstance(reference, CompileFailure):
        return _failed(reference)
    try:
        original = reference.made_object if reference is not None else None
        original = originals(module.name) if originals is not None else original
    except RunError as error:
        return Difference(Reason.MISSING_ORIGINAL, str(error))
    if original is None:
        wrong = "no object of this name, or several of local ThinLTO, are in --obj_base_dir"
        return Difference(Reason.MISSING_ORIGINAL, wrong)
    return comparer.difference(original, outcome.made_object)


def _failed(failure: CompileFailure) -> Difference:
    return Difference(Reason.COMPILE_FAILED, f"{failure.kind.value}: {failure.detail}")


def _not_self_contained(module: Module) -> Difference | None:
    outside = module.command.places_outside()
    return Difference(Reason.NOT_SELF_CONTAINED, f"its command says {outside[0]}") if outside else None


@contextlib.contextmanager
def moved(corpus: Corpus) -> Iterator[Corpus]:
    """The corpus in another folder, under another name, until the end of the block."""
    with tempfile.TemporaryDirectory(prefix="mlgo moved (a corpus) ") as directory:
        target = pathlib.Path(directory, "elsewhere")
        try:
            for name in _files_of(corpus):
                _link(corpus.path / name, target / name)
        except OSError as error:
            wrong = f"cannot be linked into {directory}: {error}"
            raise RunError(f"corpus {corpus.path}", wrong, "set TMPDIR") from error
        yield corpus.reopened(target)


def _files_of(corpus: Corpus) -> Iterator[str]:
    """The files of a corpus directory, and no others: links may lead anywhere, and in circles."""
    yield DESCRIPTION_NAME
    whole = Corpus.load(corpus.path)
    suffixes = (BITCODE_SUFFIX, COMMAND_SUFFIX, THINLTO_INDEX_SUFFIX)
    names = (f"{module.name}{suffix}" for module in whole.modules for suffix in suffixes)
    for name in (*names, *whole.carried_files):
        if os.path.lexists(corpus.path / name):
            yield name


def _link(source: pathlib.Path, target: pathlib.Path) -> None:
    """Makes `target` the same file as `source`. Corpora are large: nothing is copied."""
    target.parent.mkdir(parents=True, exist_ok=True)
    source = pathlib.Path(os.path.realpath(source))
    try:
        os.link(source, target)
    except OSError:  # Another file system, or one without hard links.
        os.symlink(source, target)


def report_json(corpus: Corpus, clang: pathlib.Path, found: Verification, with_originals: bool) -> dict[str, Any]:
    """The report. It depends neither on the machine nor on the corpus's folder.

    Args: with_originals: whether the original build's objects were compared.
    """
    try:
        digest = corpus.digest
    except CorpusError:  # A file of a module cannot be read, as the report says of that module.
        digest = None
    different = {name: {"reason": why.reason.value, "detail": why.detail} for name, why in found.different.items()}
    version = subprocess.run([clang, "--version"], capture_output=True, text=True, errors="replace", check=False)
    return {
        "clang": version.stdout.partition("\n")[0],
        "compared_with": "original objects" if with_originals else "the corpus where it lies",
        "corpus_digest": digest,
        "different": different,
        "reasons": found.counts,
        "same": list(found.same),
    }


def report_lines(found: Verification, with_originals: bool) -> Iterator[str]:
    """The first differences and a summary."""
    for name, why in list(found.different.items())[:_SHOWN]:
        yield f"{json.dumps(name, ensure_ascii=False)}: {why.reason.value}: {why.detail}"
    if len(found.different) > _SHOWN:
        yield f"and {len(found.different) - _SHOWN} more; --json=FILE has them all"
    total = len(found.same) + len(found.different)
    against = "the original objects" if with_originals else "themselves before the move"
    failed = ", ".join(f"{count} {reason}" for reason, count in found.counts.items())
    same = f"done {len(found.same)} of {total} the same as {against}"
    yield same + (f", different: {failed}" if failed else "")
