"""The sections that make a report reproducible: commands, and digests of all inputs."""

import collections
import pathlib
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mlgo.evaluation.sides import threshold_of
from mlgo.pages.page import Block, Commands, Details, Facts, Paragraph, Section
from mlgo.reporting.bindings import FLAGS
from mlgo.reporting.reading import digest_of
from mlgo.reporting.records import Evaluation, Kind, Record, Run
from mlgo.run.flag_values import default_name

#: Problem -> the command that trains it on the built-in corpora; //mlgo:train_locally trains the others.
_COMMANDS = {
    "inlining_for_size": "train_inlining",
    "regalloc_eviction": "train_regalloc",
    "regalloc_priority": "train_regalloc --problem=regalloc_priority",
}

#: Kind of a record -> its name, and the keys of its content that name inputs.
_DIGESTS: Mapping[Kind, tuple[str, Sequence[str]]] = {
    Kind.PROGRAMS: ("program measurements", ("digests",)),
    Kind.EXPLANATION: ("explanation", ("problem", "policy", "corpus")),
}


def commands_section(records: Sequence[Record], again: str) -> Section:
    """The commands; folders of the reader's machine are variables. Args: again: see `page_command`; "": unknown."""
    blocks: list[Block] = [
        Paragraph(
            "Run these in a clone of the workspace. A variable in capitals is a folder with a corpus, a policy or"
            " results of the digest that is listed under Provenance."
        )
    ]
    blocks += map(_command, records)
    if again:
        blocks.append(Commands("Write this page again", [again]))
    return Section("commands", "Commands to reproduce", "Commands", blocks)


def _command(record: Record) -> Commands:
    if isinstance(record, Run):
        return Commands(f"Train {record.name} again", [training_command(record)])
    if isinstance(record, Evaluation):
        return Commands(f"Evaluate {record.name} again", [evaluation_command(record)])
    if record.kind is Kind.PROGRAMS:
        return Commands(f"Measure the programs of {record.name} again", ["./bazelw run //mlgo:evaluate_programs"])
    problem = record.content.get("problem")
    words = ["./bazelw run //mlgo:explain --", *([f"--problem={shlex.quote(str(problem))}"] if problem else [])]
    return Commands(f"Explain {record.name} again", [" ".join([*words, '--policy="$POLICY"', '--corpus="$CORPUS"'])])


def page_command(named: Sequence[tuple[str, pathlib.Path]], workspace: pathlib.Path | None) -> str:
    """The command that writes a page about `named`: name and absolute path of each folder, in order.

    Folders below `workspace` are relative; others are variables, because a page names no folder of this machine.
    """
    words: list[str] = []
    taken: collections.Counter[str] = collections.Counter()
    for name, folder in named:
        if workspace is not None and folder.is_relative_to(workspace):
            place = folder.relative_to(workspace).as_posix()
            # "-x" would be a flag, "~x" the home folder of a user.
            place = f"./{place}" if place.startswith(("-", "~")) else place
            plain = name == default_name(folder) and "=" not in place
            words.append(shlex.quote(place if plain else f"{name}={place}"))
            continue
        variable = _variable(name)
        taken[variable] += 1
        words.append(f'{name}="${variable}{"" if taken[variable] == 1 else f"_{taken[variable]}"}"')
    return " ".join(["./bazelw run //mlgo:report --", *words])


def training_command(run: Run) -> str:
    if run.place.startswith("models/"):
        return f"./bazelw run //{run.place}:train"
    settings = run.settings
    if run.problem in _COMMANDS:
        command, *more = _COMMANDS[run.problem].split()
        more += ['--train_corpus="$TRAIN_CORPUS"', '--held_out_corpus="$HELD_OUT_CORPUS"']
    else:
        command, more = "train_locally", [f"--problem={shlex.quote(run.problem)}", '--root_dir="$OUTPUT"']
        more += ['--data_path="$TRAIN_CORPUS"']
        more += ['--held_out_path="$HELD_OUT_CORPUS"'] if run.training["inputs"].get("held_out_corpus") else []
    words = [f"./bazelw run //mlgo:{command} --", *more]
    words += [f"--{name}={settings[name]}" for name in FLAGS if name in settings]
    if settings["warm_start"] == "policy":
        words.append('--warm_start="$START_POLICY"')
    else:
        words.append(f"--warm_start={settings['warm_start']}")
    words += ['--vocabulary="$VOCABULARY"'] if run.training["inputs"].get("vocabulary") else []
    words += ['--imitate="$IMITATED_POLICY"' for _ in run.training["inputs"].get("imitated") or ()]
    words += [f"--gin_bindings={shlex.quote(binding)}" for binding in run.bindings]
    return " ".join(words)


def evaluation_command(evaluation: Evaluation) -> str:
    if evaluation.place.startswith("models/"):
        return f"./bazelw run //{evaluation.place.rpartition('/')[0]}:{evaluation.place.rpartition('/')[2]}.update"
    words = ["./bazelw run //mlgo:evaluate --"]
    if evaluation.problem:
        words.append(f"--problem={shlex.quote(evaluation.problem)}")
    words += [f'--policy={shlex.quote(name)}="${_variable(name)}"' for name in evaluation.policies]
    words += [f'--corpus={shlex.quote(corpus.name)}="${_variable(corpus.name)}"' for corpus in evaluation.corpora]
    sides = dict.fromkeys(side.name for corpus in evaluation.corpora for side in corpus.sides)
    thresholds = [
        threshold for name in sides if (threshold := threshold_of(name)) is not None and name not in evaluation.policies
    ]
    if thresholds:
        words.append(f"--inline_thresholds={','.join(thresholds)}")
    words += [f"--seed={evaluation.seed}", *(["--icf"] if evaluation.icf else [])]
    words += [f"--reward={shlex.quote(evaluation.reward)}"] if evaluation.reward else []
    return " ".join(words)


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


def _variable(name: str) -> str:
    text = "".join(letter if letter.isascii() and letter.isalnum() else "_" for letter in name).upper()
    return f"_{text}" if text[:1].isdigit() else text
