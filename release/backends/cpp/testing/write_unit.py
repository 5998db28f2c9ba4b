"""Writes the C++ of a random policy: write_unit CASE HEADER SOURCE. The class is made_up::Policy.

The build of the tests runs it. To write the golden files:

    cd release/backends/cpp/testdata
    ../../../../bazelw run //release/backends/cpp/testing:write_unit -- tiny $PWD/tiny.h $PWD/tiny.cpp
"""

import pathlib
import sys

from mlgo.policy.identity import Identity
from mlgo.run.files import write_atomically
from release.backends.cpp.generated_unit import GeneratedUnit, Origin
from release.backends.cpp.testing.made_up import CASES

SEED = 1


def made_up_unit(name: str, header_name: str) -> GeneratedUnit:
    """The generated unit of CASES[name]."""
    case = CASES[name]
    origin = Origin(Identity(case.problem.name, "made up", "0" * 64), (("problem", case.problem.name), ("case", name)))
    return GeneratedUnit(case.network(SEED), case.problem, "made_up::Policy", header_name, origin)


def main(name: str, header: str, source: str) -> None:
    unit = made_up_unit(name, pathlib.Path(header).name)
    write_atomically(header, unit.header().encode("ascii"))
    write_atomically(source, unit.source().encode("ascii"))


if __name__ == "__main__":
    main(*sys.argv[1:])
