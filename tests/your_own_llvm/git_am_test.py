"""`git am` takes the series of patches in LLVM's unpatched sources, and makes our sources of them."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

from mlgo.run.locate import rlocation, runfile
from patches.llvm.series import needs_ours
from tests.your_own_llvm.pristine import without

#: Major of LLVM, and the runfiles of all sources that our patches change.
MAJOR, *SOURCES = sys.argv[1:]


class GitAmTest(unittest.TestCase):
    def setUp(self):
        versions = json.loads(runfile("third_party/llvm/versions.json").read_text(encoding="utf-8"))["versions"]
        paths = [label.removeprefix("//").replace(":", "/") for label in versions[MAJOR]["patches"]["llvm_source"]]
        self.patches = [(pathlib.Path(path).name, runfile(path).read_text(encoding="utf-8")) for path in paths]
        self.fork = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def git(self, *words: str) -> str:
        command = ["git", "-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgSign=false", *words]
        done = subprocess.run(command, cwd=self.fork, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, f"git {' '.join(words)}: {done.stdout}{done.stderr}")
        return done.stdout

    def test_the_series_applies_to_a_fork(self):
        patched = {}
        for name in SOURCES:
            file = name.partition("/")[2]
            patched[file] = rlocation(name).read_text(encoding="utf-8")
            place = self.fork / file
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(without(self.patches, file, patched[file]), encoding="utf-8")
        self.git("init", "-q")
        self.git("add", ".")
        self.git("commit", "-q", "-m", "LLVM")
        series = sorted(runfile(f"patches/llvm/series_{MAJOR}").iterdir())
        self.git("am", "-q", *map(str, series))
        self.assertEqual(len(self.git("log", "--format=%s").splitlines()), len(series) + 1)
        left_out = [(name, text) for name, text in self.patches if needs_ours(text)]
        for file, source in patched.items():
            self.assertEqual((self.fork / file).read_text(encoding="utf-8"), without(left_out, file, source), file)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
