"""Compile cost with known effects and without."""

import pathlib
import tempfile
import unittest

import numpy as np

from mlgo.evaluation.programs.cost import MEASURES, STAGES, chosen_sources, summarize_cost
from mlgo.evaluation.programs.program import Program, ProgramRun


def _samples(generator, effect, sources=40, turns=3, noise=0.03):
    """Compile times of `sources`, the policy's `effect` times the default's but for noise of machine and source."""
    found = {}
    for source in range(sources):
        seconds = float(np.exp(generator.normal(-1.0, 1.0)))
        own = effect * float(np.exp(generator.normal(0.0, 0.02)))

        def turns_of(factor, seconds=seconds):
            values = (seconds * factor * np.exp(generator.normal(0.0, noise, turns))).tolist()
            return dict.fromkeys((*MEASURES, *STAGES), values)

        found[f"{source}.c"] = {"default": turns_of(1.0), "policy": turns_of(own)}
    return found


class SummarizeCostTest(unittest.TestCase):
    def test_the_interval_covers_a_known_effect_in_95_percent(self):
        generator = np.random.Generator(np.random.Philox(5))
        for effect in (0.98, 1.0):
            covered = 0
            for seed in range(100):
                found = summarize_cost(_samples(generator, effect), "default", seed, resamples=400)["policy"][
                    "cpu_seconds"
                ]
                covered += found["low"] <= effect <= found["high"]
            # 95 are expected; a bootstrap over 40 sources of unequal weight gives a few less.
            self.assertTrue(88 <= covered <= 100, f"{covered} of 100 at {effect}")

    def test_equal_compilers_are_equal(self):
        one = {name: [2.0, 1.0, 9.0] for name in (*MEASURES, *STAGES)}
        found = summarize_cost({name: {"default": one, "same": one} for name in "abc"}, "default", 1)["same"]
        self.assertEqual(
            found["wall_seconds"], {"sum": 6.0, "base_sum": 6.0, "ratio": 1.0, "low": 1.0, "high": 1.0, "sources": 3}
        )
        self.assertEqual(found["memory_mb"], {"median": 2.0, "base_median": 2.0, "more": 0.0, "sources": 3})

    def test_medians_of_turns_are_summed(self):
        def one(*seconds):
            return {name: list(seconds) for name in (*MEASURES, *STAGES)}

        samples = {
            "a": {"default": one(1, 1, 50), "policy": one(2, 2, 2)},
            "b": {"default": one(3, 3, 3), "policy": one(1, 0, 99)},
        }
        found = summarize_cost(samples, "default", 1)["policy"]["inliner"]
        self.assertEqual((found["sum"], found["base_sum"], found["ratio"]), (3, 4, 0.75))
        samples["a"]["default"]["inliner"] = samples["b"]["default"]["inliner"] = [0, 0, 0]
        self.assertNotIn("inliner", summarize_cost(samples, "default", 1)["policy"])


class ChosenSourcesTest(unittest.TestCase):
    def test_they_are_spread_over_sizes_with_the_largest_among_them(self):
        with tempfile.TemporaryDirectory() as scratch:
            root = pathlib.Path(scratch)
            names = [f"{size}.c" for size in range(1, 9)]
            for size, name in enumerate(names, 1):
                (root / name).write_bytes(b"x" * size)
            (root / "9.S").write_bytes(b"x" * 9)
            run = ProgramRun("go", (), None, ())
            program = Program("p", "", root, (*names, "9.S"), (), (), (), (), (), {}, (run,))
            self.assertEqual(chosen_sources(program, 3), ["8.c", "6.c", "3.c"])
            self.assertEqual(chosen_sources(program, 99), names[::-1])


if __name__ == "__main__":
    unittest.main()
