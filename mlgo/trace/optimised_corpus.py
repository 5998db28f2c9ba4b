"""A corpus whose modules are already optimised, so that compiling one only generates code.

Every candidate policy decides after the optimiser has run. Optimising once makes each later compile about four times
cheaper (LLVM's SimplifyCFG.cpp at -O2: 6.9 CPU s in full, 1.8 from here). It changes no byte of object or log, as a
test checks: the bitcode keeps the order of use lists (`-emit-llvm-uselists`). Without it, two of four modules differed.
"""

import contextlib
import pathlib
import tempfile
from collections.abc import Mapping
from typing import Any

from mlgo.compiler.request import CompileFailure
from mlgo.corpus.command import THINLTO_INDEX
from mlgo.corpus.corpus import BITCODE_SUFFIX, COMMAND_SUFFIX, Corpus, Module, split_command
from mlgo.corpus.selection import copy_carried_file
from mlgo.corpus.writer import CorpusWriter
from mlgo.run import progress
from mlgo.trace.outcomes import FailureLimit
from mlgo.trace.setup import CompileSetup

#: cc1 flag of written bitcode, for code generation to see the order of use lists.
KEEP_USE_LISTS_FLAG = "-emit-llvm-uselists"
#: cc1 flags, after the module's own: stop after the optimiser and write its result.
OPTIMISE_FLAGS = ("-emit-llvm-bc", KEEP_USE_LISTS_FLAG)
#: cc1 flag of the modules made here: run no IR pass again, generate code.
CODE_GENERATION_FLAG = "-disable-llvm-passes"


def optimise_corpus(folder: pathlib.Path, corpus: Corpus, setup: CompileSetup, title: str) -> Mapping[str, Any]:
    """Writes the optimised `corpus` into `folder`, itself a corpus; resumes an interrupted run.

    Returns: for the manifest: how many modules there are, and which failed, {name: kind of failure}.
    Raises: RunError: more modules failed than allowed; those are compiled again by the next run.
    """
    failures = FailureLimit(title, len(corpus.modules), setup.max_failure_ratio)
    # Not merged: modules that differ may become equal, and a trace has a record of each.
    with CorpusWriter(folder, merge=False, resume=True) as writer, tempfile.TemporaryDirectory() as scratch:
        left = [module for module in corpus.modules if not _add_finished(writer, folder, module)]
        requests = (
            setup.request(module, want_log=False, want_object=True, extra_flags=OPTIMISE_FLAGS) for module in left
        )
        shown = progress.start(title, len(corpus.modules), "modules", done=len(corpus.modules) - len(left))
        with contextlib.closing(shown), contextlib.closing(setup.run_ordered(requests)) as outcomes:
            for module, outcome in zip(left, outcomes, strict=True):
                if isinstance(outcome, CompileFailure):
                    failures.add(module.name, outcome.kind.value, outcome.detail)
                else:
                    # Code generation needs no ThinLTO index: what the optimiser did with it is in the bitcode.
                    words = [word for word in module.command if not word.startswith(THINLTO_INDEX)]
                    recorded = (*words, CODE_GENERATION_FLAG)
                    writer.add(module.name, outcome.made_object, recorded, licence=module.licence)
                shown.advance(1, failures.describe() if failures.failed else "")
        for name in corpus.carried_files:
            copy_carried_file(corpus, name, writer, pathlib.Path(scratch))
        written = writer.finish()
    return {"modules": len(written.modules), "failed": dict(failures.failed)}


def _add_finished(writer: CorpusWriter, folder: pathlib.Path, module: Module) -> bool:
    """Whether `folder` holds the optimised `module`, from an interrupted run or a cache; adds it to `writer`."""
    recorded = folder / f"{module.name}{COMMAND_SUFFIX}"
    if not recorded.exists():
        return False
    bitcode = (folder / f"{module.name}{BITCODE_SUFFIX}").read_bytes()
    writer.add(module.name, bitcode, split_command(recorded.read_bytes()), licence=module.licence)
    return True
