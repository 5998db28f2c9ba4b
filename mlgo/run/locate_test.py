import os
import pathlib
from unittest import mock

from mlgo.run import locate
from mlgo.run.exit_codes import RunError
from mlgo.run.testing.folder_case import FolderCase

BAZEL_RUN = {"BUILD_WORKING_DIRECTORY": "/srv/me/clone/sub", "BUILD_WORKSPACE_DIRECTORY": "/srv/me/clone"}


class LocateTest(FolderCase):
    def test_relative_paths_are_those_of_the_user(self):
        self.assertEqual(locate.user_path("../out", BAZEL_RUN), pathlib.Path("/srv/me/clone/out"))
        self.assertEqual(locate.user_path("/data//x", BAZEL_RUN), pathlib.Path("/data/x"))

    def test_a_tilde_is_a_home_folder_only_in_front(self):
        self.assertEqual(locate.user_path("~/x", BAZEL_RUN), pathlib.Path.home() / "x")
        for path in ("./~/x", "a/~/x", "~no such user/x"):
            self.assertEqual(locate.user_path(path, BAZEL_RUN), pathlib.Path("/srv/me/clone/sub", path))

    def test_relative_path_without_bazel_is_refused(self):
        with self.assertRaisesRegex(RunError, "path out: is relative.*Give an absolute path"):
            locate.user_path("out", {})

    def test_a_label_is_built_in_the_users_workspace(self):
        with self.assertRaisesRegex(RunError, "^label //a/b:c: cannot be built: .* belong to the workspace /srv/me/"):
            locate.user_path("//a/b:c", BAZEL_RUN)
        with self.assertRaisesRegex(RunError, "^label //a:b: can be built only by a command that was started"):
            locate.user_path("//a:b", {})

    def test_default_output_is_below_the_workspace(self):
        self.assertEqual(locate.output_directory(None, "x", BAZEL_RUN), pathlib.Path("/srv/me/clone/out/x"))
        self.assertEqual(locate.output_directory("y", "x", BAZEL_RUN), pathlib.Path("/srv/me/clone/sub/y"))

    def test_no_workspace_and_no_flag_is_refused(self):
        with self.assertRaisesRegex(RunError, "--output_dir: is not given"):
            locate.output_directory(None, "x", {})

    def test_unknown_runfile_names_the_target_to_add(self):
        with self.assertRaisesRegex(RunError, "Add //no/such:file to the `data`"):
            locate.runfile("no/such/file")

    def test_runfiles_by_the_name_that_build_files_give_them(self):
        self.assertEqual(locate.rlocation(str(self.folder)), self.folder)
        with self.assertRaisesRegex(RunError, "runfile _main/no/such/file: is not among the files"):
            locate.rlocation("_main/no/such/file")

    def test_folders_among_the_files_that_bazel_run_names_by_a_manifest(self):
        policy = self.folder / "command.runfiles/_main/models/x/policy"
        policy.mkdir(parents=True)
        line = f"_main/models/x/policy/policy.json {self.folder}/elsewhere/policy.json\n"
        manifest = self.file("command.runfiles_manifest", line)
        with mock.patch.dict(os.environ, {"RUNFILES_MANIFEST_FILE": str(manifest)}):
            self.assertEqual(locate.runfile("models/x/policy"), policy)
