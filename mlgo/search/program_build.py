"""A program's own build: the corpus of its units, and its image with the decisions that were found for them."""

import dataclasses
import pathlib
from collections.abc import Mapping
from typing import Any

from mlgo.corpus.corpus import Corpus
from mlgo.corpus.extraction.extraction import Extraction, extract
from mlgo.evaluation.corpora.linked_code import code_of_modules
from mlgo.evaluation.programs.building import BuildFailure, Side, Toolchain, compile_objects, link
from mlgo.evaluation.programs.program import Program
from mlgo.evaluation.programs.running import RunFailure
from mlgo.evaluation.programs.size import LEVEL, OutputDiffers, SideSize, differing, measure_side
from mlgo.run.exit_codes import ExitCode, RunError
from mlgo.run.run_folder import RunFolder
from mlgo.search.tuning import Linking

_STAGE, _OBJECTS, _CORPUS = "program", "objects", "corpus"
_EMBEDDED = ("-Xclang", "-fembed-bitcode=all")
_LOCATED = ("-gline-tables-only",)


@dataclasses.dataclass(frozen=True)
class ProgramBuild:
    """How a program is built.

    Attributes:
      program: its sources and runs.
      toolchain: linker and libraries.
      clang: compiles it, and takes decisions from a file.
      located: whether its corpus has debug locations.
    """

    program: Program
    toolchain: Toolchain
    clang: pathlib.Path
    located: bool = False

    def corpus(self, folder: RunFolder) -> pathlib.Path:
        """The corpus of its units at -Oz, below `folder`. Raises: RunError: a unit does not compile."""
        side = Side("default", self.clang)

        def work(stage: pathlib.Path) -> Mapping[str, Any]:
            more = (*_EMBEDDED, *(_LOCATED if self.located else ()))
            try:
                compile_objects(self.toolchain, side, self.program, stage / _OBJECTS, LEVEL, more)
            except BuildFailure as error:
                raise self._failed(error) from error
            extract(Extraction(stage / _CORPUS, input=stage / _OBJECTS, input_type="directory"))
            return {"modules": len(Corpus.load(stage / _CORPUS).modules)}

        inputs = {"program": self.program.digest(), "toolchain": self.toolchain.digest(), "clang": side.digest()}
        folder.stage(_STAGE, inputs, {"located": self.located}, work)
        return folder.path / _STAGE / _CORPUS

    def linking(self, folder: pathlib.Path, icf: bool) -> Linking:
        """Links the program of the objects of its corpus. Args: folder: that of `corpus`; icf: as --icf=all."""
        built = folder / _STAGE / _OBJECTS
        side = Side("tuned", self.clang)

        def linked(objects: Mapping[str, pathlib.Path], work: pathlib.Path) -> Mapping[str, int]:
            # Assembly, and what the search left out, is as it was built.
            paths = [objects.get(name, built / name) for _, name in self.program.units()]
            try:
                flags = ("-Wl,--icf=all",) if icf else ()
                map_path = link(self.toolchain, side, self.program, paths, work / "image", flags)
            except BuildFailure as error:
                raise self._failed(error) from error
            return code_of_modules(map_path, objects)

        return linked

    def sizes(self, decisions: pathlib.Path) -> dict[str, SideSize]:
        """The program by the compiler's default and by `decisions`: "default" and "tuned".

        Raises: RunError: it cannot be built or run, or the two behave differently.
        """
        tuned = Side("tuned", self.clang, ("-mllvm", f"-mlgo-decisions={decisions}"))
        try:
            found = {
                side.name: measure_side(self.toolchain, side, self.program, thinlto=False)
                for side in (Side("default", self.clang), tuned)
            }
        except (BuildFailure, RunFailure, OutputDiffers) as error:
            raise self._failed(error) from error
        if found["tuned"].outputs != found["default"].outputs:
            wrong = f"has another output when tuned: {differing(found['default'].outputs, found['tuned'].outputs)}"
            remedy = "Its runs must be deterministic (mlgo/evaluation/programs/README.md)"
            raise RunError(f"program {self.program.name}", wrong, remedy, ExitCode.OUTPUT_DIFFERS)
        return found

    def _failed(self, error: Exception) -> RunError:
        return RunError(f"program {self.program.name}", str(error), "Correct its description, or its sources")


def size_lines(sizes: Mapping[str, SideSize]) -> list[list[str]]:
    """Rows of a table: the program's own code, linked with --gc-sections, and with identical functions folded too."""
    rows = [["the program's own code, linked", "default", "tuned", "change"]]
    for measure, title in (("code_bytes", "--gc-sections"), ("code_bytes_icf", "--gc-sections --icf=all")):
        default, tuned = (sizes[side].sizes[measure] or 0 for side in ("default", "tuned"))
        change = f"{100.0 * (tuned / default - 1.0):+.2f} %" if default else ""
        rows.append([title, f"{default:,}", f"{tuned:,}", change])
    return rows
