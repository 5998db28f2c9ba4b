"""The decisions that were found as files for LLVM's own -cgscc-inline-replay, which every clang has.

A file has a remark for each call that the compiler asks about; it names the call by its debug location, with the
locations of the calls through which it was inlined (llvm/decisions, -mlgo-decisions-replay). Files in the stage's
folder, for each module NAME: `NAME.replay`.
"""

import dataclasses
import pathlib
from collections.abc import Callable, Iterable, Mapping, Sequence

from mlgo.compiler.request import CompileFailure, CompileRequest
from mlgo.corpus.corpus import Corpus, Module
from mlgo.run import files
from mlgo.run.exit_codes import RunError
from mlgo.search.decision_file import Section, written
from mlgo.trace.setup import CompileSetup

#: The stage that writes the files, and its folder.
STAGE = "replay"
_NAME = "replay"
_FLAGS = ("-mllvm", f"-mlgo-decisions-replay={_NAME}")
#: The name of a module flag that LLVM writes wherever there are debug locations (llvm/lib/IR/DebugInfo.cpp); strings of
#: metadata stand in bitcode as bytes.
_WITH_LOCATIONS = b"Debug Info Version"


@dataclasses.dataclass(frozen=True)
class Replayed:
    """What the files hold. Attributes: decisions: that the compiles took; named: those with a debug location."""

    decisions: int
    named: int


def without_locations(corpus: Corpus) -> list[str]:
    """Modules without debug locations, whose decisions cannot be replayed. Raises: RunError: these are all modules."""
    found = [module.name for module in corpus.modules if _WITH_LOCATIONS not in module.read_bitcode()]
    if len(found) == len(corpus.modules):
        raise RunError(
            "--replay",
            f"names calls by debug locations, and none of the {len(found)} modules of the corpus has any",
            "Make the corpus from a build with -gline-tables-only, or leave --replay out",
        )
    return found


def write_replays(
    folder: pathlib.Path,
    corpus: Corpus,
    setup: CompileSetup,
    model_dir: pathlib.Path | None,
    sections: Mapping[str, Section],
    done: Callable[[Module], None],
) -> Replayed:
    """Writes the file of every module of `corpus`; that of a module without a section is empty.

    Raises: RunError: a compile fails.
    """
    named = asked = 0
    modules = [module for module in corpus.modules if module.name in sections]
    outcomes = setup.run_ordered(_requests(modules, setup, model_dir, sections))
    for module, outcome in zip(modules, outcomes, strict=True):
        if isinstance(outcome, CompileFailure) or outcome.log is None:
            wrong = f"does not compile with the decisions found: {outcome}"
            raise RunError(f"module {module.name}", wrong, "Report it: it did before")
        content = outcome.files[_NAME]
        named, asked = named + content.count(b"\n"), asked + len(outcome.log.actions)
        files.write_atomically(_path(folder, module), content)
        done(module)
    for module in corpus.modules:
        if module.name not in sections:
            files.write_atomically(_path(folder, module), b"")
    return Replayed(asked, named)


def _requests(
    modules: Sequence[Module], setup: CompileSetup, model_dir: pathlib.Path | None, sections: Mapping[str, Section]
) -> Iterable[CompileRequest]:
    return (
        setup.request(
            module,
            model_dir=model_dir,
            decisions=written([sections[module.name]]),
            extra_flags=(*setup.extra_flags, *_FLAGS),
            extra_files=(_NAME,),
        )
        for module in modules
    )


def _path(folder: pathlib.Path, module: Module) -> pathlib.Path:
    return folder / f"{module.name}.replay"
