"""Learning gives the same bytes whatever instructions, estimates and caches the processor has."""

import json
import os
import platform
import subprocess
import sys
import unittest
from collections.abc import Sequence

from tests.processors import learning

#: Variables by which oneDNN, OpenBLAS, NumPy and the C library take the processor for an older one.
_OLDER = {
    "ONEDNN_MAX_CPU_ISA": "AVX",
    "OPENBLAS_CORETYPE": "Nehalem",
    "NPY_DISABLE_CPU_FEATURES": "AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL",
    "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2",
}
#: Level 1 caches, in KiB; 0: the processor's own.
_CACHES = ("0", "16", "48")
#: AVX2 without AVX-512. QEMU divides where a processor estimates 1 / x (rcpps): not what Intel and AMD estimate.
_EMULATED = "Haswell"


def _digests(*caches: str, prefix: Sequence[str] = (), **variables: str) -> list[dict[str, str]]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **variables}
    command = [*prefix, sys.executable, learning.__file__, *caches]
    return json.loads(subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE).stdout)


@unittest.skipUnless(platform.machine() == "x86_64", "the disguises are of x86-64 processors")
class ProcessorsTest(unittest.TestCase):
    """Each disguise against this machine as it is."""

    @classmethod
    def setUpClass(cls):
        cls.here, *cls.other_caches = _digests(*_CACHES)

    def assert_as_here(self, there: dict[str, str]) -> None:
        unlike = ("estimates", "long product")
        found, wanted = (
            {name: digest for name, digest in digests.items() if name not in unlike} for digests in (there, self.here)
        )
        self.assertEqual(found, wanted)

    def test_other_instructions(self):
        (there,) = _digests("0", **_OLDER)
        self.assert_as_here(there)

    def test_another_processor(self):
        (there,) = _digests("0", prefix=[_QEMU, "-cpu", _EMULATED])
        self.assert_as_here(there)
        self.assertNotEqual(there["estimates"], self.here["estimates"], "QEMU emulates nothing")

    def test_other_caches(self):
        for kib, there in zip(_CACHES[1:], self.other_caches, strict=True):
            with self.subTest(f"level 1 of {kib} KiB"):
                self.assert_as_here(there)
        self.assertEqual(len({there["long product"] for there in self.other_caches}), 2, "they are no disguise")


if __name__ == "__main__":
    _QEMU = os.path.abspath(sys.argv.pop(1))
    unittest.main()
