"""Writes a policy as C++: one header and one source that need nothing but a C library.

    cpp_policy --policy=DIR --problem=regalloc_eviction --cpp_class=mlgo::EvictionPolicy --header=OUT.h --source=OUT.cpp

DIR was written by mlgo/policy. Equal policies give equal bytes, whatever the machine
and the paths; only the header's own name, which the source includes, is taken from the command line. Exit code 2: the
policy cannot be used; one sentence says which file or tensor is wrong and what to do.
"""

import argparse
import pathlib
import sys
from collections.abc import Mapping
from typing import Any

from mlgo.policy.directory import load_policy
from mlgo.policy.identity import identity, problem_of
from mlgo.problems.problem import Problem, load_problem
from mlgo.run.exit import exit_code_of
from mlgo.run.exit_codes import RunError
from mlgo.run.files import write_atomically
from release.backends.cpp.generated_unit import GeneratedUnit, Origin


def generate(
    policy: pathlib.Path, problem: Problem, cpp_class: str, header: pathlib.Path, source: pathlib.Path
) -> None:
    """Writes `header` and `source`.

    Raises: RunError: `policy` is damaged, of another problem, or not one that mlgo/policy saved.
    """
    if not (policy / "policy.json").exists() and (policy / "saved_model.pb").exists():
        raise RunError(
            f"the policy {policy}",
            "is a SavedModel without policy.json, so the normaliser cannot be separated from the weights",
            'Embed it with backend = "aot"',
        )
    network, record = load_policy(policy, problem)
    unit = GeneratedUnit(network, problem, cpp_class, header.name, origin(policy, problem, record))
    write_atomically(header, unit.header().encode("ascii"))
    write_atomically(source, unit.source().encode("ascii"))


def origin(policy: pathlib.Path, problem: Problem, record: Mapping[str, Any]) -> Origin:
    """The header comment's facts about the origin of the policy in `policy`, without path or time."""
    who = identity(policy, problem.name)
    lines = [
        ("problem", problem.name),
        ("training run", who.training_run),
        *((label, text) for label, keys in _TRAINING_LINES if (text := _text(record.get("training"), keys))),
        ("saved_model.pb", f"sha256 {who.digest[:_DIGITS]}"),
        ("weights.npz", f"sha256 {record['sha256']['weights.npz']}"),
        ("normaliser", _text(record, ("normalizer_digest",)) or "not recorded"),
    ]
    return Origin(who, tuple(lines))


#: Of a digest. Wrapping the lines of a longer text takes its length squared.
_DIGITS = 64

#: Label, and path of the value below "training" in policy.json.
_TRAINING_LINES = (
    ("training corpus", ("inputs", "train_corpus")),
    ("training clang", ("inputs", "clang")),
    ("validation ratio, the lowest of the run", ("learning", "validation_ratio")),
    # Written by versions that had only PPO.
    ("validation ratio, the lowest of the run", ("ppo", "validation_ratio")),
    ("held-out ratio", ("held_out", "all_functions", "policy", "geometric_mean")),
)


def _text(value: Any, keys: tuple[str, ...]) -> str | None:
    for key in keys:
        value = value.get(key) if isinstance(value, Mapping) else None
    if isinstance(value, float):
        return f"{value:.4f}"
    return f"sha256 {value[:_DIGITS]}" if isinstance(value, str) else None


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--policy", type=pathlib.Path, required=True, help="directory of the policy")
    parser.add_argument("--problem", required=True, help="folder below mlgo/problems")
    parser.add_argument("--cpp_class", required=True, help="name of the C++ class, with its namespaces")
    parser.add_argument("--header", type=pathlib.Path, required=True, help="C++ header to write")
    parser.add_argument("--source", type=pathlib.Path, required=True, help="C++ source to write")
    flags = parser.parse_args(arguments)
    return exit_code_of(
        lambda: generate(
            flags.policy, _problem(problem_of(flags.policy, flags.problem)), flags.cpp_class, flags.header, flags.source
        )
    )


def _problem(name: str) -> Problem:
    try:
        return load_problem(name)
    except ValueError as error:
        raise RunError(f"--problem={name}", str(error), "Give the name of a folder below mlgo/problems") from error


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
