"""Compiles a moved corpus, compares with the original objects or with the corpus in its own folder, and reports."""

import collections
import concurrent.futures
import contextlib
import dataclasses
import json
import os
import pathlib
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from mlgo.compiler.executor import CountingExecutor, Executor, LocalExecutor, Outcomes, available_cores
from mlgo.compiler.request import CompileFailure, CompileLimits, CompileRequest, CompileResult
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

_LIMITS = CompileLimits()
#: Differences that the text lists.
_SHOWN = 20

#: The original object of a module, by the module's name; None: it is not there.
Originals = Callable[[str], bytes | None]


@dataclasses.dataclass(frozen=True)
class Verification:
    """The modules that are the same, and why the others are not; sorted by name."""

    same: tuple[str, ...]
    different: dict[str, Difference]

    def count(self, reason: Reason) -> int:
        return sum(difference.reason == reason for difference in self.different.values())


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
    found = _Found([], _refused(corpus))
    shown.advance(len(found.different))
    usable = [module for module in corpus.modules if module.name not in found.different]
    compiles = CountingExecutor(LocalExecutor(workers), progress.tell)
    with moved(corpus) as copy:
        moved_modules = [module for module in copy.modules if module.name not in found.different]
        here = None if originals is not None else _objects(usable, clang, limits, compiles)
        there = _objects(moved_modules, clang, limits, compiles)
        with concurrent.futures.ThreadPoolExecutor(workers or available_cores()) as pool:
            # Compiles run ahead in order; comparisons, one or two processes each, must not delay them.
            waiting: collections.deque[tuple[str, concurrent.futures.Future]] = collections.deque()
            for module in usable:
                shown.advance(0, f"{found.note()}, at {module.name}")
                outcome = next(there)
                reference = next(here) if here is not None else None
                answer = pool.submit(_difference, module, outcome, reference, originals, comparer)
                waiting.append((module.name, answer))
                while len(waiting) > 64:
                    _settle(*waiting.popleft(), found, shown)
            while waiting:
                _settle(*waiting.popleft(), found, shown)
    shown.advance(0, found.note())
    compiles.close()
    return found.result()


@dataclasses.dataclass
class _Found:
    """What a verification has found so far; fields as of Verification."""

    same: list[str]
    different: dict[str, Difference]

    def add(self, name: str, difference: Difference | None) -> None:
        if difference is None:
            self.same.append(name)
        else:
            self.different[name] = difference

    def note(self) -> str:
        """A remark for the progress."""
        return f"{len(self.different)} different"

    def result(self) -> Verification:
        return Verification(tuple(self.same), dict(sorted(self.different.items())))


def _refused(corpus: Corpus) -> dict[str, Difference]:
    """The modules that no compile takes, by name, because of their commands."""
    found = {}
    for module in corpus.modules:
        try:
            recorded = module.command
            refused = recorded.refused
        except RunError as error:
            if corpus.command_override is not None:
                raise  # It is the corpus's, not one module's.
            # Without the path, which is of this machine.
            subject = "its command" if isinstance(error, CorpusError) else error.subject
            found[module.name] = Difference(Reason.COMPILE_FAILED, f"{subject} {error.wrong}")
            continue
        if not refused:
            continue
        if outside := recorded.places_outside():
            found[module.name] = Difference(Reason.NOT_SELF_CONTAINED, f"its command says {outside[0]}")
        else:
            why = f"refused: its command has {', '.join(refused)}, which may do more than change code"
            found[module.name] = Difference(Reason.COMPILE_FAILED, why)
    return found


def _settle(name: str, answer, found: _Found, shown: progress.Progress) -> None:
    found.add(name, answer.result())
    shown.advance()


def _objects(modules: Sequence[Module], clang: pathlib.Path, limits: CompileLimits, compiles: Executor) -> Outcomes:
    requests = (CompileRequest(clang, module, want_log=False, want_object=True, limits=limits) for module in modules)
    return compiles.run_ordered(requests)


def _difference(
    module: Module,
    outcome: CompileResult | CompileFailure,
    reference: CompileResult | CompileFailure | None,
    originals: Originals | None,
    comparer: Comparer,
) -> Difference | None:
    """Args: reference: the module's compile in its own folder; None: `originals` has what to compare with."""
    if outside := module.command.places_outside():
        return Difference(Reason.NOT_SELF_CONTAINED, f"its command says {outside[0]}")
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
        return Difference(
            Reason.MISSING_ORIGINAL, "no object of this name, or several of local ThinLTO, are in --obj_base_dir"
        )
    return comparer.difference(original, outcome.made_object)


def _failed(failure: CompileFailure) -> Difference:
    return Difference(Reason.COMPILE_FAILED, f"{failure.kind.value}: {failure.detail}")


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
    version = subprocess.run([clang, "--version"], capture_output=True, text=True, errors="replace", check=False)
    return {
        "clang": version.stdout.partition("\n")[0],
        "compared_with": "original objects" if with_originals else "the corpus where it lies",
        "corpus_digest": _digest(corpus),
        "different": {
            name: {"reason": why.reason.value, "detail": why.detail} for name, why in found.different.items()
        },
        "reasons": _counts(found),
        "same": list(found.same),
    }


def _digest(corpus: Corpus) -> str | None:
    """None: a file of a module cannot be read, as the report says of that module."""
    try:
        return corpus.digest
    except CorpusError:
        return None


def report_lines(found: Verification, with_originals: bool) -> Iterator[str]:
    """The first differences and a summary."""
    for name, why in list(found.different.items())[:_SHOWN]:
        yield f"{json.dumps(name, ensure_ascii=False)}: {why.reason.value}: {why.detail}"
    if len(found.different) > _SHOWN:
        yield f"and {len(found.different) - _SHOWN} more; --json=FILE has them all"
    total = len(found.same) + len(found.different)
    against = "the original objects" if with_originals else "themselves before the move"
    failed = ", ".join(f"{count} {reason}" for reason, count in _counts(found).items())
    same = f"done {len(found.same)} of {total} the same as {against}"
    yield same + (f", different: {failed}" if failed else "")


def _counts(found: Verification) -> dict[str, int]:
    return {reason.value: found.count(reason) for reason in Reason if found.count(reason)}
