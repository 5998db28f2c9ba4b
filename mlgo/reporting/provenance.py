"""The section that makes a report reproducible: digests of all inputs, settings and versions."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mlgo.pages.page import Block, Details, Facts, Section
from mlgo.reporting.reading import digest_of
from mlgo.reporting.records import Evaluation, Kind, Record, Run

#: Kind of a record -> its name, and the keys of its content that name inputs.
_DIGESTS: Mapping[Kind, tuple[str, Sequence[str]]] = {
    Kind.PROGRAMS: ("program measurements", ("digests",)),
    Kind.EXPLANATION: ("explanation", ("problem", "policy", "corpus")),
}


def provenance_section(records: Sequence[Record]) -> Section:
    blocks: list[Block] = []
    for record in records:
        title, rows = _described(record)
        blocks.append(Details(title, [Facts(rows, code=True)]))
    return Section("provenance", "Provenance", "Provenance", blocks)


def _described(record: Record) -> tuple[str, list[tuple[str, str]]]:
    if isinstance(record, Run):
        rows = [("policy", digest_of(record.policy) or "none yet")]
        rows += [(f"policy/{name}", value) for name, value in sorted(record.policy.items())]
        rows += [
            row for part in ("inputs", "versions", "configuration") for row in _flat(record.training.get(part), part)
        ]
        return f"{record.name}: digests, versions and settings of the training run", rows
    if isinstance(record, Evaluation):
        rows = [
            ("clang", record.clang),
            *((f"policy {name}", digest) for name, digest in sorted(record.policies.items())),
        ]
        rows += [(f"corpus {corpus.name}", corpus.digest or "not recorded") for corpus in record.corpora]
        return f"{record.name}: digests of the evaluation", [*rows, ("seed of the bootstraps", str(record.seed))]
    kind, keys = _DIGESTS[record.kind]
    return f"{record.name}: digests of the {kind}", [row for key in keys for row in _flat(record.content.get(key), key)]


def _flat(value: Any, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for name, inner in sorted(value.items()):
            yield from _flat(inner, f"{path}.{name}")
    elif isinstance(value, list):
        yield path, " ".join(map(str, value)) or "none"
    else:
        yield path, "none" if value is None or value == "" else str(value)
