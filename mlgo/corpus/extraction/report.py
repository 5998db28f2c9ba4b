"""The report of an extraction: extraction_report.json, and a summary as text."""

import dataclasses
from collections import Counter
from collections.abc import Mapping, Sequence

from mlgo.corpus.extraction.outcome import Kind, Omission
from mlgo.corpus.properties import Property, by_property
from mlgo.corpus.writer import WrittenCorpus
from mlgo.run.exit_codes import ExitCode, RunError
from mlgo.run.printable import printable

#: Names per kind in the summary.
_EXAMPLES = 3


@dataclasses.dataclass(frozen=True)
class Report:
    """The result for every object of an input: names of the modules, and the objects that gave none, both sorted."""

    modules: tuple[str, ...]
    omissions: tuple[Omission, ...]
    #: What sets modules apart from ordinary code, by module; only those that have some.
    properties: Mapping[str, Mapping[Property, str]] = dataclasses.field(default_factory=dict)

    @property
    def objects(self) -> int:
        """Objects and entries that the input names."""
        return len(self.modules) + len(self.omissions)

    @property
    def failures(self) -> list[Omission]:
        return [omission for omission in self.omissions if omission.kind.is_failure]

    @staticmethod
    def of(
        written: WrittenCorpus, omissions: Sequence[Omission], properties: Mapping[str, Mapping[Property, str]]
    ) -> "Report":
        """The report of the writer's result, the omissions before it, and properties of all that was written."""
        duplicates = [Omission(one.name, Kind.DUPLICATE, f"equals {one.same_as}") for one in written.duplicates]
        everything = sorted([*omissions, *duplicates], key=lambda one: (one.name, one.kind.word, one.reason))
        kept = {name: properties[name] for name in written.modules if properties.get(name)}
        return Report(written.modules, tuple(everything), kept)

    def to_json(self) -> dict[str, object]:
        """The content of extraction_report.json: no path of this machine, no time, equal for equal input."""
        properties = {kind.name: names for kind, names in by_property(self.properties).items()}
        return {
            **({"properties": properties} if properties else {}),
            "objects": self.objects,
            "modules": len(self.modules),
            "failures": len(self.failures),
            "counts": {kind.word: len(found) for kind, found in self._by_kind().items()},
            "left_out": [{"name": one.name, "kind": one.kind.word, "reason": one.reason} for one in self.omissions],
        }

    def lines(self) -> list[str]:
        """A line per kind that occurred, with examples."""
        lines = []
        for kind, found in self._by_kind().items():
            names = ", ".join(printable(omission.name) for omission in found[:_EXAMPLES])
            more = ", ..." if len(found) > _EXAMPLES else ""
            lines.append(f"  {len(found):,} {kind.description}: {names}{more}")
        return lines

    def check(self, max_failures: int | None) -> None:
        """Raises: RunError: nothing was extracted, or more failures happened than allowed."""
        if not self.modules:
            wrong = "none of them gave a module"
            raise RunError(f"{self.objects:,} objects", wrong, self._remedy(), ExitCode.NOTHING_PRODUCED)
        if max_failures is not None and len(self.failures) > max_failures:
            first = self.failures[0]
            wrong = f"{len(self.failures):,} of {self.objects:,} objects failed"
            named = f"(first: {printable(first.name)}: {first.reason})"
            remedy = "see extraction_report.json; the corpus has no description yet, a higher limit writes one"
            raise RunError(f"--max_failures={max_failures}", f"{wrong} {named}", remedy, ExitCode.TOO_MANY_FAILURES)

    def _by_kind(self) -> dict[Kind, list[Omission]]:
        found = {kind: [one for one in self.omissions if one.kind is kind] for kind in Kind}
        return {kind: omissions for kind, omissions in found.items() if omissions}

    def _remedy(self) -> str:
        if not self.omissions:
            return "Check --input and --input_type"
        kind = Counter(omission.kind for omission in self.omissions).most_common(1)[0][0]
        return {
            Kind.NO_BITCODE: "Compile with -Xclang -fembed-bitcode=all and extract again",
            Kind.MISSING_OBJECT: "Build first; if the objects exist, give the folder of their paths as --obj_base_dir",
            Kind.LTO_OBJECT: "Link with -Wl,--save-temps=import -Wl,--thinlto-emit-index-files, and give"
            " --thinlto_build=local",
            Kind.FULL_LTO_OBJECT: "Full LTO compiles the program as one module. Build with -flto=thin and link with"
            " -Wl,--save-temps=import -Wl,--thinlto-emit-index-files for --thinlto_build=local, or build without LTO"
            " and with -Xclang -fembed-bitcode=all; for register allocation, see Full LTO in docs/corpora.md",
            Kind.BITCODE_FILE: "Give the .bc files to //mlgo:make_corpus",
            Kind.FILTERED_OUT: "Check --cmd_filter: it is searched in each recorded argument by itself",
        }.get(kind, f"Most of them are objects {kind.description}; see extraction_report.json")
