"""One side of an evaluation: a corpus compiled under one policy, or under the default with other flags, scored and linked.

Below the side's folder lie, per module NAME, `modules/NAME.json` (outcomes.py) and, where it is to be linked, `objects/NAME.o`.
"""

import contextlib
import dataclasses
import itertools
import pathlib
import tempfile
from collections.abc import Mapping, Sequence
from typing import Any

from mlgo.compiler.request import CompileFailure
from mlgo.corpus.corpus import Corpus
from mlgo.evaluation import linked_code
from mlgo.run import files, progress
from mlgo.trace.outcomes import FailureLimit, ModuleRecord, Outcome, count_outcomes, read_record, write_record
from mlgo.trace.setup import CompileSetup
from mlgo.trace.trace import compile_modules, record_of

#: The side that the others are compared with.
DEFAULT = "default"


@dataclasses.dataclass(frozen=True)
class Side:
    """Who decides.

    Attributes:
      name: in tables, and of its folder.
      digest: of what decides: a policy's, "" where the compiler's heuristic does.
      flags: further cc1 flags.
    """

    name: str
    digest: str = ""
    flags: tuple[str, ...] = ()


def compile_side(
    folder: pathlib.Path,
    corpus: Corpus,
    setup: CompileSetup,
    side: Side,
    model_dir: pathlib.Path | None,
    title: str,
    keep_objects: bool,
) -> Mapping[str, Any]:
    """Compiles every module of `corpus` that has no record in `folder` yet.

    Args:
      model_dir: the TFLite policy that decides; None: the compiler's heuristic.
      keep_objects: whether objects will be linked.

    Returns: counts for the manifest.
    Raises: RunError: more modules failed than allowed.
    """
    setup = dataclasses.replace(setup, extra_flags=(*setup.extra_flags, *side.flags))
    failures = FailureLimit(title, len(corpus.modules), setup.max_failure_ratio)
    left = [module for module in corpus.modules if not _is_done(folder, module.name)]
    shown = progress.start(title, len(corpus.modules), "modules", done=len(corpus.modules) - len(left))
    outcomes = compile_modules(left, setup, itertools.repeat(model_dir), itertools.repeat(False))
    with contextlib.closing(outcomes):
        try:
            for module, outcome in outcomes:
                record = record_of(module, outcome, failures, setup.problem)
                if keep_objects and not isinstance(outcome, CompileFailure):
                    files.write_atomically(_object_path(folder, module.name), outcome.object_bytes)
                write_record(_record_path(folder, module.name), record)
                shown.advance(1, failures.describe() if failures.failed else "")
        finally:
            shown.close()
    return count_outcomes(records_of(folder, corpus).values())


def records_of(folder: pathlib.Path, corpus: Corpus) -> dict[str, ModuleRecord]:
    """What became of each module, by name."""
    return {module.name: read_record(_record_path(folder, module.name)) for module in corpus.modules}


def link_side(folder: pathlib.Path, linker: pathlib.Path, modules: Sequence[str], icf: bool) -> dict[str, int]:
    """Code bytes of each of `modules` in the image of them all, as the side in `folder` compiled them.

    Raises: RunError: they cannot be linked.
    """
    with tempfile.TemporaryDirectory(prefix="mlgo-link-") as work:
        objects = {name: _object_path(folder, name) for name in modules}
        return linked_code.link(linker, objects, pathlib.Path(work), icf)


def _is_done(folder: pathlib.Path, name: str) -> bool:
    path = _record_path(folder, name)
    return path.exists() and read_record(path).outcome is not Outcome.FAILED


def _record_path(folder: pathlib.Path, name: str) -> pathlib.Path:
    return folder / "modules" / f"{name}.json"


def _object_path(folder: pathlib.Path, name: str) -> pathlib.Path:
    return folder / "objects" / f"{name}.o"
