"""The corpora of a run, which of their modules are for what, and the modules of each iteration.

"train" are learned from, "validation" belong to the corpus to learn from and choose the policy, "held_out" measure it.
"""

import dataclasses
import functools
import pathlib
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from mlgo.compiler.driver_command import with_usable_commands
from mlgo.corpus import split
from mlgo.corpus.command_check import check_commands
from mlgo.corpus.corpus import Corpus
from mlgo.corpus.fitting import chosen_modules, fitting_modules
from mlgo.corpus.selection import equal_modules, part_of_corpus
from mlgo.problems.problem import Problem
from mlgo.run import determinism
from mlgo.run.exit_codes import RunError
from mlgo.run.progress import tell
from mlgo.training.input_checks import check_corpora
from mlgo.training.run_inputs import RunInputs
from mlgo.training.settings import RunSettings

#: How modules of a corpus that is split are held out.
_BY_HASH = f"a hash of the names, about one in {split.HELD_OUT_ONE_IN}"

#: Of a small corpus, one module in so many chooses the policy. More may where _LEARNED_FROM remain to learn from, up to
#: half of the modules.
_VALIDATION_ONE_IN, _LEARNED_FROM = 4, 32


@dataclasses.dataclass(frozen=True)
class RunCorpora:
    #: the corpus to learn from, "train", and the one to measure on, "held_out", if there is one.
    by_part: Mapping[str, Corpus]
    #: names of modules that were left out because they equal another module of the run -> its name.
    equal: Mapping[str, str]


def open_corpora(inputs: RunInputs, problem: Problem) -> RunCorpora:
    """The corpora of a run. No held-out module equals a module to learn from, or another held-out one. Raises:
    RunError: a corpus cannot be read or has refused commands; two corpora have a module's name in common, or nothing is
    left to measure on; or the corpus to split is not for `problem` or has fewer than two modules that differ.
    """
    if inputs.split_corpus is not None:
        return _parts(inputs, inputs.split_corpus, problem)
    if inputs.train_corpus is None:
        raise ValueError("there is neither a corpus to learn from nor one to split")
    train = _opened(inputs, inputs.train_corpus, inputs.module_filter)
    held_out = None if inputs.held_out_corpus is None else _opened(inputs, inputs.held_out_corpus)
    check_corpora(train, held_out)
    return RunCorpora({split.TRAIN: train}, {}) if held_out is None else _without_equal(train, held_out)


def _opened(inputs: RunInputs, path: pathlib.Path, module_filter: str | None = None) -> Corpus:
    corpus = with_usable_commands(Corpus.load(path, inputs.allowed_options), inputs.clang, inputs.changes)
    if module_filter is None:
        return corpus
    return corpus.select(chosen_modules([module.name for module in corpus.modules], module_filter, 1.0, 0))


def _without_equal(train: Corpus, held_out: Corpus) -> RunCorpora:
    """Leaves out held-out modules that equal a module of `train` or an earlier held-out one."""
    names = [module.name for module in held_out.modules]
    of_all = equal_modules([*train.modules, *held_out.modules])
    equal = {name: of_all[name] for name in names if name in of_all}
    if equal:
        name, first = next(iter(equal.items()))
        tell(
            f"{len(equal)} of {len(names)} held-out modules equal a module of the training corpus or an earlier"
            f" held-out one and are left out ({name} equals {first})"
        )
    if len(equal) == len(names):
        wrong = f"has no module that differs from those of the training corpus ({name} equals {first})"
        raise RunError(f"--held_out_corpus={held_out.path}", wrong, "Give a corpus of other modules")
    rest = part_of_corpus(held_out, [name for name in names if name not in equal]) if equal else held_out
    return RunCorpora({split.TRAIN: train, split.HELD_OUT: rest}, equal)


def _parts(inputs: RunInputs, path: pathlib.Path, problem: Problem) -> RunCorpora:
    """The parts of the corpus at `path`, which are not written. Of equal modules, the first by name stays."""
    whole = _opened(inputs, path, inputs.module_filter)
    check_commands(whole)
    whole = fitting_modules(problem, whole, tell)
    equal = equal_modules(whole.modules)
    if equal:
        name, first = next(iter(sorted(equal.items())))
        tell(f"{len(equal)} of {len(whole.modules)} modules equal others and are left out ({name} equals {first})")
    names = [module.name for module in whole.modules if module.name not in equal]
    parts = split.with_both_parts(split.by_hash(names))
    members = {part: [name for name in names if parts[name] == part] for part in split.PARTS}
    if not all(members.values()):
        raise RunError(
            f"--corpus={path}",
            f"has {len(names)} {'module' if len(names) == 1 else 'modules'} to split, and at least two of different"
            " sources are needed: one to learn from and one to measure on",
            "Give a corpus of more modules, or --train_corpus and --held_out_corpus",
        )
    return RunCorpora({part: part_of_corpus(whole, members[part]) for part in split.PARTS}, equal)


@dataclasses.dataclass(frozen=True)
class ModuleSplit:
    """The modules of a run by what they are for."""

    modules: int
    #: train, validation: names of modules that have decisions of the default.
    train: Sequence[str]
    validation: Sequence[str]
    held_out: int | None  #: number of modules that measure the policy; None: it is not measured.
    #: validation_rule, held_out_rule: how they were chosen, for display.
    validation_rule: str
    held_out_rule: str
    equal: Mapping[str, str]

    def to_json(self) -> dict[str, Any]:
        """Counts and rules by part, and the names of the modules that validate."""
        validation = {"modules": len(self.validation), "chosen_by": self.validation_rule}
        held_out = {"modules": self.held_out, "chosen_by": self.held_out_rule}
        return {
            "train": {"modules": len(self.train)},
            "validation": {**validation, "names": list(self.validation)},
            **({} if self.held_out is None else {"held_out": held_out}),
            "left_out_as_equal": dict(self.equal),
        }

    def describe(self) -> str:
        """One line: how many modules are for what, and how they were chosen."""
        whole = len(set(self.train) | set(self.validation))
        held_out = "none held out" if self.held_out is None else f"{self.held_out} held out ({self.held_out_rule})"
        return (
            f"modules to learn from: {self.modules}, of which {whole} have decisions: {len(self.train)} train,"
            f" {len(self.validation)} validate ({self.validation_rule}); {held_out}"
        )


def unseen_by(policy: Mapping[str, Any], train_corpus: str) -> frozenset[str]:
    """The modules of a corpus that validated a policy when it was trained on the others; none, where it was trained on
    another corpus or does not say them. Args: policy: its policy.json; train_corpus: the digest of the corpus.
    """
    try:
        training = policy["training"]
        names = training["split"]["validation"]["names"] if training["inputs"]["train_corpus"] == train_corpus else []
        return frozenset(name for name in names if isinstance(name, str))
    except (KeyError, TypeError):
        return frozenset()


def split_modules(
    traced: Sequence[str],
    corpora: RunCorpora,
    settings: RunSettings,
    inputs: RunInputs,
    unseen: Collection[str] | None = None,
) -> ModuleSplit:
    """Splits `traced`, the modules of the corpus to learn from that have decisions. Args: unseen: those that the policy
    to start from is known not to have learned from; None: it starts from none.
    """
    eligible = set(unseen or ()) & set(traced)
    train, validation = validation_split(traced, settings.validation_modules, settings.seed, eligible or None)
    if len(traced) == 1:
        rule = "the only one does both, so its validation score says little"
    else:
        rule = f"drawn with seed {settings.seed}, at most {settings.validation_modules}"
        if len(validation) < settings.validation_modules and not eligible:
            rule += " and fewer of a small corpus"
    if eligible:
        rule += f", of the {len(eligible)} that validated the policy to start from"
    elif unseen is not None:
        rule += "; the policy to start from may have learned from them, then its validation score is too good"
    by = _BY_HASH if inputs.split_corpus is not None else "a corpus of its own"
    parts = corpora.by_part
    held_out = len(parts[split.HELD_OUT].modules) if split.HELD_OUT in parts else None
    return ModuleSplit(len(parts[split.TRAIN].modules), train, validation, held_out, rule, by, corpora.equal)


def modules_of_iteration(names: Sequence[str], iteration: int, count: int, seed: int) -> list[str]:
    """The `count` modules of iteration `iteration`, sorted by name.

    The corpus is walked through in one random order, then in another, and so on; iterations take consecutive pieces. Of
    a piece that spans two walks, a module of the second that is in the piece already is left out.

    Args: count: modules per iteration, >= 1; at least `len(names)` means all of them each time.
    """
    if count >= len(names):
        return sorted(names)
    places = (divmod(place, len(names)) for place in range(iteration * count, (iteration + 1) * count))
    return sorted({names[_permutation(len(names), walk, seed)[index]] for walk, index in places})


def validation_split(
    names: Sequence[str], most: int, seed: int, eligible: Collection[str] | None = None
) -> tuple[list[str], list[str]]:
    """`names` in two parts: to learn from, and at least one and at most `most` for choosing the policy.

    With a single module both parts are that module.

    Args: eligible: those of `names` that may choose the policy, at least one; None: all.
    """
    if len(names) == 1:
        return list(names), list(names)
    modules = len(names)
    limit = max(modules // _VALIDATION_ONE_IN, min(modules // 2, modules - _LEARNED_FROM))
    count = max(1, min(most, limit))
    drawn = determinism.generator(seed, "validation modules").permutation(len(names)).tolist()
    chosen = set([index for index in drawn if eligible is None or names[index] in eligible][:count])
    training = [name for index, name in enumerate(names) if index not in chosen]
    return training, [name for index, name in enumerate(names) if index in chosen]


@functools.lru_cache(maxsize=2)  # A piece spans two walks at most.
def _permutation(count: int, walk: int, seed: int) -> np.ndarray:
    return determinism.generator(seed, "module order", walk).permutation(count)
