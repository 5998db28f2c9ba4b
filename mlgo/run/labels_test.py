"""Labels are built by the workspace's Bazel, in the configuration of the command, when they are used."""

import hashlib
import json
import os
import signal
import subprocess
import sys
import textwrap
import unittest
import unittest.mock

from mlgo.run import labels
from mlgo.run.exit_codes import RunError
from mlgo.run.testing.folder_case import FolderCase

# A Bazel that knows //a:corpus, a folder; //a:source, a file of the workspace; @b//:file; and //a:two, which has two
# files. It refuses other options than those of the command, and writes down its words and what it sees of the command.
_BAZELW = """\
#!{python}
import json, os, pathlib, signal, sys, time
root, base = pathlib.Path({root!r}), pathlib.Path({base!r})
words = sys.argv[1:]
seen = sorted(name for name in os.environ if "RUNFILES" in name or name.startswith("BUILD_"))
with open(root / "calls", "a") as calls:
    calls.write(json.dumps([words, os.getcwd(), seen]) + "\\n")
*startup, command = words[: len({startup!r}) + 1]
*options, separator, label = words[len(startup) + 1 :]
if startup != {startup!r} or separator != "--" or options[:2] != ["--compilation_mode=opt", "--//x:flag=True"]:
    sys.exit(2)
outputs = {{
    "//a:corpus": ["bazel-out/k8-opt/bin/a/corpus"],
    "//a:source": ["a/source"],
    "@b//:file": ["external/b/file"],
    "//a:two": ["a/source", "bazel-out/k8-opt/bin/a/corpus"],
}}
if command == "build":
    if "--experimental_convenience_symlinks=ignore" not in options:
        (root / "bazel-bin").unlink(missing_ok=True)
    if label == "//a:slow":
        signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(8))
        print("ready", file=sys.stderr, flush=True)
        time.sleep(600)
    if label == "//a:interrupted":
        sys.exit(8)
    if label not in outputs:
        print("ERROR: no such target", file=sys.stderr)
        sys.exit(1)
    (base / "execroot/_main/bazel-out/k8-opt/bin/a/corpus").mkdir(parents=True, exist_ok=True)
elif command == "cquery" and "--output=files" in options:
    print("\\n".join(outputs[label]))
else:
    sys.exit(2)
"""


class IsLabelTest(unittest.TestCase):
    def test_table(self):
        known = ["//mlgo/corpus:llvm_small", "//:top", "@mlgo//mlgo/corpus:zstd", "@@mlgo~//mlgo/corpus:zstd"]
        known += ["//no/such/package"]
        paths = ["//tmp", "/tmp", "//data//x", "data:x", "a//b:c", "corpus", ""]
        self.assertEqual([value for value in [*known, *paths] if labels.is_label(value)], known)


class BuiltTest(FolderCase):
    def setUp(self):
        super().setUp()
        self.addCleanup(labels.built.cache_clear)
        self.root = self.folder / "clone"
        self.base = self.root.parent / "bazel" / hashlib.md5(os.fsencode(self.root)).hexdigest()
        written = self.base / "execroot/_main/bazel-out/k8-opt/bin/build_options.json"
        self.file(written, json.dumps(["--compilation_mode=opt", "--//x:flag=True"]))
        self.options = self.root.parent / "command.runfiles" / "build_options.json"
        self.options.parent.mkdir()
        self.options.symlink_to(written)
        self.file(self.root / "a/source", "x")
        self.file(self.base / "external/b/file", "x")
        self.put_bazelw(f"--output_user_root={self.base.parent}")

    def put_bazelw(self, *startup):
        text = _BAZELW.format(python=sys.executable, root=str(self.root), base=str(self.base), startup=list(startup))
        self.script("clone/bazelw", text)

    def calls(self):
        return [json.loads(line) for line in (self.root / "calls").read_text(encoding="utf-8").splitlines()]

    def built(self, label):
        return labels.built(label, self.root, self.options)

    def test_what_bazel_makes(self):
        for label, expected in (
            ("//a:corpus", self.base / "execroot/_main/bazel-out/k8-opt/bin/a/corpus"),
            ("//a:source", self.root / "a/source"),
            ("@b//:file", self.base / "external/b/file"),
        ):
            with self.subTest(label):
                self.assertEqual(self.built(label), expected)

    def test_the_users_links_stay(self):
        link = self.root / "bazel-bin"
        link.symlink_to("somewhere")
        self.built("@b//:file")
        self.assertTrue(link.is_symlink())

    def test_bazel_runs_once_as_the_user_would_run_it(self):
        directory = str(self.root / "a")
        variables = {"RUNFILES_DIR": "/r", "BUILD_WORKSPACE_DIRECTORY": "/w", "BUILD_WORKING_DIRECTORY": directory}
        with unittest.mock.patch.dict(os.environ, variables):
            self.assertEqual(self.built("//a:corpus"), self.built("//a:corpus"))
        self.assertEqual([words[1] for words, _, _ in self.calls()], ["build", "cquery"])
        for _, folder, seen in self.calls():
            self.assertEqual((folder, seen), (directory, []))

    def moved(self, base):
        """The output base, and the command's options with it, at another place."""
        self.base = self.base.rename(base)
        self.options.unlink()
        self.options.symlink_to(self.base / "execroot/_main/bazel-out/k8-opt/bin/build_options.json")

    def test_the_default_output_base(self):
        cache = self.root.parent / "link"
        cache.symlink_to(self.root.parent)
        (self.base.parent / "_bazel_me").mkdir()
        self.moved(self.base.parent / "_bazel_me" / self.base.name)
        with unittest.mock.patch.dict(os.environ, {"XDG_CACHE_HOME": str(cache), "USER": "me"}):
            found = labels.Workspace.of_command(self.root, self.options, os.environ)
        assert found is not None
        self.assertEqual(found.startup, ())

    def test_an_output_base_that_the_user_chose(self):
        self.moved(self.base.with_name("chosen"))
        self.put_bazelw(f"--output_base={self.base}")
        self.assertEqual(self.built("//a:corpus"), self.base / "execroot/_main/bazel-out/k8-opt/bin/a/corpus")

    def test_options_of_the_launcher(self):
        given = json.dumps([["--host_jvm_args=-Xmx2g"], ["--disk_cache=/cache"]])
        found = labels.Workspace.of_command(self.root, self.options, {labels.GIVEN: given})
        assert found is not None
        self.assertEqual(found.startup, ("--host_jvm_args=-Xmx2g",))
        # What decides the configuration comes last, so that it counts.
        self.assertEqual(found.options, ("--disk_cache=/cache", "--compilation_mode=opt", "--//x:flag=True"))
        self.assertNotIn(labels.GIVEN, found.environment)

    def test_a_failing_build_and_more_than_one_file(self):
        for label, message in (
            ("//a:none", "cannot be built: Bazel ended with exit code 1. See its messages above, which"),
            ("//a:two", "is not one file or folder, but 2. Give the label"),
        ):
            with self.assertRaisesRegex(RunError, f"^label {label}: {message}"):
                self.built(label)

    def test_an_interrupted_command_lets_bazel_end(self):
        with self.assertRaises(KeyboardInterrupt):
            self.built("//a:interrupted")
        program = textwrap.dedent(
            f"""
            import pathlib
            from mlgo.run import labels
            try:
                labels.built("//a:slow", pathlib.Path({str(self.root)!r}), pathlib.Path({str(self.options)!r}))
            except KeyboardInterrupt:
                print("interrupted")
            """
        )
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        words, pipe = [sys.executable, "-c", program], subprocess.PIPE
        with subprocess.Popen(words, env=environment, stdout=pipe, stderr=pipe, text=True) as command:
            assert command.stderr is not None
            for line in command.stderr:
                if line == "ready\n":
                    break
            command.send_signal(signal.SIGINT)
            printed, _ = command.communicate(timeout=60)
        self.assertEqual((command.returncode, printed), (0, "interrupted\n"))

    def test_commands_that_cannot_build(self):
        copied, other = self.root.parent / "copied.json", self.root.parent / "without_bazelw"
        self.file(copied, "[]")
        foreign = "cannot be built: this command does not belong to the workspace .*cquery"
        for root, options, message in (
            (None, self.options, "can be built only by a command that was started with ./bazelw run. Start it"),
            (self.root, None, foreign),
            (self.root, copied, foreign),
            (other, self.options, foreign),
        ):
            with self.assertRaisesRegex(RunError, f"^label //a:corpus: {message}"):
                labels.built("//a:corpus", root, options)
