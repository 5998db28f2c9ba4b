"""pip installs the wheel into an empty virtual environment without a network, and it works there without Bazel.

wheel_test --wheel=FILE --site=FOLDER --pip=FOLDER --corpus=FOLDER --clang=NAME=FILE ...
  [--compiled=FOLDER (--python=FILE | --machines_python=VERSION)]

The virtual environment is of the Python that runs the test, or another one, for which --compiled has what is compiled.
"""

import argparse
import json
import os
import pathlib
import pwd
import shutil
import subprocess
import sys
import tempfile
import unittest

from tests.wheel import site_wheels

#: What the wheel requires, and what that requires.
REQUIRED = [
    "cloudpickle",
    "farama-notifications",
    "gin-config",
    "gymnasium",
    "markdown-it-py",
    "mdurl",
    "numpy",
    "pygments",
    "rich",
    "typing-extensions",
    "zstandard",
]
#: Of a policy that a stock clang can ask.
_RECORD = "models/regalloc_eviction/policy/policy.json"
POLICY = pathlib.Path(os.environ["TEST_SRCDIR"], os.environ["TEST_WORKSPACE"], _RECORD).resolve().parent
#: Of the modules of the corpus.
FOLDER = "mlgo/environments/testdata"
EPISODE = """
import sys, gymnasium, mlgo.environments
corpus, clang = sys.argv[1:]
environment = gymnasium.make("mlgo/RegallocEviction-v0", corpus=corpus, clang=clang)
observation, info = environment.reset(seed=1)
ended, decisions = False, 0
while not ended:
    action = environment.action_space.sample(mask=info["action_mask"])
    observation, reward, terminated, truncated, info = environment.step(action)
    decisions, ended = decisions + 1, terminated or truncated
assert terminated and "score" in info, info
print(decisions, info["module"])
"""


class WheelTest(unittest.TestCase):
    clangs: dict[str, pathlib.Path]
    compiled: pathlib.Path | None
    corpus: pathlib.Path
    pip: pathlib.Path
    #: None: this machine has none of the version that is asked for.
    python: pathlib.Path | None
    site: pathlib.Path
    wheel: pathlib.Path
    folder: pathlib.Path
    venv: pathlib.Path
    listed: str

    @classmethod
    def setUpClass(cls):
        if cls.python is None:
            raise unittest.SkipTest("neither the PATH nor pyenv of this machine has a Python of the version")
        cls.folder = pathlib.Path(tempfile.mkdtemp(dir=os.environ["TEST_TMPDIR"]))
        cls.venv, wheels = cls.folder / "venv", cls.folder / "wheels"
        wheels.mkdir()
        links, packed = [f"--find-links={wheels}"], REQUIRED
        if cls.compiled is not None:
            there = {path.name.partition("-")[0] for path in cls.compiled.glob("*.whl")}
            links.append(f"--find-links={cls.compiled}")
            packed = [name for name in REQUIRED if name not in there]
        site_wheels.pack(cls.site, packed, wheels)
        cls.call([cls.python, "-m", "venv", "--without-pip", cls.venv])
        (pip,) = cls.pip.glob("pip-*.whl")
        install = ["install", "--quiet", "--no-index", *links, "--no-cache-dir", cls.wheel]
        cls.call([cls.venv / "bin/python", f"{pip}/pip", *install])
        cls.listed = cls.call([cls.venv / "bin/python", f"{pip}/pip", "list", "--format=json"])

    @classmethod
    def run_program(cls, words, **variables):
        """A finished process; it has only the variables named here."""
        environment = {"HOME": str(cls.folder), "PATH": f"{cls.venv}/bin:{os.defpath}", "PIP_CONFIG_FILE": os.devnull}
        return subprocess.run(
            words, cwd=cls.folder, env=environment | variables, capture_output=True, text=True, check=False
        )

    @classmethod
    def call(cls, words, **variables) -> str:
        done = cls.run_program(words, **variables)
        if done.returncode:
            raise AssertionError(f"{words}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def test_it_installs_what_it_needs_and_no_more(self):
        found = {package["name"].lower().replace("_", "-") for package in json.loads(self.listed)}
        self.assertEqual(found, {"mlgo", *REQUIRED})

    def test_an_episode(self):
        for name, clang in self.clangs.items():
            with self.subTest(clang=name):
                decisions, _ = self.call([self.venv / "bin/python", "-c", EPISODE, self.corpus, clang]).split()
                self.assertGreater(int(decisions), 10)

    def test_corpus_info(self):
        self.assertIn("2 modules", self.call(["mlgo-corpus-info", f"--corpus={self.corpus}"]))

    def test_the_command_in_front_of_a_build(self):
        self.assertIn("mlgo faster --run=", self.call(["mlgo", "--help"]))
        done = self.run_program(["mlgo", "smaller", f"--prefix={self.folder}", "--", "make"])
        self.assertEqual(done.returncode, 2)
        self.assertIn("holds no compiler: bin/clang is not there", done.stderr)

    def evaluate(self, name, *arguments):
        words = ["mlgo-evaluate", f"--policy={POLICY}", f"--corpus={self.corpus}", f"--json={name}.json"]
        return self.call([*words, *arguments]), json.loads((self.folder / f"{name}.json").read_bytes())

    def test_an_evaluation_is_the_same_with_all_clangs(self):
        found = {name: self.evaluate(name, f"--clang={clang}") for name, clang in self.clangs.items()}
        said, content = found["debian"]
        self.assertEqual(sorted(content["modules"]), [f"{FOLDER}/convolve.cc", f"{FOLDER}/pressure.c"])
        self.assertRegex(said, r"weighed spills, reloads and copies: [-+]\d")
        self.assertTrue(said.endswith("done 2 of 2 modules, 0 failed\n"), said)
        for module in content["modules"].values():
            self.assertEqual(module["failure"], "")
        # Otherwise this would show nothing.
        self.assertTrue(any(module["default"] != module["policy"] for module in content["modules"].values()))
        for name, (_, other) in found.items():
            self.assertEqual(other, content, name)

    def test_the_clang_of_the_path_compiles(self):
        (self.folder / "bin").mkdir()
        (self.folder / "bin/clang-22").symlink_to(self.clangs["debian"])
        words = ["mlgo-compile", f"--corpus={self.corpus}", f"--module={FOLDER}/pressure.c"]
        path = f"{self.folder}/bin:{self.venv}/bin:{os.defpath}"
        self.call([*words, "--output=default.o"], PATH=path)
        self.call([*words, f"--policy={POLICY}", "--output=policy.o"], PATH=path)
        default, policy = ((self.folder / name).read_bytes() for name in ("default.o", "policy.o"))
        self.assertTrue(default.startswith(b"\x7fELF") and policy.startswith(b"\x7fELF"))
        self.assertNotEqual(default, policy)

    def test_without_a_clang(self):
        done = self.run_program(["mlgo-evaluate", f"--policy={POLICY}", f"--corpus={self.corpus}"])
        self.assertEqual(done.returncode, 2)
        self.assertIn("clang: is not given, and the PATH has no clang-22. Give the path of a clang 22", done.stderr)
        self.assertNotIn("Traceback", done.stderr)

    def test_a_policy_with_features_of_ours_is_refused(self):
        record = json.loads((POLICY / "policy.json").read_bytes())
        changed = self.folder / "changed"
        changed.mkdir()
        (changed / "policy.json").write_text(json.dumps({**record, "features": [*record["features"], "colour"]}))
        done = self.run_program(
            ["mlgo-evaluate", f"--policy={changed}", f"--corpus={self.corpus}", "--clang=/bin/true"]
        )
        self.assertEqual(done.returncode, 2)
        self.assertIn("colour", done.stderr)
        self.assertNotIn("Traceback", done.stderr)


def python_of_machine(version: str) -> pathlib.Path | None:
    """A Python of this machine: of the PATH, or of pyenv. Args: version: such as 3.12."""
    name = f"python{version}"
    if found := shutil.which(name):
        return pathlib.Path(found)
    home = pathlib.Path(pwd.getpwuid(os.getuid()).pw_dir)
    return next(iter(sorted(home.glob(f".pyenv/versions/{version}.*/bin/{name}"))), None)


def _pairs(texts: list[str]) -> dict[str, pathlib.Path]:
    pairs = (text.partition("=") for text in texts)
    return {name: pathlib.Path(path).absolute() for name, _, path in pairs}


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--clang", action="append", default=[])
    for flag in ("corpus", "pip", "site", "wheel"):
        parser.add_argument(f"--{flag}", type=pathlib.Path, required=True)
    parser.add_argument("--compiled", type=pathlib.Path)
    parser.add_argument("--python", type=pathlib.Path, default=sys.executable)
    parser.add_argument("--machines_python", metavar="VERSION")
    flags = parser.parse_args()
    for flag in ("corpus", "pip", "site"):
        setattr(WheelTest, flag, getattr(flags, flag).resolve())
    WheelTest.compiled = flags.compiled and flags.compiled.resolve()
    of_machine = flags.machines_python
    WheelTest.python = python_of_machine(of_machine) if of_machine else flags.python.resolve()
    # pip reads a wheel's name.
    WheelTest.wheel, WheelTest.clangs = flags.wheel.absolute(), _pairs(flags.clang)
    unittest.main(argv=sys.argv[:1])
