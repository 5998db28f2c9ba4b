"""Writes the C++ unit that fills a policy slot (llvm/embedded/EmbeddedModel.h) with compiled policies.

    slot --problem=regalloc_eviction --backend=cpp --slot=EvictionSlot --unit=OUT.cpp \\
        --name= --architectures= --policy=DIR --cpp_class=mlgo::EvictionPolicy --header=policy.h

The last five flags are repeated for each of several policies, and the first policy is the default. The unit includes
each HEADER, which declares the class, and contains the policies' lines of `clang --version`.
"""

import argparse
import dataclasses
import pathlib
import sys
from collections.abc import Sequence

from mlgo.policy.identity import Identity, identity, problem_of
from mlgo.problems.ir2vec import vocabulary_of
from mlgo.run.exit import exit_code_of
from mlgo.run.files import write_atomically

#: Number of printed digits of the digest: a prefix of `sha256sum saved_model.pb`.
_DIGEST_DIGITS = 16

_UNIT = """\
// Written by release/slot.py.
#include "CompiledPolicy.h"
{includes}

static const mlgo::PolicyInside Policies[] = {{
{policies}}};
const mlgo::PolicySlot mlgo::{slot} = {{"{problem}", Policies, {count}}};
"""
_POLICY = """\
    {{
        {name},
        "{problem}",
        {provenance},
        mlgo::CompiledPolicy<{cpp_class}>::create,
        {architectures},
        {vocabulary},
    }},
"""


@dataclasses.dataclass(frozen=True)
class CompiledPolicy:
    """A policy that goes into a slot.

    Attributes:
      who: its identity.
      cpp_class: name of its C++ class, with the namespace.
      header: name of the class's header in the #include.
      name: by which the compiler's option selects it; "" for an only policy.
      architectures: for which it decides without the option.
    """

    who: Identity
    cpp_class: str
    header: str
    name: str = ""
    architectures: tuple[str, ...] = ()


def provenance(who: Identity, backend: str) -> str:
    """The printed text after the problem's name."""
    return f"run {who.training_run}, sha256:{who.digest[:_DIGEST_DIGITS]}, backend {backend}"


def cpp_string(text: str) -> str:
    """`text` as a C++ string literal; bytes other than plain ASCII become octal escapes."""
    plain = "".join(
        chr(byte) if 32 <= byte < 127 and chr(byte) not in '"\\?' else f"\\{byte:03o}" for byte in text.encode("utf-8")
    )
    return f'"{plain}"'


def slot_unit(policies: Sequence[CompiledPolicy], problem: str, backend: str, slot: str) -> str:
    """The unit's text.

    Args: policies: the first is the default. problem: folder below mlgo/problems.
    """
    return _UNIT.format(
        includes="\n".join(f'#include "{policy.header}"' for policy in policies),
        slot=slot,
        problem=problem,
        count=len(policies),
        policies="".join(
            _POLICY.format(
                name=cpp_string(policy.name),
                problem=policy.who.name,
                provenance=cpp_string(provenance(policy.who, backend)),
                cpp_class=policy.cpp_class,
                architectures=cpp_string(" ".join(policy.architectures)),
                vocabulary=cpp_string(str(vocabulary_of(policy.who.name) or "")),
            )
            for policy in policies
        ),
    )


def _listed(architectures: str) -> tuple[str, ...]:
    return tuple(architectures.split(",")) if architectures else ()


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problem", required=True, help="folder below mlgo/problems")
    parser.add_argument("--backend", required=True, help="backend that compiled the policies, for the printed text")
    parser.add_argument(
        "--name", action="append", required=True, help="name that selects the policy; empty for an only policy"
    )
    parser.add_argument(
        "--architectures",
        action="append",
        required=True,
        help="architectures for which the policy decides, with a comma between them; empty for the first policy",
    )
    parser.add_argument(
        "--policy", action="append", required=True, type=pathlib.Path, help="directory of the policy or SavedModel"
    )
    parser.add_argument("--cpp_class", action="append", required=True, help="name of the C++ class, with its namespace")
    parser.add_argument("--header", action="append", required=True, help="name of the class's header in the #include")
    parser.add_argument("--slot", required=True, help="C++ variable of the slot, in the namespace mlgo")
    parser.add_argument("--unit", type=pathlib.Path, required=True, help="C++ unit to write")
    flags = parser.parse_args(arguments)

    def write() -> None:
        policies = [
            CompiledPolicy(
                identity(folder, problem_of(folder, flags.problem)), cpp_class, header, name, _listed(architectures)
            )
            for name, architectures, folder, cpp_class, header in zip(
                flags.name, flags.architectures, flags.policy, flags.cpp_class, flags.header, strict=True
            )
        ]
        text = slot_unit(policies, flags.problem, flags.backend, flags.slot)
        write_atomically(flags.unit, text.encode("utf-8"))

    return exit_code_of(write)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
