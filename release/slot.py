"""Writes the C++ unit that fills a policy slot (llvm/embedded/EmbeddedModel.h) with a compiled policy.

    slot --policy=DIR --problem=regalloc_eviction --backend=cpp --cpp_class=mlgo::EvictionPolicy --header=policy.h \\
        --slot=EvictionSlot --unit=OUT.cpp

The unit includes HEADER, which declares the class, and contains the policy's line of `clang --version`.
"""

import argparse
import pathlib
import sys

from mlgo.policy.identity import Identity, identity, problem_of
from mlgo.problems.ir2vec import vocabulary_of
from mlgo.run.exit import exit_code_of
from mlgo.run.files import write_atomically

#: Number of printed digits of the digest: a prefix of `sha256sum saved_model.pb`.
_DIGEST_DIGITS = 16

_UNIT = """\
// Written by release/slot.py.
#include "CompiledPolicy.h"
#include "{header}"

const mlgo::PolicySlot mlgo::{slot} = {{
    "{problem}",
    {provenance},
    mlgo::CompiledPolicy<{cpp_class}>::create,
    {vocabulary},
}};
"""


def provenance(who: Identity, backend: str) -> str:
    """The printed text after the problem's name."""
    return f"run {who.training_run}, sha256:{who.digest[:_DIGEST_DIGITS]}, backend {backend}"


def cpp_string(text: str) -> str:
    """`text` as a C++ string literal; bytes other than plain ASCII become octal escapes."""
    plain = "".join(
        chr(byte) if 32 <= byte < 127 and chr(byte) not in '"\\?' else f"\\{byte:03o}" for byte in text.encode("utf-8")
    )
    return f'"{plain}"'


def slot_unit(who: Identity, backend: str, cpp_class: str, header: str, slot: str) -> str:
    """The unit's text."""
    return _UNIT.format(
        header=header,
        slot=slot,
        problem=who.name,
        provenance=cpp_string(provenance(who, backend)),
        cpp_class=cpp_class,
        vocabulary=cpp_string(str(vocabulary_of(who.name) or "")),
    )


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--policy", type=pathlib.Path, required=True, help="directory of the policy or SavedModel")
    parser.add_argument("--problem", required=True, help="folder below mlgo/problems")
    parser.add_argument("--backend", required=True, help="backend that compiled the policy, for the printed text")
    parser.add_argument("--cpp_class", required=True, help="name of the C++ class, with its namespace")
    parser.add_argument("--header", required=True, help="name of the class's header in the #include")
    parser.add_argument("--slot", required=True, help="C++ variable of the slot, in the namespace mlgo")
    parser.add_argument("--unit", type=pathlib.Path, required=True, help="C++ unit to write")
    flags = parser.parse_args(arguments)

    def write() -> None:
        who = identity(flags.policy, problem_of(flags.policy, flags.problem))
        text = slot_unit(who, flags.backend, flags.cpp_class, flags.header, flags.slot)
        write_atomically(flags.unit, text.encode("utf-8"))

    return exit_code_of(write)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
