"""A corpus whose modules are already optimised, so that compiling one only generates code.

Every candidate policy decides after the optimiser has run. Optimising once makes each later compile about four times
cheaper (LLVM's SimplifyCFG.cpp at -O2: 6.9 CPU s in full, 1.8 from here). It changes no byte of object or log, as a
test checks: the bitcode keeps the order of use lists (`-emit-llvm-uselists`). Without it, two of four modules differed.
"""

import pathlib
import tempfile
from collections.abc import Mapping
from typing import Any

from mlgo.compiler.request import CompileFailure, CompileRequest, CompileResult
from mlgo.corpus import command
from mlgo.corpus import corpus as corpora
from mlgo.run import files, progress
from mlgo.trace.outcomes import FailureLimit
from mlgo.trace.setup import CompileSetup

#: cc1 flags, after the module's own: stop after the optimiser and write its result.
OPTIMISE_FLAGS = ("-emit-llvm-bc", "-emit-llvm-uselists")

#: cc1 flag of the modules made here: run no IR pass again, generate code.
CODE_GENERATION_FLAG = "-disable-llvm-passes"


def optimise_corpus(folder: pathlib.Path, corpus: corpora.Corpus, setup: CompileSetup, title: str) -> Mapping[str, Any]:
    """Writes the optimised `corpus` into `folder`, itself a corpus; goes on where an interrupted run stopped.

    Returns: for the manifest: how many modules there are, and which failed, {name: kind of failure}.
    Raises: RunError: more modules failed than allowed; those are compiled again by the next run.
    """
    failures = FailureLimit(title, len(corpus.modules), setup.max_failure_ratio)
    left = [module for module in corpus.modules if not _command_path(folder, module.name).exists()]
    requests = (
        CompileRequest(
            clang=setup.clang,
            module=module,
            problem=setup.problem,
            want_log=False,
            want_object=True,
            extra_flags=OPTIMISE_FLAGS,
            limits=setup.limits,
        )
        for module in left
    )
    shown = progress.start(title, len(corpus.modules), "modules", done=len(corpus.modules) - len(left))
    outcomes = setup.executor.run_ordered(requests)
    try:
        for module, outcome in zip(left, outcomes, strict=True):
            _keep(folder, module, outcome, failures)
            shown.advance(1, failures.describe() if failures.failed else "")
    finally:
        outcomes.close()
        shown.close()
    with tempfile.TemporaryDirectory() as scratch:
        for name in corpus.carried_files:
            # Commands name them relative to their corpus.
            files.write_atomically(folder / name, corpus.file(name, scratch).read_bytes())
    names = [module.name for module in corpus.modules if module.name not in failures.failed]
    files.write_json_atomically(folder / corpora.DESCRIPTION_NAME, {"modules": names, "has_thinlto": False})
    return {"modules": len(names), "failed": dict(failures.failed)}


def _keep(
    folder: pathlib.Path, module: corpora.Module, outcome: CompileResult | CompileFailure, failures: FailureLimit
) -> None:
    if isinstance(outcome, CompileFailure):
        failures.add(module.name, outcome.kind.value, outcome.detail)
        return
    files.write_atomically(folder / f"{module.name}.bc", outcome.object_bytes)
    # Code generation needs no ThinLTO index: what the optimiser did with it is in the bitcode.
    words = [word for word in module.command if not word.startswith(command.THINLTO_INDEX)]
    # The command comes last: its presence says that everything else is there.
    files.write_atomically(_command_path(folder, module.name), corpora.join_command((*words, CODE_GENERATION_FLAG)))


def _command_path(folder: pathlib.Path, name: str) -> pathlib.Path:
    return folder / f"{name}.cmd"
