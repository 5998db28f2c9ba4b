"""The tests of the commits for LLVM, run by LLVM's lit: they fail with the packaged programs and pass with ours."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

from mlgo.run.locate import rlocation, runfile

_UPSTREAM = "patches/llvm/proposed"
_MODELS = "llvm/lib/Analysis/models"

_CONFIGURATION = """\
import lit.formats
config.name = "upstream"
config.test_format = lit.formats.ShTest(False)
config.suffixes = [".c", ".ll"]
config.test_exec_root = {output!r}
config.environment["PATH"] = {path!r}
config.environment["LD_LIBRARY_PATH"] = {libraries!r}
config.substitutions += [("%python", {python!r}), ("%clang", "clang")]
config.available_features.update({features!r})
"""


def _file(variable: str) -> pathlib.Path:
    """The file whose runfiles path `variable` of the environment has; the first, if it has several."""
    return rlocation(os.environ[variable].split()[0])


class LitTest(unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory())).resolve()
        # Laid out as in LLVM's sources: tests find the log reader from their own place.
        for part in ("clang", "llvm"):
            shutil.copytree(runfile(f"{_UPSTREAM}/{part}"), self.root / part)
        models = self.root / _MODELS
        models.mkdir(parents=True)
        for name in ("LOG_READER", "INTERACTIVE_HOST"):
            shutil.copy(_file(name), models)

    def lit(self, programs: dict[str, pathlib.Path], features: list[str]) -> dict[str, str]:
        """The result of each test: file name -> "PASS", "FAIL" or "UNSUPPORTED"."""
        tools = self.root / "tools"
        tools.mkdir()
        for name, program in programs.items():
            # A link, because clang and our programs find their own files from their place.
            (tools / name).symlink_to(program)
        for name in ("FILECHECK", "NOT"):
            (tools / _file(name).name).symlink_to(_file(name))
        configuration = _CONFIGURATION.format(
            output=str(self.root / "out"),
            path=f"{tools}:{os.environ['PATH']}",
            libraries=str(_file("LIBRARIES").parent),
            python=sys.executable,
            features=["x86_64-linux", "powerpc-registered-target", *features],
        )
        (self.root / "lit.cfg.py").write_text(configuration, encoding="utf-8")
        done = subprocess.run(
            [sys.executable, "-c", "from lit.main import main; main()", "-v", "-j1", str(self.root)],
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONPATH": str(_file("LIT"))},
            timeout=600,
        )
        rows = [line.split() for line in done.stdout.splitlines() if " :: " in line]
        found = {row[3].rpartition("/")[2]: row[0].rstrip(":") for row in rows if row[1:3] == ["upstream", "::"]}
        self.assertTrue(found, done.stdout + done.stderr)
        self.said = done.stdout
        return found

    def all_tests(self, result: str) -> dict[str, str]:
        """File name -> `result`, of each test."""
        files = (path for part in ("clang", "llvm") for path in (self.root / part).rglob("*"))
        return {path.name: result for path in files if path.suffix in (".c", ".ll")}

    def test_patched_programs_pass(self):
        programs = {name: runfile(f"development/{name}") for name in ("clang", "llc", "opt")}
        found = self.lit(programs, ["have_tflite"])
        self.assertEqual(found, self.all_tests("PASS"), self.said)

    def test_packaged_programs_fail(self):
        programs = {name: _file(f"PACKAGED_{name.upper()}") for name in ("clang", "llc", "opt")}
        found = self.lit(programs, [])
        # The packaged programs have no development mode.
        expected = {**self.all_tests("FAIL"), "dev-mode-prio-default-features.ll": "UNSUPPORTED"}
        self.assertEqual(found, expected, self.said)


if __name__ == "__main__":
    unittest.main()
