"""Writes the results of an evaluation of corpora to a folder, and prints a summary."""

import dataclasses
import pathlib
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mlgo.compiler.symbols import Demangler
from mlgo.evaluation.corpora import tables
from mlgo.evaluation.corpora.evaluation import CorpusResult
from mlgo.evaluation.sides import is_without_ml
from mlgo.run import files
from mlgo.run.exit_codes import ExitCode, RunError
from mlgo.run.progress import show
from mlgo.run.tabular import encode_csv, markdown_text

#: How many regressions worst_regressions.md has for each corpus and policy, and the terminal for all together.
_WORST = 5
#: Modules that a line on the terminal names; result.json has all.
_NAMED = 20


@dataclasses.dataclass(frozen=True)
class Results:
    """What came of all corpora."""

    corpora: Sequence[CorpusResult]
    sides: Sequence[str]  #: names of the sides that are compared with the default: policies, then thresholds.
    policies: Mapping[str, str]
    #: further keys of result.json: problem, reward, seed, digest of the compiler, whether ICF was on.
    description: Mapping[str, Any]

    @property
    def unit(self) -> str:
        """What a row of the comparison is: "functions" or "modules"."""
        by_function = any(row.function for result in self.corpora for row in result.comparison.rows)
        return "functions" if by_function else "modules"

    def write(
        self,
        folder: pathlib.Path,
        flags_of: Callable[[tables.Regression], list[str]],
        demangler: Demangler | None = None,
    ) -> None:
        """Writes all result files into `folder` and prints the summary. Raises: RunError: nothing was compared.

        Args:
          flags_of: the flags of //mlgo:evaluate that select the policy and the corpus of a regression.
          demangler: of names of functions in texts, not in data.
        """
        if not any(result.comparison.rows for result in self.corpora):
            subject, wrong = f"{len(self.corpora)} corpora", "have no function or module to compare"
            raise RunError(subject, wrong, "Give other corpora", ExitCode.NOTHING_PRODUCED)
        corpora = {}
        for result in self.corpora:
            verdicts = {side: tables.verdict_of(result, side, self.unit).to_json() for side in self.judged}
            corpora[result.corpus] = {**result.to_json(), "verdict": verdicts}
        content = {**self.description, "kind": "evaluation", "policies": dict(self.policies), "corpora": corpora}
        together = {side: tables.sum_of_all(self.corpora, side, self._seed) for side in self.sides}
        if len(self.corpora) > 1:
            content["verdict"] = {side: tables.verdict_of_all(self.corpora, side).to_json() for side in self.judged}
        content["weighted_sum"] = {side: found and found.to_json() for side, found in together.items()}
        # The file is sorted by key; whoever reads it needs the order in which sides and corpora were given.
        content["order"] = {"sides": list(self.sides), "corpora": [result.corpus for result in self.corpora]}
        files.write_json_atomically(folder / "result.json", content)
        modules, functions = (rows(self.corpora, self.sides) for rows in (tables.compared_rows, tables.function_rows))
        files.write_atomically(folder / "modules.csv", encode_csv(tables.COMPARED_COLUMNS, modules))
        files.write_atomically(folder / "functions.csv", encode_csv(tables.FUNCTION_COLUMNS, functions))
        files.write_atomically(folder / "summary.md", self.markdown().encode("utf-8"))
        worst = tables.worst_regressions(self.corpora, list(self.policies), _WORST)
        demangler = demangler or Demangler()
        descriptions = map(markdown_text, demangler.texts(map(_described, worst)))
        commands = (_reproduction(each, flags_of(each)) for each in worst)
        texts = (f"{text}\n\n    {command}\n\n" for text, command in zip(descriptions, commands))
        files.write_atomically(folder / "worst_regressions.md", "".join(texts).encode("utf-8"))
        show(demangler.texts(self._summary_lines(folder, worst)))

    @property
    def _seed(self) -> int:
        return int(self.description.get("seed", 0))

    @property
    def judged(self) -> list[str]:
        """The sides with a verdict: policies, with and without further options, and other compilers."""
        return [side for side in self.sides if not is_without_ml(side)]

    def _verdict_lines(self) -> list[str]:
        return tables.verdict_lines(self.corpora, self.judged, self.unit, self._seed)

    def markdown(self) -> str:
        lines = [f"- {markdown_text(line)}" for line in self._verdict_lines() if not line.startswith(" ")]
        return tables.markdown(self.corpora, self.sides, self.unit) + "".join(["\n", *(f"{line}\n" for line in lines)])

    def _summary_lines(self, folder: pathlib.Path, worst: Sequence[tables.Regression]) -> list[str]:
        lines = ["", "Change against the compiler's default; negative is better:", ""]
        lines += tables.table_lines(self.corpora, self.sides, self.unit)
        lines += ["", *self._verdict_lines()]
        if worst:
            most = sorted(worst, key=lambda each: -each.ratio)[:_WORST]
            lines += ["", "Worst regressions:", *(f"  {_described(each)}" for each in most)]
        for result in self.corpora:
            if failed := result.comparison.failed:
                named = ", ".join(f"{module} ({kinds})" for module, kinds in failed.items())
                lines.append(f"{result.corpus}: modules left out because they failed to compile: {named}")
            if result.coverage is not None:
                lines += result.coverage.lines(result.corpus)
            if without := result.not_compared:
                named = ", ".join(without[:_NAMED]) + (", ..." if len(without) > _NAMED else "")
                lines.append(f"{result.corpus}: {len(without)} modules without a decision are not compared: {named}")
        lines += ["", f"Results: {folder / 'result.json'}, summary.md, modules.csv and functions.csv"]
        if worst:
            lines.append(f"Commands that reproduce the worst regressions: {folder / 'worst_regressions.md'}")
        return lines


def _reproduction(regression: tables.Regression, flags: Sequence[str]) -> str:
    # One line of Markdown, which no name may end.
    pattern = "".join(re.escape(char) if char.isprintable() else r"\W" for char in regression.module)
    chosen = " ".join([*flags, f"--module_filter={shlex.quote(f'^{pattern}$')}"])
    return f"./bazelw run //mlgo:evaluate -- {chosen} --output_dir=out/evaluation_of_one"


def _described(regression: tables.Regression) -> str:
    what = f"{regression.module}, {regression.function}" if regression.function else regression.module
    change = f"{regression.default_score:,.0f} -> {regression.score:,.0f}, {100.0 * (regression.ratio - 1.0):+.2f} %"
    return f"{regression.corpus}, {regression.policy}: {what}: {change}"
