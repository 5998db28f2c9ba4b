"""An LLVM without our patches takes the decisions of ours, with the header and the object of `cmake_models`."""

import pathlib
import subprocess
import tempfile
import unittest

from mlgo.run.locate import runfile
from tests.compilers.modules import SIZE_CORPUS, held_out_modules

INLINE = ["-passes=default<Oz>", "-enable-ml-inliner=release"]
ALLOCATE = ["-O2", "-filetype=obj", "-regalloc-enable-advisor=release"]
_TIMEOUT_SECONDS = 300


class SameDecisionsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def output(self, program: str, bitcode: pathlib.Path, flags: list[str]) -> bytes:
        output = self.folder / "output"
        command = [runfile(f"tests/your_own_llvm/{program}"), *flags, bitcode, "-o", output]
        done = subprocess.run(command, capture_output=True, text=True, timeout=_TIMEOUT_SECONDS, check=False)
        self.assertEqual(done.returncode, 0, f"{program} on {bitcode}: {done.stderr[-2000:]}")
        return output.read_bytes()

    def compare(self, program: str, corpus: list[pathlib.Path], flags: list[str]) -> list[bytes]:
        """The outputs of the program of ours, which are those of the stock one; the policy must have changed one."""
        ours = [self.output(program, bitcode, flags) for bitcode in corpus]
        for bitcode, wanted in zip(corpus, ours, strict=True):
            self.assertEqual(
                self.output(f"stock_{program}", bitcode, flags), wanted, f"{bitcode.name}: {program} differs"
            )
        default = [self.output(program, bitcode, flags[:-1]) for bitcode in corpus]
        self.assertNotEqual(ours, default, f"{flags[-1]} changed no output: was the policy asked?")
        return ours

    def bitcode(self, corpus: str) -> list[pathlib.Path]:
        found = []
        for index, module in enumerate(held_out_modules(corpus)):
            folder = self.folder / f"{pathlib.Path(corpus).name}_{index}"
            folder.mkdir()
            found.append(module.bitcode_file(folder))
        return found

    def test_inlining_and_then_eviction(self):
        inlined = []
        for index, content in enumerate(self.compare("opt", self.bitcode(SIZE_CORPUS), INLINE)):
            inlined.append(self.folder / f"inlined_{index}.bc")
            inlined[-1].write_bytes(content)
        self.compare("llc", inlined, ALLOCATE)

    def test_eviction_at_O2(self):
        self.compare("llc", self.bitcode("mlgo/corpus/llvm_small_held_out"), ALLOCATE)


if __name__ == "__main__":
    unittest.main()
