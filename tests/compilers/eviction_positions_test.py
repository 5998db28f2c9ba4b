"""Eviction where a policy's 33 positions do not fit the registers, or a cap forbids the default's choice."""

import pathlib
import tempfile
import unittest
from collections.abc import Sequence

from mlgo.evaluation.sides import CalleeSavedCost
from tests.compilers import pressure
from tests.compilers.eviction_agreement import PROBLEM, cap_flags, check_agreement, compiled

#: None: LLVM's own.
CAPS = [None, 0, 1, 3, 10]
#: `./bazelw run //tests/compilers:eviction_fuzz` tries more.
SEEDS = range(2)


class EvictionPositionsTest(unittest.TestCase):
    def setUp(self):
        self.source = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory())) / "pressure.c"

    def check(self, text: str, target: pressure.Target, caps: list[int | None], more: Sequence[str] = ()) -> int:
        self.source.write_text(text, encoding="utf-8")
        return check_agreement(self.source, [*target.flags, *more], caps)

    def test_a_register_that_is_a_hint_several_times(self):
        for arms in (2, 12):
            for live in (31, 34):
                with self.subTest(arms=arms, live=live):
                    decided = self.check(pressure.scalable_vectors(live, arms), pressure.SVE, [None, 3])
                    self.assertGreater(decided, 0)

    def test_more_registers_than_positions(self):
        for target in pressure.LARGE:
            for value_type, kind in target.types:
                with self.subTest(target.name, type=value_type):
                    operators = pressure.ARITHMETIC[kind]
                    for arms in (0, 8):
                        text = pressure.loop(value_type, operators, target.live, seed=1, arms=arms)
                        self.check(text, target, [None, 3])

    def test_a_small_cap(self):
        target = pressure.SMALL[0]
        text = pressure.loop("long", pressure.ARITHMETIC["integer"], target.live, seed=1, arms=5)
        self.assertGreater(self.check(text, target, CAPS), 100)
        # The cap reaches the policy: with it, other code comes out.
        flags = [*target.flags, *PROBLEM.release_flags()]
        objects = [compiled("release/clang", self.source, [*flags, *cap_flags(cap)]) for cap in (0, 100)]
        self.assertNotEqual(*objects)

    def test_random_sources(self):
        decided = 0
        for target in (*pressure.SMALL, *pressure.LARGE):
            for seed in SEEDS:
                with self.subTest(target.name, seed=seed):
                    text = pressure.random_source(target, seed)
                    more = CalleeSavedCost(32768, everywhere=True).flags() if seed % 2 else ()
                    decided += self.check(text, target, [CAPS[seed % len(CAPS)], 3], more)
        self.assertGreater(decided, 1000)


if __name__ == "__main__":
    unittest.main()
