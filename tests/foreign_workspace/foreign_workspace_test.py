"""A workspace that depends on mlgo builds and tests a program with a clang it made by `mlgo_clang`.

Argument: any number of files, one of each fetched repository that the nested Bazel may share.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

from tests.clones import clone, nested

HERE = pathlib.Path(__file__).parent
POLICY_ON = ["-mllvm", "-regalloc-enable-advisor=release"]


class ForeignWorkspaceTest(unittest.TestCase):
    shared: list[pathlib.Path]

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
        cls.bazel = nested.NestedBazel(
            mlgo / "bazelw", workspace, cls.folder / "base", nested.shared_repositories(cls.shared, "mlgo"))
        cls.addClassCleanup(cls.bazel.end)
        cls.tested = cls.bazel.run("test", "--test_output=errors", "//...")
        cls.root = pathlib.Path(cls.bazel.run("info", "execution_root").strip())

    def compile_commands(self):
        """The command of every C and C++ compile of the workspace's own code: source -> argument list."""
        found = json.loads(self.bazel.run("aquery", "--output=jsonproto", 'mnemonic("CppCompile", deps(//:shop))'))
        commands = {}
        for action in found["actions"]:
            arguments = action["arguments"]
            source = arguments[arguments.index("-c") + 1]
            if "/" not in source:
                commands[source] = arguments
        return commands

    def compile(self, command, *, without=(), compiler=None):
        """The object that a command makes in Bazel's execution root, with another compiler or fewer flags."""
        output = self.folder / "x.o"
        words = [word for word in command[1:] if word not in without]
        words[words.index("-o") + 1] = str(output)
        words[words.index("-MF") + 1] = os.devnull
        done = subprocess.run([compiler or command[0], *words], cwd=self.root, env={}, capture_output=True, text=True, check=False)
        if done.returncode:
            raise AssertionError(done.stderr)
        return output.read_bytes()

    def test_its_own_clang_is_the_compiler(self):
        commands = self.compile_commands()
        self.assertEqual(sorted(commands), ["checksum.c", "matrix.cc", "shop.cc"])
        for source, command in commands.items():
            self.assertRegex(command[0], r"^bazel-out/[^/]+/bin/clang$", source)
            self.assertEqual(command[command.index("-mllvm"):][:2], POLICY_ON, source)

    def test_the_policy_decided(self):
        command = self.compile_commands()["matrix.cc"]
        built = (self.root / command[command.index("-o") + 1]).read_bytes()
        self.assertEqual(built, self.compile(command), "the same command makes another object outside of Bazel")
        heuristic = self.compile(command, without=POLICY_ON)
        self.assertNotEqual(built, heuristic, "the policy changed nothing: was it asked?")
        packaged = "external/" + self.shared[0].resolve().relative_to(
            nested.repository_of(self.shared[0]).parent).as_posix().replace("_main", "mlgo~", 1)
        self.assertEqual(heuristic, self.compile(command, without=POLICY_ON, compiler=packaged), "off, it is not the packaged clang")

    def test_the_packaged_clang_built_it(self):
        found = json.loads(self.bazel.run("aquery", "--output=jsonproto", 'mnemonic("CppLink", deps(//:shop))'))
        linked = {action["arguments"][action["arguments"].index("-o") + 1]: action["arguments"][0]
                  for action in found["actions"] if "-o" in action["arguments"]}
        clangs = {output: linker for output, linker in linked.items() if output.endswith("/bin/clang.llvm/bin/clang")}
        self.assertEqual(len(clangs), 1, linked)
        self.assertRegex(*clangs.values(), r"^external/.*llvm22/usr/lib/llvm-22/bin/clang$")

    def test_the_program_runs(self):
        program = self.bazel.run("run", "--ui_event_filters=-info", "//:shop")
        self.assertEqual(program, "1876 e0c8a4b1\n")


if __name__ == "__main__":
    ForeignWorkspaceTest.shared = [pathlib.Path(argument) for argument in sys.argv[1:]]
    unittest.main(argv=sys.argv[:1])
