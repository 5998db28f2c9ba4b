"""Random streams: known values."""

import unittest

from mlgo.run.determinism import derive_seed, generator


class SeedsTest(unittest.TestCase):
    def test_seeds_depend_on_every_label_and_its_type(self):
        seeds = [derive_seed(1), derive_seed(2), derive_seed(1, "a"), derive_seed(1, "a", 1), derive_seed(1, "a", "1")]
        seeds += [derive_seed(1, "a", 2), derive_seed(1, "b", 1)]
        self.assertEqual(len(set(seeds)), len(seeds))
        self.assertTrue(all(0 < seed < 2**63 for seed in seeds))

    def test_streams_repeat(self):
        self.assertEqual(generator(1, "x").integers(2**60), generator(1, "x").integers(2**60))
        # The value itself: a change would change every trained policy.
        self.assertEqual(derive_seed(1, "x"), 3678298648931142009)
