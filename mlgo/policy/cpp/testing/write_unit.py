"""Writes the C++ of a made-up policy, as a build step: write_unit CASE HEADER SOURCE. The class is made_up::Policy."""

import pathlib
import sys

from mlgo.policy.cpp.generated_unit import GeneratedUnit, Origin
from mlgo.policy.cpp.testing.made_up import CASES
from mlgo.policy.identity import Identity
from mlgo.run.files import write_atomically


def main(name: str, header: str, source: str) -> None:
    case = CASES[name]
    origin = Origin(Identity(case.problem.name, "made up", "0" * 64), (("problem", case.problem.name), ("case", name)))
    unit = GeneratedUnit(case.network(1), case.problem, "made_up::Policy", pathlib.Path(header).name, origin)
    write_atomically(header, unit.header().encode("ascii"))
    write_atomically(source, unit.source().encode("ascii"))


if __name__ == "__main__":
    main(*sys.argv[1:])
