"""The statistics of compile_cost, and that a failing compiler is not a fast one."""

import pathlib
import tempfile
import unittest

from mlgo.corpus.corpus import Module
from tests.benchmarks.compile_cost import Variant, compile_once, ratio_interval


class CompileCostTest(unittest.TestCase):
    def test_interval(self):
        others = {f"m{index}": 1.0 + index for index in range(30)}
        self.assertEqual(ratio_interval(others, others, seed=1), (1.0, 1.0))
        times = {name: value * (1.0 if index % 2 else 1.2) for index, (name, value) in enumerate(others.items())}
        low, high = ratio_interval(times, others, seed=1)
        self.assertTrue(1.0 < low < sum(times.values()) / sum(others.values()) < high < 1.2, (low, high))
        self.assertEqual(ratio_interval(times, others, seed=1), (low, high))

    def test_one_compile(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            clang = folder / "clang"
            clang.write_text('#!/bin/sh\necho "$@" >&2; case "$*" in *-bad*) exit 1;; esac\n')
            clang.chmod(0o755)
            module = Module.at("a/b", folder / "module.bc", ("-cc1", "-O2"))
            cost = compile_once(Variant("good", clang), module, "-Oz", folder)
            self.assertGreater(cost.memory_mb, 0)
            self.assertIn("-Oz", (folder / "messages").read_text())
            self.assertNotIn("-O2", (folder / "messages").read_text())
            with self.assertRaisesRegex(RuntimeError, "(?s)bad -Oz fails on a/b:.*-bad"):
                compile_once(Variant("bad", clang, ("-bad",)), module, "-Oz", folder)


if __name__ == "__main__":
    unittest.main()
