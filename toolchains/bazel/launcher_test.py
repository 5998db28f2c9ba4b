import contextlib
import io
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest
import unittest.mock

from toolchains.bazel import launcher, selection
from toolchains.bazel.errors import LauncherError

WORKSPACE = pathlib.Path(os.path.abspath(__file__)).parents[2]
LOCK = {
    "groups": {"bazel": {"bazel-bootstrap": {"version": "7.7.1+ds-8+b1", "sha256": "a"}}, "bazel_tools": {}},
    "packages": {},
}


class PrefixNameTest(unittest.TestCase):
    def name(self, lock, recipe=(b"one",)):
        return launcher.prefix_name(json.dumps(lock), recipe)

    def test_version_and_digest(self):
        self.assertRegex(self.name(LOCK), r"^7\.7\.1-[0-9a-f]{16}$")

    def test_follows_bazels_packages_and_the_recipe_but_nothing_else(self):
        other_packages = dict(LOCK, packages={"bookworm": {"zlib1g": {}}})
        self.assertEqual(self.name(LOCK), self.name(other_packages))
        other_bazel = json.loads(json.dumps(LOCK).replace('"sha256": "a"', '"sha256": "b"'))
        self.assertNotEqual(self.name(LOCK), self.name(other_bazel))
        self.assertNotEqual(self.name(LOCK), self.name(LOCK, [b"two"]))

    def test_an_unusable_lock(self):
        for text in ("{", "[]", '{"groups": {"bazel": {}}}', '{"groups": {"bazel": {}, "bazel_tools": {}}}'):
            with (
                self.subTest(text=text),
                self.assertRaisesRegex(
                    LauncherError,
                    r"^third_party/debian/lock\.json: holds no usable group "
                    r".*\. Restore it from git\.",
                ),
            ):
                launcher.prefix_name(text, [])


class UserNameTest(unittest.TestCase):
    NOBODYS_UID = 2**31 - 3

    def test_a_user_without_an_entry_in_passwd_gets_a_name(self):
        self.assertEqual(launcher.with_user_name({"A": "b"}, self.NOBODYS_UID), {"A": "b", "USER": "uid2147483645"})

    def test_names_there_are_stay(self):
        self.assertEqual(launcher.with_user_name({"USER": "x"}, self.NOBODYS_UID), {"USER": "x"})
        self.assertEqual(launcher.with_user_name({}, 0), {})


class OtherMachineTest(unittest.TestCase):
    def test_arm64_is_refused_before_a_bazel_is_chosen_or_downloaded(self):
        asked, said = [], io.StringIO()
        arm64 = os.uname_result(("Linux", "host", "6.12", "#1", "aarch64"))
        with (
            unittest.mock.patch.object(os, "uname", lambda: arm64),
            unittest.mock.patch.object(selection, "choose", lambda *_: asked.append("choose")),
            unittest.mock.patch.object(launcher, "debian_bazel", lambda *_: asked.append("download")),
            contextlib.redirect_stderr(said),
        ):
            self.assertEqual(launcher.main(["build"], {"PATH": os.environ["PATH"]}), launcher.ENVIRONMENT_ERROR)
        self.assertEqual(asked, [])
        self.assertRegex(
            said.getvalue(), r"^bazelw: this machine: lacks Linux on x86-64 \(this is Linux on aarch64\).*\n$"
        )


class CommandTest(unittest.TestCase):
    """Runs bazelw as a user does, in a copy of what it needs, with a Bazel that prints its arguments."""

    def setUp(self):
        self.scratch = pathlib.Path(
            self.enterContext(tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMPDIR")))
        ).resolve()
        self.clone = self.scratch / "my clone"
        for name in ("MODULE.bazel", "bazelw", "toolchains/bazel", "third_party/debian", "third_party/registry"):
            target = self.clone / name
            target.parent.mkdir(parents=True, exist_ok=True)
            copy = shutil.copytree if (WORKSPACE / name).is_dir() else shutil.copy
            copy(WORKSPACE / name, target)
        self.bazel = self.program(
            "bazel", 'if [ "$*" = --version ]; then echo bazel 7.7.1; else pwd; printf "%s\\n" "$@"; exit 3; fi'
        )

    def program(self, name, text):
        path = self.scratch / "bin" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
        return str(path)

    def bazelw(self, *arguments, cwd=None, **environ):
        environ = dict({"PATH": f"{self.scratch}/bin:/usr/bin:/bin", "HOME": self.bazel}, **environ)
        done = subprocess.run(
            [str(self.clone / "bazelw"), *arguments], cwd=cwd or self.clone, env=environ, capture_output=True, text=True
        )
        return done.returncode, done.stdout.splitlines(), done.stderr

    def test_the_users_bazel_gets_the_users_words_and_its_exit_code_is_ours(self):
        code, words, said = self.bazelw("--output_base=/o", "build", "//x y")
        self.assertEqual(
            (code, words[0], words[-3:], said), (3, str(self.clone), ["--output_base=/o", "build", "//x y"], "")
        )

    def test_a_program_that_runs_knows_the_options_of_run(self):
        self.program("bazel", 'if [ "$*" = --version ]; then echo bazel 7.7.1; else echo "$MLGO_BAZEL_OPTIONS"; fi')
        _, words, _ = self.bazelw(
            "--output_base=/o", "run", "--disk_cache=/c", "//x", BAZEL=f"{self.scratch}/bin/bazel"
        )
        self.assertEqual(words, ['[["--output_base=/o"], ["--disk_cache=/c"]]'])
        _, words, _ = self.bazelw("build", "//x")
        self.assertEqual(words, [""])

    def test_mirrors_of_the_option_reach_bazel_in_its_environment(self):
        self.program(
            "bazel", 'if [ "$*" = --version ]; then echo bazel 7.7.1; else echo "$* $MLGO_DEBIAN_MIRROR_OPTION"; fi'
        )
        code, words, said = self.bazelw("--debian_mirror=http://m/debian", "--output_base=/o", "build", "//x")
        self.assertEqual((code, said), (0, ""))
        self.assertTrue(words[0].endswith("--output_base=/o build //x http://m/debian"), words)

    def test_a_mirror_that_is_none_is_told_before_bazel_starts(self):
        code, words, said = self.bazelw("--debian_mirror=gopher://m", "build", "//x")
        self.assertEqual((code, words), (launcher.ENVIRONMENT_ERROR, []))
        self.assertRegex(said, r"^bazelw: --debian_mirror=gopher://m: is no http:// or .*\n$")

    def test_all_that_the_machine_lacks_is_told_at_once(self):
        few = self.scratch / "few"
        few.mkdir()
        for name in ("sh", "dirname", "readlink", "bash", "env", "sed", "find", "awk", "getconf"):
            program = shutil.which(name)
            assert program, name
            (few / name).symlink_to(program)
        code, words, said = self.bazelw("build", PATH=str(few))
        self.assertEqual((code, words), (launcher.ENVIRONMENT_ERROR, []))
        self.assertRegex(said, r"^bazelw: this machine: lacks cmp, git, grep, gzip, tar\. Install programs .*\n$")

    def test_a_host_without_any_of_its_programs_is_told_of_all(self):
        code, words, said = self.bazelw("build", PATH=str(self.scratch))
        self.assertEqual((code, words), (launcher.ENVIRONMENT_ERROR, []))
        self.assertRegex(said, r"^bazelw: (this machine: lacks |python3, )awk, bash, cmp, env, .* sed, tar\W.*\n$")

    def test_below_tmp_the_sandbox_keeps_the_hosts_tmp(self):
        _, words, _ = self.bazelw("--output_base=/tmp/o", "build")
        self.assertEqual(words[1], f"--bazelrc={self.clone}/toolchains/bazel/below_tmp.bazelrc")

    def test_called_from_elsewhere_it_works_in_its_workspace(self):
        _, words, _ = self.bazelw("info", cwd="/")
        self.assertEqual(words[0], str(self.clone))
        _, words, _ = self.bazelw("info", cwd=self.clone / "toolchains")
        self.assertEqual(words[0], str(self.clone / "toolchains"))

    def test_called_from_another_workspace_it_works_in_that_one(self):
        other = self.scratch / "other"
        (other / "package").mkdir(parents=True)
        (other / "MODULE.bazel").touch()
        for cwd in (other, other / "package"):
            _, words, _ = self.bazelw("info", cwd=cwd)
            self.assertEqual(words[0], str(cwd))

    def test_called_through_a_link_it_finds_its_workspace(self):
        os.symlink(self.clone / "bazelw", self.scratch / "bin" / "bw")
        done = subprocess.run(
            [str(self.scratch / "bin" / "bw"), "info"],
            cwd="/",
            env={"PATH": f"{self.scratch}/bin:/usr/bin:/bin"},
            capture_output=True,
            text=True,
        )
        self.assertEqual(done.stdout.splitlines()[0], str(self.clone))

    def test_a_link_named_bazel_to_bazelw_does_not_call_itself(self):
        os.unlink(self.bazel)
        os.symlink(self.clone / "bazelw", self.bazel)
        code, _, said = self.bazelw("info")
        self.assertEqual(code, launcher.ENVIRONMENT_ERROR)
        self.assertIn("cannot be written", said)  # It went on to install; HOME is a file.

    def test_asked_for_its_version_by_another_clone_it_ends_at_once(self):
        self.assertEqual(self.bazelw("--version", MLGO_BAZELW_PROBE="1"), (launcher.ENVIRONMENT_ERROR, [], ""))

    def test_errors_are_one_sentence_and_bazels_code_for_the_environment(self):
        code, words, said = self.bazelw("info", BAZEL="/no/such")
        self.assertEqual((code, words), (launcher.ENVIRONMENT_ERROR, []))
        self.assertEqual(
            said,
            "bazelw: BAZEL=/no/such: no such program. Set BAZEL to a Bazel >= 7.7, < 8, or unset it to let bazelw "
            "find or install one.\n",
        )

    def test_a_colon_or_line_end_in_the_cache_is_told_before_anything_is_fetched(self):
        os.unlink(self.bazel)
        for name, shown in (("a:b", "a:b"), ("a\nb", r"a\\nb")):
            code, _, said = self.bazelw("info", XDG_CACHE_HOME=f"{self.scratch}/{name}")
            self.assertEqual(code, launcher.ENVIRONMENT_ERROR)
            self.assertRegex(
                said,
                rf"^bazelw: Bazel's directory \S+/{shown}/mlgo/bazel/7\S+: has a colon or a line end in its name, .*"
                r"Set XDG_CACHE_HOME .*\n$",
            )

    def test_words_in_any_bytes_reach_bazel_in_any_locale(self):
        for locale in ("C", "C.UTF-8", "de_DE.ISO-8859-1"):
            done = subprocess.run(
                [str(self.clone / "bazelw"), "run", b"\xc3\xa4", b"\xff"],
                cwd=self.clone,
                env={"PATH": f"{self.scratch}/bin:/usr/bin:/bin", "HOME": b"/\xc3\xa4", "LC_ALL": locale},
                stdout=subprocess.PIPE,
            )
            self.assertTrue(done.stdout.endswith(b"\nrun\n\xc3\xa4\n\xff\n"), (locale, done.stdout))

    def test_a_missing_lock_is_named(self):
        os.unlink(self.bazel)
        (self.clone / "third_party/debian/lock.json").unlink()
        code, _, said = self.bazelw("info")
        self.assertEqual(code, launcher.ENVIRONMENT_ERROR)
        self.assertRegex(
            said, r"^bazelw: .*lock\.json: cannot be read \(No such file or directory\)\. Restore it from git\.\n$"
        )

    def test_old_pythons_are_told_so(self):
        text = (
            (self.clone / "toolchains/bazel/launcher.py")
            .read_text()
            .replace("OLDEST_PYTHON = (3, 9)", "OLDEST_PYTHON = (99, 0)")
        )
        (self.clone / "toolchains/bazel/launcher.py").write_text(text)
        code, _, said = self.bazelw("info")
        self.assertEqual(code, 1)
        self.assertRegex(said, r"^bazelw: python3 is Python 3\.\d+: too old, 3\.9 is needed\. Install")

    def test_what_old_pythons_read_first_is_old_python(self):
        head = (WORKSPACE / "toolchains/bazel/launcher.py").read_text().split("import hashlib")[0]
        self.assertNotRegex(head, r"\bf\"|:=|->")


if __name__ == "__main__":
    unittest.main()
