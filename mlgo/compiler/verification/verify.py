"""Compiles a moved corpus, and compares with the original objects or with the corpus in its own folder."""

import collections
import concurrent.futures
import contextlib
import dataclasses
import os
import pathlib
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence

from mlgo.compiler import executor
from mlgo.compiler.repeats import Repeats
from mlgo.compiler.request import CompileFailure, CompileRequest, CompileResult
from mlgo.compiler.verification.comparison import Comparer, Difference, Reason
from mlgo.compiler.verification.likely import with_likely_reason
from mlgo.corpus import command, self_contained
from mlgo.corpus.corpus import Corpus, Module
from mlgo.run import progress
from mlgo.run.exit_codes import RunError

#: The original object of a module, by the module's name; None: it is not there.
Originals = Callable[[str], bytes | None]


@dataclasses.dataclass(frozen=True)
class Verification:
    """The modules that are the same, and why the others are not; sorted by name.

    Attributes:
      same: names of modules whose objects are the same.
      different: the others.
      local_names: of those in `same`, the ones in whose objects only local names differ, and which.
    """

    same: tuple[str, ...]
    different: dict[str, Difference]
    local_names: dict[str, Difference] = dataclasses.field(default_factory=dict)

    def count(self, reason: Reason) -> int:
        return sum(difference.reason == reason for difference in self.different.values())


def verify(
    corpus: Corpus,
    clang: pathlib.Path,
    comparer: Comparer,
    originals: Originals | None = None,
    workers: int | None = None,
    shown: progress.Progress | None = None,
) -> Verification:
    """Verifies every module of `corpus`.

    Args:
      corpus: the corpus in its own folder. A copy (as links) in a folder with another name is compiled: a dependency on
        the old folder changes the object, or is found in the commands.
      clang: compiles; no ML support is needed.
      comparer: says whether two objects are the same.
      originals: the objects to compare with; None: what the corpus gives where it lies.
      workers: compiles at a time; None: all cores.
      shown: advanced once per module.

    Raises: RunError: the corpus cannot be linked, or clang or llvm-objcopy cannot be started.
    """
    shown = shown or progress.Silent()
    found = _Found([], _refused(corpus), {})
    shown.advance(len(found.different))
    usable = [module for module in corpus.modules if module.name not in found.different]
    repeats = Repeats()
    with moved(corpus) as copy:
        moved_modules = [module for module in copy.modules if module.name not in found.different]
        here = None if originals is not None else _objects(usable, clang, workers, repeats)
        there = _objects(moved_modules, clang, workers, repeats)
        with concurrent.futures.ThreadPoolExecutor(workers or executor.available_cores()) as pool:
            # Compiles run ahead in order; comparisons, one or two processes each, must not delay them.
            waiting: collections.deque = collections.deque()
            for module, outcome in zip(usable, there):
                reference = next(here) if here is not None else None
                waiting.append((module.name, pool.submit(_difference, module, outcome, reference, originals, comparer)))
                while len(waiting) > 64:
                    _settle(*waiting.popleft(), found, shown)
            while waiting:
                _settle(*waiting.popleft(), found, shown)
    if (line := repeats.describe()) is not None:
        progress.tell(line)
    return found.result()


@dataclasses.dataclass
class _Found:
    """What a verification has found so far; fields as of Verification."""

    same: list[str]
    different: dict[str, Difference]
    local_names: dict[str, Difference]

    def add(self, name: str, difference: Difference | None) -> None:
        if difference is not None and difference.reason is not Reason.LOCAL_NAMES:
            self.different[name] = difference
            return
        self.same.append(name)
        if difference is not None:
            self.local_names[name] = difference

    def result(self) -> Verification:
        return Verification(
            tuple(self.same), *(dict(sorted(each.items())) for each in (self.different, self.local_names))
        )


def _refused(corpus: Corpus) -> dict[str, Difference]:
    """The modules that no compile takes, by name, because of options in their commands."""
    found = {}
    for module in corpus.modules:
        if not (refused := command.refused_options(module.command, module.allowed_options)):
            continue
        if outside := self_contained.outside(module.command):
            found[module.name] = Difference(Reason.NOT_SELF_CONTAINED, f"its command says {outside[0]}")
        else:
            why = f"refused: its command has {', '.join(refused)}, which may do more than change code"
            found[module.name] = Difference(Reason.COMPILE_FAILED, why)
    return found


def _settle(name: str, answer, found: _Found, shown: progress.Progress) -> None:
    found.add(name, answer.result())
    shown.advance(note=f"{len(found.different)} different" if found.different else "")


def _objects(
    modules: Sequence[Module], clang: pathlib.Path, workers: int | None, repeats: Repeats
) -> Iterator[CompileResult | CompileFailure]:
    requests = (CompileRequest(clang, module, want_log=False, want_object=True) for module in modules)
    return executor.run_ordered(requests, workers, repeats.add)


def _difference(
    module: Module,
    outcome: CompileResult | CompileFailure,
    reference: CompileResult | CompileFailure | None,
    originals: Originals | None,
    comparer: Comparer,
) -> Difference | None:
    if outside := self_contained.outside(module.command):
        return Difference(Reason.NOT_SELF_CONTAINED, f"its command says {outside[0]}")
    for made in (outcome, reference):
        if isinstance(made, CompileFailure):
            return Difference(Reason.COMPILE_FAILED, f"{made.kind.value}: {made.detail}")
    original = originals(module.name) if originals is not None else reference.object_bytes
    if original is None:
        return Difference(
            Reason.MISSING_ORIGINAL, "no object of this name, or several of local ThinLTO, are in --obj_base_dir"
        )
    difference = comparer.difference(original, outcome.object_bytes)
    return difference if originals is None else with_likely_reason(difference, original, module, comparer.embedded)


@contextlib.contextmanager
def moved(corpus: Corpus) -> Iterator[Corpus]:
    """The corpus in another folder, under another name, until the end of the block."""
    with tempfile.TemporaryDirectory(prefix="mlgo moved (a corpus) ") as directory:
        target = pathlib.Path(directory, "elsewhere" + "".join(corpus.path.suffixes))
        try:
            if corpus.path.is_dir():
                shutil.copytree(corpus.path, target, copy_function=_link)
            else:
                _link(corpus.path, target)
        except (OSError, shutil.Error) as error:
            raise RunError(
                f"corpus {corpus.path}", f"cannot be linked into {directory}: {error}", "set TMPDIR"
            ) from error
        yield corpus.reopened(target)


def _link(source: str | os.PathLike[str], target: str | os.PathLike[str]) -> None:
    """Makes `target` the same file as `source`. Corpora are large: nothing is copied."""
    source = os.path.realpath(source)
    try:
        os.link(source, target)
    except OSError:  # Another file system, or one without hard links.
        os.symlink(source, target)
