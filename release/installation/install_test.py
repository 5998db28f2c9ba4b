"""The command on compilers that are shell scripts."""

import contextlib
import errno
import io
import json
import os
import pathlib
import subprocess
import tempfile
import unittest
from unittest import mock

from mlgo.problems.slots import policy_slots
from mlgo.run.exit_codes import ExitCode, RunError
from release.installation import contents, install, policies, prefix
from release.installation.testing import archives


class InstallTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.prefix = self.folder / "ein Präfix"

    def archive(self, said, **more):
        return archives.write(self.folder / f"{said}.tar", said, **more)

    def install(self, said, **more):
        """Installs a compiler that says `said`; returns the lines of the command."""
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            self.assertEqual(install.install(self.archive(said, **more), self.prefix), ExitCode.DONE)
        return printed.getvalue().splitlines()

    def says(self, program=None):
        """First line of `bin/clang --version`."""
        done = subprocess.run(
            [program or self.prefix / "bin/clang", "--version"], env={}, capture_output=True, text=True, check=True
        )
        return done.stdout.splitlines()[0]

    def versions(self):
        return sorted(path.name for path in (self.prefix / "versions").iterdir())

    def test_installs_and_says_what_is_inside(self):
        lines = self.install("one")
        self.assertEqual(self.says(), "one")
        self.assertEqual((self.prefix / "lib/clang/22/include/stdint.h").read_text(), "typedef int x;\n")
        self.assertEqual(os.stat(self.prefix / "bin/llvm-ar").st_mode & 0o777, 0o755)
        provenance = json.loads((self.prefix / "current/provenance.json").read_text())
        self.assertEqual({policy["problem"] for policy in policies.inside(provenance)}, set(archives.POLICIES))
        text = "\n".join(lines)
        for words in (*archives.POLICIES, *archives.POLICIES.values(), "-enable-ml-inliner=release"):
            self.assertIn(words, text)
        self.assertIn(f"{self.prefix}/current/provenance.json", text)
        self.assertIn(f"{self.prefix}/bin: clang, llvm-ar\n", text)

    def test_names_each_of_several_policies(self):
        several = {"inlining_for_size:arm32-size": "1" * 64, "inlining_for_size:size": "2" * 64}
        text = "\n".join(self.install("one", policies=several))
        for name, digest in (("arm32-size", "1" * 64), ("size", "2" * 64)):
            self.assertIn(f"policy inlining_for_size, name {name}: seed 1, sha256 {digest}\n", text)
            self.assertIn(f"-enable-ml-inliner=release -mllvm -ml-inliner-model-selector={name}\n", text + "\n")

    def test_says_that_no_policy_is_inside(self):
        self.assertIn("    no policy inside", self.install("one", policies={}))

    def test_path_stays_and_two_versions_stay(self):
        paths = [self.prefix / name for name in prefix.FIXED_LINKS]
        self.install("one")
        links = [os.readlink(path) for path in paths]
        first = self.versions()
        self.install("two")
        self.assertEqual(self.says(), "two")
        self.assertEqual(self.says(self.prefix / "previous/bin/clang"), "one")
        lines = self.install("three")
        self.assertEqual((self.says(), self.says(self.prefix / "previous/bin/clang")), ("three", "two"))
        self.assertEqual([os.readlink(path) for path in paths], links)
        self.assertIn(f"    removed: {self.prefix}/versions/{first[0]}", lines)
        self.assertEqual(len(self.versions()), 2)

    def test_same_compiler_again_changes_nothing(self):
        self.install("one")
        before = os.lstat(self.prefix / "current").st_ino, self.versions()
        self.install("one")
        self.assertEqual((os.lstat(self.prefix / "current").st_ino, self.versions()), before)

    def test_same_compiler_again_replaces_a_damaged_one(self):
        self.install("one")
        (self.prefix / "bin/clang").write_text("#!/bin/sh\necho damaged\n")
        self.install("one")
        self.assertEqual(self.says(), "one")
        self.assertEqual(self.says(self.prefix / "previous/bin/clang"), "damaged")

    def test_everyone_can_use_it_whatever_the_umask(self):
        self.addCleanup(os.umask, os.umask(0o077))
        self.install("one")
        for directory, _, names in os.walk(self.prefix):
            modes = {name: os.lstat(os.path.join(directory, name)).st_mode for name in [".", *names]}
            self.assertEqual([name for name, mode in modes.items() if not mode & 0o004], [], directory)

    def test_a_record_that_is_none_is_damage(self):
        self.install("one")
        (self.prefix / "current/files.json").write_text("[1]")
        self.install("one")
        self.assertEqual(len(self.versions()), 2)

    def test_what_cannot_be_read_is_damage(self):
        self.install("one")
        os.mkfifo(self.prefix / "current/pipe")
        with mock.patch.object(contents, "open_regular", side_effect=PermissionError(errno.EACCES, "denied")):
            self.assertIn("bin/clang", contents.differences((self.prefix / "current").resolve()))
        self.install("one")
        self.assertEqual(len(self.versions()), 2)

    def test_nothing_is_removed_where_versions_links_to(self):
        self.install("one")
        elsewhere = self.folder / "elsewhere"
        os.rename(self.prefix / "versions", elsewhere)
        (elsewhere / ".mine.partial").mkdir()
        os.symlink(elsewhere, self.prefix / "versions")
        with self.assertRaisesRegex(RunError, "versions is a link"):
            self.install("two")
        self.assertTrue((elsewhere / ".mine.partial").exists())

    def test_prefix_of_others_is_refused_and_stays(self):
        self.prefix.mkdir()
        (self.prefix / "notes").write_text("mine")
        with self.assertRaisesRegex(RunError, "holds files that this command did not write: notes"):
            self.install("one")
        self.assertEqual(os.listdir(self.prefix), ["notes"])

    def test_a_prefix_that_links_to_nothing_is_refused(self):
        os.symlink("absent", self.prefix)
        with self.assertRaisesRegex(RunError, "is a link to what is not there. Remove it. Or: Give another --prefix"):
            self.install("one")

    def test_something_in_the_place_of_a_link_is_refused(self):
        self.install("one")
        (self.prefix / "bin").unlink()
        (self.prefix / "bin").mkdir()
        with self.assertRaisesRegex(RunError, "bin is not the link that this command makes"):
            self.install("two")

    def test_a_file_as_prefix_is_refused(self):
        self.prefix.write_text("")
        with self.assertRaisesRegex(RunError, "is no folder. Remove it"):
            self.install("one")

    def test_an_error_of_the_caller_is_none_of_the_prefix(self):
        with self.assertRaisesRegex(FileNotFoundError, "elsewhere"), prefix.opened(self.prefix):
            raise FileNotFoundError("elsewhere")
        with (
            prefix.opened(self.prefix) as made,
            self.assertRaisesRegex(RunError, "cannot be written to: No space left"),
        ):
            made.add("new", mock.Mock(side_effect=OSError(errno.ENOSPC, "No space left")), lambda folder: None)

    def test_files_of_others_are_never_deleted(self):
        self.install("one")
        (self.prefix / "notes").write_text("mine")
        (self.prefix / "current/lib/mine.h").write_text("mine")
        kept = (self.prefix / "current").resolve()
        self.install("two")
        lines = self.install("three")
        self.assertEqual((kept / "lib/mine.h").read_text(), "mine")
        self.assertEqual((self.prefix / "notes").read_text(), "mine")
        self.assertIn(f"    stays, because files in it are not this command's: {kept}", lines)

    def test_a_compiler_that_does_not_run_is_not_installed(self):
        self.install("one")
        with self.assertRaisesRegex(RunError, "exit code 3.*The prefix is unchanged"):
            self.install("two", exit_code=3)
        with self.assertRaisesRegex(RunError, "policies that it does not name: 222"):
            self.install("two", named={"inlining_for_size": "1" * 64})
        self.assertEqual(self.says(), "one")
        self.assertEqual(len(self.versions()), 1)

    def test_prefix_can_be_moved(self):
        self.install("one")
        moved = self.folder / "moved"
        self.prefix.rename(moved)
        self.assertEqual(self.says(moved / "bin/clang"), "one")
        self.prefix = moved
        self.install("two")
        self.assertEqual(self.says(), "two")

    def test_two_at_a_time_are_refused(self):
        with prefix.opened(self.prefix):
            with self.assertRaisesRegex(RunError, "is in use by another installation"):
                self.install("one")


class CommandTest(unittest.TestCase):
    """Flags and the build of other policies."""

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.workspace = self.folder / "workspace"
        self.workspace.mkdir()
        self.shipped = archives.write(self.folder / "shipped.tar", "shipped")

    def run_command(self, *arguments, archive="shipped.tar"):
        environment = {"BUILD_WORKSPACE_DIRECTORY": str(self.workspace), "BUILD_WORKING_DIRECTORY": str(self.folder)}
        with contextlib.redirect_stdout(io.StringIO()):
            return install.run(["--prefix=there", *arguments], environment, self.folder / archive)

    def test_shipped_policies_need_no_build(self):
        self.assertEqual(self.run_command(), ExitCode.DONE)
        self.assertTrue((self.folder / "there/bin/clang").exists())
        self.assertEqual(os.listdir(self.workspace), [])

    def test_none_where_none_is_needs_no_build(self):
        self.assertEqual(self.run_command("--priority_policy=none"), ExitCode.DONE)

    def test_a_directory_without_a_policy_is_refused(self):
        with self.assertRaisesRegex(RunError, "--eviction_policy=.*/workspace: holds no policy"):
            self.run_command("--eviction_policy=workspace")

    def test_without_an_archive(self):
        with self.assertRaisesRegex(RunError, "Start the command with ./bazelw run //release:install"):
            self.run_command(archive="absent.tar")


class PoliciesTest(unittest.TestCase):
    def setUp(self):
        self.workspace = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.policy = self.workspace / "out/my run/policy"
        self.policy.mkdir(parents=True)
        (self.policy / "saved_model.pb").write_bytes(b"model")
        (self.policy / "BUILD.bazel").write_text("a package of its own")

    def test_a_run_stands_for_its_policy(self):
        choice = policies.chosen("eviction_policy", self.policy.parent)
        self.assertEqual((choice.folder, choice.problem), (self.policy, "regalloc_eviction"))
        self.assertEqual(choice, policies.chosen("eviction_policy", self.policy))

    def test_differing(self):
        definition = {"externalParameters": {"policies": [{"problem": "regalloc_eviction", "sha256": "2"}]}}
        provenance = {"predicate": {"buildDefinition": definition}}

        def choice(slot, digest):
            problem = policy_slots()[slot]["problem"]
            return policies.Choice(slot, problem, None if digest is None else self.policy, digest)

        same = [choice("eviction_policy", "2"), choice("inlining_policy", None)]
        self.assertEqual(policies.differing(same, provenance), [])
        other = [choice("eviction_policy", "3"), choice("inlining_policy", "2")]
        self.assertEqual(policies.differing(other, provenance), other)
        absent = [choice("eviction_policy", None)]
        self.assertEqual(policies.differing(absent, provenance), absent)
        definition["externalParameters"]["policies"].append(
            {"problem": "regalloc_eviction", "sha256": "3", "name": "b"}
        )
        self.assertEqual(policies.differing(same, provenance), same[:1])

    def test_the_package_has_the_policies_and_is_removed(self):
        choices = [policies.chosen("eviction_policy", self.policy), policies.chosen("inlining_policy", None)]
        package = self.workspace / policies.PACKAGE
        texts: list[str] = []
        names: list[str] = []

        def build(label):
            self.assertEqual(label, f"//{policies.PACKAGE}:tarball_tree")
            texts.append((package / "BUILD.bazel").read_text())
            names.extend(path.name for path in (package / "eviction_policy").iterdir())
            return self.workspace / "made.tar"

        with policies.built(self.workspace, choices, "cpp", build) as archive:
            self.assertEqual(archive, self.workspace / "made.tar")
            with self.assertRaisesRegex(RunError, "is in use by another installation"):
                with policies.built(self.workspace, choices, "cpp", build):
                    pass
        self.assertFalse(package.exists())
        self.assertEqual(names, ["saved_model.pb"])
        (text,) = texts
        self.assertIn('eviction_policy = ":eviction_policy_files"', text)
        self.assertIn('inlining_policy = "@mlgo//release:no_policy"', text)
        self.assertIn('priority_policy = "@mlgo//release:priority_policy"', text)
        self.assertIn('":eviction_policy_files": "regalloc_eviction"', text)
        self.assertNotIn('no_policy": ', text)

    def test_a_policy_with_more_than_files_is_refused(self):
        (self.workspace / "secret").write_text("secret")
        for name, make in (
            ("pipe", os.mkfifo),
            ("device", lambda path: os.symlink("/dev/zero", path)),
            ("elsewhere", lambda path: os.symlink(self.workspace / "secret", path)),
            ("folder", lambda path: os.symlink(self.workspace, path)),
        ):
            with self.subTest(name):
                make(self.policy / name)
                wrong = f"{name} is no regular file or folder"
                with self.assertRaisesRegex(RunError, wrong):
                    with policies.built(self.workspace, [policies.chosen("eviction_policy", self.policy)], "cpp"):
                        pass
                (self.policy / name).unlink()

    def test_a_failed_build_names_the_flags(self):
        def build(label):
            raise RunError(label, "cannot be built", "")

        with self.assertRaisesRegex(RunError, "--eviction_policy=.*policy: cannot be built into a compiler"):
            with policies.built(self.workspace, [policies.chosen("eviction_policy", self.policy)], "cpp", build):
                pass
        self.assertFalse((self.workspace / policies.PACKAGE).exists())


if __name__ == "__main__":
    unittest.main()
