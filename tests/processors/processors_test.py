"""Learning gives the same bytes whatever instructions and caches the processor has.

Of the C library, exp and log with and without fused multiply-add are not compared (docs/train-a-policy.md).
"""

import json
import os
import platform
import subprocess
import sys
import unittest

from tests.processors import learning

#: Variables by which oneDNN, OpenBLAS and NumPy take the processor for an older one.
_OLDER = {
    "ONEDNN_MAX_CPU_ISA": "AVX",
    "OPENBLAS_CORETYPE": "Nehalem",
    "NPY_DISABLE_CPU_FEATURES": "AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL",
}


def _digests(*arguments: str, **variables: str) -> dict[str, str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **variables}
    command = [sys.executable, learning.__file__, *arguments]
    return json.loads(subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE).stdout)


@unittest.skipUnless(platform.machine() == "x86_64", "the disguises are of x86-64 processors")
class ProcessorsTest(unittest.TestCase):
    """Each disguise against this machine as it is."""

    @classmethod
    def setUpClass(cls):
        cls.here = _digests()

    def test_other_instructions(self):
        self.assertEqual(_digests(**_OLDER), self.here)

    def test_other_caches(self):
        for kib in ("16", "48"):
            with self.subTest(f"level 1 of {kib} KiB"):
                self.assertEqual(_digests(kib), self.here)

    def test_the_disguise_of_caches_works(self):
        self.assertNotEqual(_digests("4")["ppo"], self.here["ppo"])


if __name__ == "__main__":
    unittest.main()
