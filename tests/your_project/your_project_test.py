"""The commands of docs/train-on-your-project.md, carried out as they stand on two projects of this folder.

your_project_test --tool=NAME=FILE ... --sysroot=FOLDER [--program=LABEL=FILE ...] [--share=FILE ...]

A clone, a home folder and the projects lie in a new folder. Bazel of the clone takes the repositories of the files of
--share as they are fetched here, and fetches all others; without any, Bazel is installed first. `./bazelw run LABEL`
runs the FILE of --program, which the outer Bazel has built, instead of building it again.
"""

import argparse
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

from tests.clones import clone, nested
from tests.your_project import page
from tests.your_project.terminal import Terminal, seconds_of_process

HERE = pathlib.Path(__file__).parent
PAGE = "docs/train-on-your-project.md"
# Longer than any command that needs no Bazel.
_IDLE_SECONDS = 1200
_BAZELW = """#!/bin/sh
# As the outer Bazel has built them.
if [ "$1" = run ]; then
  case $2 in
{cases}
  esac
fi
exec "$(dirname "$0")/bazelw.unchanged" "$@"
"""
_CASE = """    {label})
      shift 2
      [ "$1" = -- ] && shift
      export BUILD_WORKSPACE_DIRECTORY={workspace} BUILD_WORKING_DIRECTORY="$PWD" {tools}
      exec {program} "$@" ;;"""
#: Blocks with these labels are not for the two projects: the reader's own values, and another build system.
_OTHERS = {"Yours", "Bazel"}
# What an assignment of the page's block "Yours" would say.
_OBJECTS = {
    "CMake": '["CMakeFiles/geometry.dir/*", "CMakeFiles/measure.dir/*"]',
    "autotools": '["src/*.o", "programs/transform.o"]',
}
_PROGRAMS = {"CMake": ("measure", "render"), "autotools": ("programs/tally", "programs/transform")}


class YourProjectTest(unittest.TestCase):
    folder: pathlib.Path
    home: pathlib.Path
    work: pathlib.Path
    origin: pathlib.Path
    blocks: list[page.Block]
    programs: dict[str, pathlib.Path]
    shared: list[pathlib.Path]
    sysroot: pathlib.Path
    tools: dict[str, pathlib.Path]

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="project.", dir=os.environ["TEST_TMPDIR"])).resolve()
        cls.addClassCleanup(nested.remove, cls.folder)
        cls.home, cls.work = cls.folder / "home", cls.folder / "work"
        cls.work.mkdir()
        nested.link_archives(cls.home, bazel=bool(cls.shared))
        cls.origin = cls.folder / "origin"
        clone.copy(clone.root(), cls.origin)
        cls.git("init", "--quiet")
        cls.git("add", "--all")
        cls.git("-c", "user.name=test", "-c", "user.email=test@localhost", "commit", "--quiet", "--message=all")
        cls.write_tools()
        cls.addClassCleanup(cls.end_server)
        cls.blocks = page.blocks((cls.origin / PAGE).read_text(encoding="utf-8"))

    @classmethod
    def git(cls, *words: str) -> None:
        subprocess.run(["git", *words], cwd=cls.origin, check=True)

    @classmethod
    def write_tools(cls) -> None:
        """CMake, Ninja and Make for the PATH. Programs of them look for files beside themselves, so no links."""
        (cls.folder / "tools").mkdir()
        for name, path in cls.tools.items():
            program = cls.folder / "tools" / name
            program.write_text(f'#!/bin/sh\nexec {shlex.quote(str(path))} "$@"\n', encoding="utf-8")
            program.chmod(0o755)

    @classmethod
    def server(cls) -> int:
        """Number of the process of the clone's Bazel server; 0: there is none."""
        files = list(cls.home.glob(".cache/bazel/*/*/server/server.pid.txt"))
        return int(files[0].read_text(encoding="utf-8")) if files else 0

    @classmethod
    def end_server(cls) -> None:
        workspace = cls.work / "mlgo"
        if cls.server():
            subprocess.run([workspace / "bazelw", "shutdown"], cwd=workspace, env=cls.environment(), check=True)

    @classmethod
    def environment(cls) -> dict[str, str]:
        """A machine with an empty home, the build tools, and Debian's C and C++ libraries with their headers."""
        outer = nested.environment(os.environ)
        return outer | {
            "CCC_OVERRIDE_OPTIONS": f"# +--sysroot={cls.sysroot}",
            "HOME": str(cls.home),
            "MLGO": str(cls.origin),
            "PATH": f"{cls.folder / 'tools'}:{outer['PATH']}",
            "XDG_CACHE_HOME": "",
        }

    @classmethod
    def prepare(cls, workspace: pathlib.Path) -> None:
        """Gives a new clone what the outer Bazel has fetched and built."""
        options = [f"startup {option}\n" for option in (f"--max_idle_secs={_IDLE_SECONDS}", *nested.SHORT_LIVED)]
        options += [f"common {option}\n" for option in nested.shared_repositories(cls.shared)]
        options += [f"build {option}\n" for option in nested.shared_disk_cache()]
        (workspace / "user.bazelrc").write_text("".join(options), encoding="utf-8")
        launcher = workspace / "bazelw"
        launcher.rename(workspace / "bazelw.unchanged")
        # `bazel run` would set what the BUILD files of the commands name.
        tools = shlex.join(f"{name}={value}" for name, value in os.environ.items() if name.startswith("MLGO_"))
        cases = (
            _CASE.format(
                label=label, workspace=shlex.quote(str(workspace)), tools=tools, program=shlex.quote(str(program))
            )
            for label, program in cls.programs.items()
        )
        launcher.write_text(_BAZELW.format(cases="\n".join(cases)), encoding="utf-8")
        launcher.chmod(0o755)

    def day(self, system: str, goal: str, **values: str) -> Terminal:
        """Carries out the page for one build system and one goal.

        Args: values: those of the page's block "Yours".
        Returns: the terminal in which that happened.
        """
        project = self.folder / system
        shutil.copytree(HERE / f"{system.lower()}_project", project)
        scratch = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        environment = self.environment() | {"PROJECT": str(project), **values}
        terminal = Terminal(scratch, self.work, environment, lambda: seconds_of_process(self.server()))
        workspace = self.work / "mlgo"
        # For the second goal the clone is there; what the first wrote is not what the second expects.
        there = workspace.exists()
        if there:
            shutil.rmtree(workspace / "out", ignore_errors=True)
        for block in self.blocks:
            if block.label not in (None, system, goal):
                continue
            for command in block.commands:
                if there and command.startswith("git clone "):
                    continue
                terminal.run(command)
                if command.startswith("git clone "):
                    self.prepare(workspace)
        self.show(system, goal, terminal)
        return terminal

    def show(self, system: str, goal: str, terminal: Terminal) -> None:
        lines = [f"{cost.seconds:8.1f}  {cost.command[:100]}" for cost in terminal.costs]
        total = sum(cost.seconds for cost in terminal.costs)
        print(f"\nCPU seconds, {system}, {goal}:", *lines, f"{total:8.1f}  together", sep="\n", flush=True)

    def check(self, system: str, terminal: Terminal) -> None:
        """What holds at the end of a day."""
        project, workspace = self.folder / system, self.work / "mlgo"
        self.assertNotIn("argument unused", terminal.output)
        (policy,) = (workspace / "out").glob("mine/policy/policy.json")
        for name in _PROGRAMS[system]:
            program, before = project / "build" / name, project / "build-corpus" / name
            self.assertEqual(self.said(program), self.said(before))
            self.assertNotEqual(program.read_bytes(), before.read_bytes(), f"{name}: did the policy decide?")

    def said(self, program: pathlib.Path) -> bytes:
        text = (HERE / "autotools_project/units.txt").read_bytes()
        return subprocess.run([program], input=text, capture_output=True, check=True).stdout

    def test_labels(self):
        labels = {block.label for block in self.blocks}
        self.assertEqual(labels, {None, "CMake", "autotools", "Smaller", "Faster", *_OTHERS})

    def test_cmake_and_a_smaller_build(self):
        terminal = self.day("CMake", "Smaller", OBJECTS=_OBJECTS["CMake"], RUNS='[{"name": "points"}]')
        self.check("CMake", terminal)

    def test_autotools_and_a_faster_build(self):
        terminal = self.day("autotools", "Faster", OBJECTS=_OBJECTS["autotools"], RUNS='[{"name": "signals"}]')
        self.check("autotools", terminal)


def _pairs(texts: list[str]) -> dict[str, pathlib.Path]:
    pairs = (text.partition("=") for text in texts)
    return {name: pathlib.Path(path).absolute() for name, _, path in pairs}


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", action="append", default=[])
    parser.add_argument("--share", type=pathlib.Path, action="append", default=[])
    parser.add_argument("--sysroot", type=pathlib.Path, required=True)
    parser.add_argument("--tool", action="append", default=[])
    given = parser.parse_args()
    YourProjectTest.programs, YourProjectTest.tools = _pairs(given.program), _pairs(given.tool)
    YourProjectTest.shared, YourProjectTest.sysroot = given.share, given.sysroot.resolve().parent
    unittest.main(argv=sys.argv[:1])
