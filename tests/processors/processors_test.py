"""Learning gives the same bytes whatever instructions, estimates and caches the processor has."""

import json
import os
import pathlib
import subprocess
import sys
import unittest
from collections.abc import Sequence

#: Not imported: this process needs no TensorFlow.
_LEARNING = pathlib.Path(__file__).with_name("learning.py")
#: Variables by which oneDNN, OpenBLAS and NumPy take the processor for an older one.
_OLDER = {
    "ONEDNN_MAX_CPU_ISA": "AVX",
    "OPENBLAS_CORETYPE": "Nehalem",
    "NPY_DISABLE_CPU_FEATURES": "AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL",
}
#: Level 1 caches, in KiB; 0: the processor's own.
_CACHES = ("0", "16", "48")
#: A cache that is too small for the blocks of this result's products.
_TINY_CACHE, _CHANGED = "4", "ppo of categorical decisions"
#: AVX2 without AVX-512. QEMU divides where a processor estimates 1 / x (rcpps): not what Intel and AMD estimate.
_EMULATED = "Haswell"


def _digests(*caches: str, prefix: Sequence[str] = (), **variables: str) -> list[dict[str, str]]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **variables}
    command = [*prefix, sys.executable, str(_LEARNING), *caches]
    return json.loads(subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE).stdout)


class ProcessorsTest(unittest.TestCase):
    """Each disguise against this machine as it is."""

    here: dict[str, str]
    tiny_cache: dict[str, str]
    other_caches: list[dict[str, str]]
    estimates: str

    @classmethod
    def setUpClass(cls):
        cls.here, *cls.other_caches, cls.tiny_cache = _digests(*_CACHES, f"{_TINY_CACHE}={_CHANGED}")
        cls.estimates = cls.here.pop("estimates")

    def assert_as_here(self, there: dict[str, str]) -> str:
        """Returns: the digest of the estimates."""
        estimates = there.pop("estimates")
        self.assertEqual(there, self.here)
        return estimates

    def test_other_instructions(self):
        (there,) = _digests("0", **_OLDER)
        self.assert_as_here(there)

    def test_another_processor(self):
        (there,) = _digests("0", prefix=[_QEMU, "-cpu", _EMULATED])
        self.assertNotEqual(self.assert_as_here(there), self.estimates, "QEMU emulates nothing")

    def test_other_functions_of_the_c_library(self):
        (there,) = _digests("0", GLIBC_TUNABLES="glibc.cpu.hwcaps=-AVX2")
        self.assert_as_here(there)

    def test_other_caches(self):
        for kib, there in zip(_CACHES[1:], self.other_caches, strict=True):
            with self.subTest(f"level 1 of {kib} KiB"):
                self.assert_as_here(there)

    def test_the_disguise_of_caches_works(self):
        self.assertNotEqual(self.tiny_cache[_CHANGED], self.here[_CHANGED])


if __name__ == "__main__":
    _QEMU = os.path.abspath(sys.argv.pop(1))
    unittest.main()
