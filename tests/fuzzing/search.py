"""Searches for inputs that a parser does not handle, and runs those that were found before.

A target is a function from bytes and the errors it may raise. An input is handled if the function returns or raises one
of these, executes a limited number of lines and stays below a limit of memory. Inputs that reach new code are kept for
further mutation.

    ./bazelw test //tests/fuzzing:all                             # the corpora and some thousand mutations
    ./bazelw run //tests/fuzzing:elf_fuzz -- --minutes=60         # what it finds goes to tests/fuzzing/corpus/elf
"""

import argparse
import dataclasses
import hashlib
import os
import pathlib
import random
import resource
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence

from tests.fuzzing.mutation import mutated
from tests.fuzzing.steps import StepCounter, TooManySteps

#: Above what the process has when the search begins.
_MEMORY_BYTES = 1 << 30
#: Runs that making one input smaller may take.
_MINIMISING_RUNS = 2000
#: How often the search reports, in inputs.
_REPORT_INTERVAL = 10_000


@dataclasses.dataclass(frozen=True)
class Target:
    """A parser to be searched.

    Attributes:
      run: parses the bytes; raises AssertionError if a property does not hold.
      errors: what it may raise besides.
      seeds: makes valid inputs, in addition to the files of the corpus.
      words: what the format is written with.
      examples: mutations that `bazel test` tries.
      max_bytes: largest input.
      max_steps: lines of Python that one input may execute.
    """

    run: Callable[[bytes], object]
    errors: tuple[type[Exception], ...]
    seeds: Callable[[], Sequence[bytes]] = tuple
    words: Sequence[bytes] = ()
    examples: int = 1000
    max_bytes: int = 1 << 14
    max_steps: int = 500_000


@dataclasses.dataclass(frozen=True)
class Finding:
    """An input that is not handled.

    Attributes:
      content: the input.
      signature: kind of the error and the line it came from; equal for inputs with one cause.
      trace: the traceback.
    """

    content: bytes
    signature: str
    trace: str


class Search:
    """Runs inputs of one target."""

    def __init__(self, target: Target, seed: int = 1):
        self._target = target
        self._random = random.Random(seed)
        self._steps = StepCounter(("/mlgo/", "/debian/", "/fuzzing/"), target.max_steps)
        self._pool: list[bytes] = []

    def check(self, content: bytes) -> Finding | None:
        """Runs one input; None: it is handled."""
        try:
            self._steps.run(self._target.run, content)
        except self._target.errors:
            return None
        except (Exception, TooManySteps) as error:  # pylint: disable=broad-exception-caught
            return Finding(content, _signature(error), "".join(traceback.format_exception(error)))
        return None

    def known(self, contents: Sequence[bytes]) -> Iterator[Finding]:
        """Runs `contents`, from which `mutations` then makes others. Yields those that are not handled."""
        for content in contents:
            if (finding := self.check(content)) is not None:
                yield finding
            else:
                self._steps.found_new()
            self._pool.append(content)

    def mutations(self) -> Iterator[Finding | None]:
        """Runs one new input per step, without end."""
        while True:
            content = mutated(self._pool, self._target.words, self._random, self._target.max_bytes)
            finding = self.check(content)
            if finding is None and self._steps.found_new():
                self._pool.append(content)
            yield finding

    def minimised(self, finding: Finding) -> Finding:
        """The same finding with fewer bytes."""
        smallest, runs = finding, 0
        size = max(len(finding.content) // 2, 1)
        while size and runs < _MINIMISING_RUNS:
            start = 0
            while start < len(smallest.content) and runs < _MINIMISING_RUNS:
                shorter = self.check(smallest.content[:start] + smallest.content[start + size :])
                runs += 1
                if shorter is not None and shorter.signature == finding.signature:
                    smallest = shorter
                else:
                    start += size
            size //= 2
        return smallest

    @property
    def reached(self) -> int:
        """A measure of how much code was reached."""
        return len(self._steps.seen)


def _signature(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    # Where an endless loop is interrupted is chance.
    inner = (
        ""
        if isinstance(error, TooManySteps)
        else f" at {pathlib.PurePath(frames[-1].filename).name}:{frames[-1].lineno}"
    )
    return f"{type(error).__name__}{inner}"


def main(target: Target) -> None:
    """The program of a target; ends the process."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", required=True, help="folder of inputs, relative to the workspace")
    parser.add_argument("--minutes", type=float, help="searches for so long and stores what is found in --corpus")
    parser.add_argument("--seed", type=int, default=1, help="of the random source (default: 1)")
    flags = parser.parse_args()
    _limit_memory()
    folder = pathlib.Path(os.environ.get("BUILD_WORKSPACE_DIRECTORY", "."), flags.corpus)
    contents = [*target.seeds(), *(path.read_bytes() for path in sorted(folder.glob("*")))]
    assert contents, f"{folder} holds no input, and the target makes none"
    search = Search(target, flags.seed)
    if flags.minutes is None:
        raise SystemExit(_test(search, contents, target.examples))
    raise SystemExit(_search(search, contents, folder, flags.minutes))


def _limit_memory() -> None:
    with open("/proc/self/statm", encoding="ascii") as file:
        used = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + _MEMORY_BYTES, used + _MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _test(search: Search, contents: Sequence[bytes], examples: int) -> int:
    """Runs the corpus and `examples` mutations; returns the exit code."""
    found = next(search.known(contents), None)
    tried = len(contents)
    for finding in search.mutations() if found is None else ():
        tried += 1
        if (found := finding) is not None or tried >= len(contents) + examples:
            break
    if found is None:
        print(f"{tried} inputs, all handled; {search.reached} pairs of lines reached")
        return 0
    smallest = search.minimised(found)
    print(f"{smallest.trace}\nnot handled: {smallest.signature}, for the input {smallest.content!r}", file=sys.stderr)
    return 1


def _search(search: Search, contents: Sequence[bytes], folder: pathlib.Path, minutes: float) -> int:
    """Runs the corpus, then mutations for `minutes`; stores one input per signature. Returns the exit code."""
    end = time.monotonic() + 60.0 * minutes
    signatures: set[str] = set()
    for tried, finding in enumerate(_all(search, contents), 1):
        if finding is not None and finding.signature not in signatures:
            signatures.add(finding.signature)
            _store(search.minimised(finding), folder)
        if tried % _REPORT_INTERVAL == 0:
            print(f"{tried} inputs, {search.reached} pairs of lines reached, {len(signatures)} findings", flush=True)
        if time.monotonic() > end:
            break
    print(f"done: {tried} inputs, {search.reached} pairs of lines reached, {len(signatures)} findings")
    return 1 if signatures else 0


def _all(search: Search, contents: Sequence[bytes]) -> Iterator[Finding | None]:
    yield from search.known(contents)
    yield from search.mutations()


def _store(finding: Finding, folder: pathlib.Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / hashlib.sha256(finding.content).hexdigest()[:12]
    path.write_bytes(finding.content)
    print(f"{finding.trace}\nnot handled: {finding.signature}, for the input in {path}", flush=True)
