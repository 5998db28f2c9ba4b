"""C++ files of our own have the layout that clang-format gives them in LLVM's style."""

import os
import subprocess
import unittest

from mlgo.run import locate
from tests.clones import clone
from tests.style import own_cxx


class ClangFormatTest(unittest.TestCase):
    def test_every_file(self):
        program = locate.rlocation(os.environ["CLANG_FORMAT"])
        libraries = locate.rlocation(os.environ["LIBRARIES"].split()[0]).parent
        root = clone.root()
        files = own_cxx.files(root)
        self.assertGreater(len(files), 80, f"only {len(files)} C++ files below {root}")
        done = subprocess.run(
            [program, "--dry-run", "-Werror", f"--style=file:{root / '.clang-format'}", *files],
            cwd=root,
            env={"LD_LIBRARY_PATH": str(libraries)},
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual(done.returncode, 0, f"{done.stderr[-8000:]}\nSee tests/style/README.md.")


if __name__ == "__main__":
    unittest.main()
