"""A workspace that depends on mlgo builds and tests a program with its own `mlgo_clang`, and extracts its corpus.

    foreign_workspace_test [--share=FILE ...]

The nested Bazel takes the repositories of the files of --share as they are fetched here; all others it fetches.
"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

from tests.clones import clone, nested
from tests.your_project.page import blocks
from tests.your_project.terminal import Terminal

HERE = pathlib.Path(__file__).parent
EVICTION, INLINING = "-regalloc-enable-advisor=release", "-enable-ml-inliner=release"
# The compilers of mlgo are built without optimisation, which takes half of the time. The workspace's own code is not.
_UNOPTIMISED = ["--per_file_copt=external/@-O0", "--host_per_file_copt=external/@-O0"]


class ForeignWorkspaceTest(unittest.TestCase):
    shared: list[pathlib.Path]
    folder: pathlib.Path
    bazel: nested.NestedBazel
    root: pathlib.Path

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="foreign.", dir=os.environ["TEST_TMPDIR"])).resolve()
        cls.addClassCleanup(nested.remove, cls.folder)
        mlgo = clone.root()
        workspace = cls.folder / "shop"
        shutil.copytree(HERE / "workspace", workspace)
        module = workspace / "MODULE.bazel"
        text = module.read_text(encoding="utf-8")
        assert 'path = "../../.."' in text, text
        module.unlink()
        module.write_text(text.replace('path = "../../.."', f'path = "{mlgo}"'), encoding="utf-8")
        # The workspace's own policy. It decides as -Oz does, which keeps the program small.
        shutil.copytree(HERE.parent / "policies/threshold_inlining_policy", workspace / "inlining_policy")
        options = nested.shared_repositories(cls.shared, "mlgo") + _UNOPTIMISED
        cls.bazel = nested.NestedBazel(mlgo / "bazelw", workspace, cls.folder / "base", options)
        cls.addClassCleanup(cls.bazel.end)
        # Everything can be analysed; the clang is built once, as the compiler of the others.
        cls.bazel.run("build", "--nobuild", "//...")
        cls.bazel.run("test", "--test_output=errors", "//:matrix_test", "//:shop")
        cls.root = pathlib.Path(cls.bazel.run("info", "execution_root").strip())

    def compile_commands(self):
        """The command of every compile of the program's own code that was run: source -> argument list."""
        found = json.loads(self.bazel.run("aquery", "--output=jsonproto", 'mnemonic("CppCompile", deps(//:shop))'))
        commands = {}
        for action in found["actions"]:
            arguments = action["arguments"]
            source = arguments[arguments.index("-c") + 1]
            # An object for position-independent code is described too, and not made.
            if "/" not in source and (self.root / arguments[arguments.index("-o") + 1]).exists():
                commands[source] = arguments
        return commands

    def compile(self, command, *, without=(), compiler=None):
        """The object that a command makes in Bazel's execution root, with another compiler or fewer policies."""
        output = self.folder / "x.o"
        words = command[1:]
        for flag in without:
            at = words.index(flag)
            del words[at - 1 : at + 1]
        words[words.index("-o") + 1] = str(output)
        words[words.index("-MF") + 1] = os.devnull
        done = subprocess.run(
            [compiler or command[0], *words], cwd=self.root, env={}, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise AssertionError(done.stderr)
        return output.read_bytes()

    def compiler_stamp(self):
        """When the workspace's clang was last linked."""
        return (self.root / self.compile_commands()["shop.cc"][0]).stat().st_mtime_ns

    def test_its_own_clang_is_the_compiler(self):
        commands = self.compile_commands()
        self.assertEqual(sorted(commands), ["checksum.c", "matrix.cc", "shop.cc"])
        for source, command in commands.items():
            self.assertRegex(command[0], r"^bazel-out/[^/]+/bin/clang$", source)
            switches = [after for word, after in zip(command, command[1:]) if word == "-mllvm"]
            self.assertEqual(switches, [EVICTION, INLINING] if source == "shop.cc" else [EVICTION], source)

    def test_both_policies_are_inside(self):
        clang = self.compile_commands()["shop.cc"][0]
        said = subprocess.run(
            [clang, "--version"], cwd=self.root, env={}, capture_output=True, text=True, check=True
        ).stdout
        for policy in ("regalloc_eviction, .*sha256:", "inlining_for_size, .*sha256:", "regalloc_priority, none$"):
            self.assertRegex(said, f"(?m)^mlgo policy: {policy}")

    def test_each_policy_decided(self):
        commands = self.compile_commands()
        for source, flag in (("matrix.cc", EVICTION), ("shop.cc", INLINING)):
            command = commands[source]
            built = (self.root / command[command.index("-o") + 1]).read_bytes()
            self.assertEqual(
                built, self.compile(command), f"{source}: the same command makes another object outside of Bazel"
            )
            self.assertNotEqual(
                built, self.compile(command, without=[flag]), f"{source}: {flag} changed nothing: was the policy asked?"
            )

    def test_without_its_flags_it_is_the_packaged_clang(self):
        command = self.compile_commands()["matrix.cc"]
        resources = next(word for word in command if word.startswith("-resource-dir="))
        packaged = str(pathlib.PurePosixPath(resources.removeprefix("-resource-dir=")).parents[2] / "bin/clang")
        off = [EVICTION]
        self.assertEqual(self.compile(command, without=off), self.compile(command, without=off, compiler=packaged))
        with self.assertRaisesRegex(AssertionError, "eviction advisor analysis could not be created"):
            self.compile(command, compiler=packaged)

    def test_the_packaged_clang_built_it(self):
        found = json.loads(
            self.bazel.run("aquery", "--output=jsonproto", 'mnemonic("CppCompile|CppLink", deps(//:toolchain_clang))')
        )
        tools = {action["arguments"][0] for action in found["actions"]}
        self.assertEqual(len(tools), 1, tools)
        self.assertRegex(tools.pop(), r"^external/.*llvm22/usr/lib/llvm-22/bin/clang$")

    def test_a_corpus_of_what_the_program_links(self):
        aspect = "--aspects=@mlgo//mlgo/corpus:defs.bzl%corpus_aspect"
        self.bazel.run("build", aspect, "--output_groups=mlgo_corpus", "//:shop")
        corpus = pathlib.Path(self.bazel.run("info", "bazel-bin").strip(), "shop.mlgo_corpus")
        described = json.loads((corpus / "corpus_description.json").read_bytes())
        self.assertEqual(described["modules"], ["checksum.c", "matrix.cc", "shop.cc"])
        for module in described["modules"]:
            self.assertTrue((corpus / f"{module}.bc").read_bytes().startswith(b"BC\xc0\xde"), module)
            command = (corpus / f"{module}.cmd").read_bytes().split(b"\0")
            self.assertIn(b"-Os" if module == "shop.cc" else b"-O2", command)
            # Its own compiler's policies are not a module's.
            self.assertNotIn(b"-mllvm", command)

    def test_the_lines_of_the_page_for_bazel(self):
        before = self.compiler_stamp()
        page = (clone.root() / "docs/train-on-your-project.md").read_text(encoding="utf-8")
        bin_folder, work = self.folder / "programs", self.folder / "work"
        bin_folder.mkdir()
        work.mkdir()
        self.bazel.write_program(bin_folder / "bazel")
        outer = nested.environment(os.environ)
        values = {"PROJECT": str(self.bazel.workspace), "PACKAGE": "", "NAME": "shop", "LEVEL": "-Oz"}
        terminal = Terminal(self.folder, work, outer | values | {"PATH": f"{bin_folder}:{outer['PATH']}"})
        for block in blocks(page):
            for command in block.commands if block.label == "Bazel" else ():
                terminal.run(command)
        described = json.loads((work / "out/corpus/corpus_description.json").read_bytes())
        self.assertEqual(described["modules"], ["checksum.c", "matrix.cc", "shop.cc"])
        self.assertIn(b"-Oz", (work / "out/corpus/shop.cc.cmd").read_bytes().split(b"\0"))
        # Its PATH is another one, for which nothing is compiled again.
        self.assertEqual(self.compiler_stamp(), before)

    def test_the_program_runs(self):
        # The sum over k of (21 + k) (7 + 3 k), and FNV-1a of "shop".
        self.assertEqual(self.bazel.run("run", "--ui_event_filters=-info", "//:shop"), "3556 a847e0a9\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--share", type=pathlib.Path, action="append", default=[])
    ForeignWorkspaceTest.shared = parser.parse_args().share
    unittest.main(argv=sys.argv[:1])
