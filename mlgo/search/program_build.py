"""A program's own build: the corpus of its units, and its image with the decisions that were found for them."""

import contextlib
import dataclasses
import pathlib
import tempfile
from collections.abc import Mapping, Sequence
from typing import Any

from mlgo.corpus.corpus import Corpus
from mlgo.corpus.extraction.extraction import Extraction, extract
from mlgo.evaluation.corpora.linked_code import code_of_modules
from mlgo.evaluation.programs.build_inputs import build_inputs
from mlgo.evaluation.programs.building import EMBEDDED, BuildFailure, Toolchain, compile_objects, link
from mlgo.evaluation.programs.program import Program
from mlgo.evaluation.programs.running import RunFailure, output_digests
from mlgo.evaluation.programs.size import LEVEL, OutputDiffers, SideSize, differing, measure_side
from mlgo.evaluation.sides import Side
from mlgo.problems.problem import Problem
from mlgo.run.exit_codes import ExitCode, RunError
from mlgo.run.run_folder import RunFolder
from mlgo.search.decision_file import ANY_MODULE, Section, read, written
from mlgo.search.module_search import DEFAULT
from mlgo.search.tuning import Linking

_STAGE, _OBJECTS, _CORPUS = "program", "objects", "corpus"
_LOCATED = ("-gline-tables-only",)


@dataclasses.dataclass(frozen=True)
class ProgramBuild:
    """How a program is built. Attributes: located: whether its corpus has debug locations."""

    program: Program
    toolchain: Toolchain
    clang: pathlib.Path
    located: bool = False

    def corpus(self, folder: RunFolder) -> pathlib.Path:
        """The corpus of its units at -Oz, below `folder`.

        Raises: RunError: a unit does not compile, or the program cannot be linked or run; a search takes hours, so this
          comes before it.
        """
        side = Side("default", self.clang)

        def work(stage: pathlib.Path) -> Mapping[str, Any]:
            more = (*EMBEDDED, *(_LOCATED if self.located else ()))
            try:
                objects = compile_objects(self.toolchain, side, self.program, stage / _OBJECTS, LEVEL, more)
                self._check_runs(side, objects)
            except (BuildFailure, RunFailure) as error:
                raise self._failed(error) from error
            extract(Extraction(stage / _CORPUS, input=stage / _OBJECTS, input_type="directory"))
            return {"modules": len(Corpus.load(stage / _CORPUS).modules)}

        try:
            inputs = build_inputs(self.toolchain, side, self.program, LEVEL)
        except BuildFailure as error:
            raise self._failed(error) from error
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
                image = work / "image"
                map_path = link(self.toolchain, side, self.program, paths, image, flags)
            except BuildFailure as error:
                raise self._failed(error) from error
            return code_of_modules(map_path, image, objects)

        return linked

    def sizes(
        self, decisions: bytes, problem: Problem, policy: str, model_dir: pathlib.Path | None
    ) -> dict[str, SideSize]:
        """The program by the compiler's default and by the decision file `decisions`: "default" and "tuned".

        Raises: RunError: the program cannot be built or run, or the two behave differently.
        """
        with tempfile.TemporaryDirectory(prefix="mlgo-decisions-") as scratch:
            path = pathlib.Path(scratch) / "decisions"
            path.write_bytes(_complete(decisions))
            tuned = Side("tuned", self.clang, ("-mllvm", f"-mlgo-decisions={path}"))
            if model_dir is not None:
                flags = tuple(problem.development_flags(None, str(model_dir)))
                tuned = dataclasses.replace(tuned, model_flags=flags, policy=policy)
            try:
                found = {
                    side.name: measure_side(self.toolchain, side, self.program, False, None, contextlib.nullcontext())
                    for side in (Side("default", self.clang), tuned)
                }
            except (BuildFailure, RunFailure, OutputDiffers) as error:
                raise self._failed(error) from error
        self._check_outputs("when tuned", found["default"].outputs, found["tuned"].outputs)
        return found

    def _check_runs(self, side: Side, objects: Sequence[pathlib.Path]) -> None:
        """Raises: BuildFailure, RunFailure: it cannot be linked or run. RunError: two runs have different outputs."""
        with tempfile.TemporaryDirectory(prefix="mlgo-link-") as scratch:
            image = pathlib.Path(scratch) / "image"
            link(self.toolchain, side, self.program, objects, image)
            self._check_outputs("in a second run", *(output_digests(self.program, image) for _ in range(2)))

    def _check_outputs(self, when: str, before: dict[str, str], after: dict[str, str]) -> None:
        if before != after:
            wrong = f"has another output {when}: {differing(before, after)}"
            remedy = "Its runs must be deterministic (mlgo/evaluation/programs/README.md)"
            raise RunError(f"program {self.program.name}", wrong, remedy, ExitCode.OUTPUT_DIFFERS)

    def _failed(self, error: Exception) -> RunError:
        return RunError(f"program {self.program.name}", str(error), "Correct its description, or its sources")


def _complete(decisions: bytes) -> bytes:
    """`decisions`, with the default for modules that have none.

    A development clang with a policy would leave them to the policy, and a release clang leaves them to the default.
    """
    sections = read(decisions, "the decisions that were found")
    if any(section.source == ANY_MODULE for section in sections):
        return decisions
    return written([*sections, Section(ANY_MODULE, DEFAULT.otherwise, {})])


def size_lines(sizes: Mapping[str, SideSize]) -> list[list[str]]:
    """Rows of a table: the program's own code, linked with --gc-sections, and with identical functions folded too."""
    rows = [["the program's own code, linked", "default", "tuned", "change"]]
    for measure, title in (("code_bytes", "--gc-sections"), ("code_bytes_icf", "--gc-sections --icf=all")):
        default, tuned = (sizes[side].sizes[measure] or 0 for side in ("default", "tuned"))
        change = f"{100.0 * (tuned / default - 1.0):+.2f} %" if default else ""
        rows.append([title, f"{default:,}", f"{tuned:,}", change])
    return rows
