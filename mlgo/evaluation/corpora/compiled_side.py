"""A corpus compiled on one side of an evaluation.

Files in the side's folder, for each module NAME: `modules/NAME.json` (mlgo/trace/outcomes.py), `code/NAME.json` (bytes
of each function) and, if objects are linked, `objects/NAME.o`.
"""

import dataclasses
import pathlib
import tempfile
from collections.abc import Mapping, Sequence
from typing import Any

from mlgo.compiler.executor import LocalExecutor
from mlgo.compiler.request import CompileFailure, CompileResult
from mlgo.corpus.corpus import Corpus, Module
from mlgo.evaluation.corpora import linked_code
from mlgo.evaluation.sides import Side
from mlgo.run import files
from mlgo.run.json_fields import Fields
from mlgo.trace.outcomes import ModuleRecord
from mlgo.trace.setup import CompileSetup
from mlgo.trace.trace import DecisionsGiven, compile_corpus


def compile_side(
    folder: pathlib.Path,
    corpus: Corpus,
    setup: CompileSetup,
    side: Side,
    model_dir: pathlib.Path | None,
    title: str,
    keep_objects: bool,
    given: DecisionsGiven = lambda module: None,
) -> Mapping[str, Any]:
    """Compiles every module of `corpus` that has no record in `folder` yet; returns counts for the manifest.

    Args: model_dir: TFLite policy; None: the compiler's heuristic; given: decisions of a module, which take precedence.
    Raises: RunError: more modules failed than allowed.
    """
    setup = dataclasses.replace(setup, extra_flags=(*setup.extra_flags, *side.flags), wants_objects=True)
    if side.clang != setup.clang:  # It compiles on this machine.
        setup = dataclasses.replace(setup, clang=side.clang, executor=LocalExecutor(setup.workers))

    def keep(module: Module, outcome: CompileResult | CompileFailure, _: ModuleRecord) -> None:
        if isinstance(outcome, CompileFailure):
            return
        sizes = {function.name: function.size for function in outcome.code.functions}
        files.write_json_atomically(_code_path(folder, module.name), sizes)
        if keep_objects:
            assert outcome.object_bytes is not None  # `wants_objects` sees to it.
            files.write_atomically(object_path(folder, module.name), outcome.object_bytes)

    return compile_corpus(folder, corpus, setup, title, model_dir, False, keep, given)


def code_of_side(folder: pathlib.Path, modules: Sequence[str]) -> dict[str, dict[str, int]]:
    """Module -> function -> bytes, for the side in `folder`. Raises: RunError: a file is missing or damaged."""
    return {name: read_sizes(_code_path(folder, name), "function sizes") for name in modules}


def read_sizes(path: pathlib.Path, what: str) -> dict[str, int]:
    """Name -> bytes, in a file of an evaluation. Args: what: it holds, for messages. Raises: RunError."""
    remedy = "Delete the folder and run again"
    return Fields(files.read_json(path, what, remedy), f"{what} ({path})", remedy).integers_by_name()


def link_side(folder: pathlib.Path, linker: pathlib.Path, modules: Sequence[str], icf: bool) -> dict[str, int]:
    """Code bytes of each of `modules` in their linked image, for the side in `folder`. Raises: RunError."""
    with tempfile.TemporaryDirectory(prefix="mlgo-link-") as work:
        objects = {name: object_path(folder, name) for name in modules}
        return linked_code.link(linker, objects, pathlib.Path(work), icf)


def _code_path(folder: pathlib.Path, name: str) -> pathlib.Path:
    return folder / "code" / f"{name}.json"


def object_path(folder: pathlib.Path, name: str) -> pathlib.Path:
    return folder / "objects" / f"{name}.o"
