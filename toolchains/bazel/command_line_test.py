import os
import tempfile
import unittest

from toolchains.bazel import command_line


class BazelrcTest(unittest.TestCase):
    def test_lines(self):
        self.assertEqual(
            command_line.bazelrc("/px/base", "/px/java").splitlines(),
            [
                "startup --install_base=/px/base",
                "startup --trust_install_base",
                "startup --server_javabase=/px/java",
                "common --lockfile_mode=off",
            ],
        )

    def test_blanks_and_quotes_stay_in_their_word(self):
        self.assertEqual(command_line.quote("--a=b"), "--a=b")
        self.assertEqual(command_line.quote("--a=b c"), '"--a=b c"')
        self.assertEqual(command_line.quote('--a="\\'), '"--a=\\"\\\\"')


class OutputRootsTest(unittest.TestCase):
    def test_table(self):
        for arguments, environ, expected in (
            (["build"], {}, ["/home/me"]),
            (["build"], {"XDG_CACHE_HOME": "/c"}, ["/c"]),
            (["build"], {"XDG_CACHE_HOME": "/c", "TEST_TMPDIR": "/t"}, ["/t"]),
            (["--output_base=/o", "build"], {"XDG_CACHE_HOME": "/c"}, ["/o"]),
            (["--output_base", "/o", "build"], {}, ["/o"]),
            (["--output_user_root=/u", "build"], {}, ["/u"]),
            (["run", "//x", "--", "--output_base=/theirs"], {}, ["/home/me"]),
        ):
            with self.subTest(arguments=arguments, environ=environ):
                self.assertEqual(command_line.output_roots(arguments, environ, "/home/me"), expected)


class BelowTmpTest(unittest.TestCase):
    def test_table(self):
        for paths, expected in (
            (["/tmp/x"], True),
            (["/home", "/tmp"], True),
            (["/tmpfoo"], False),
            (["/srv/tmp/x"], False),
            ([], False),
        ):
            with self.subTest(paths=paths):
                self.assertEqual(command_line.is_below_tmp(paths), expected)

    def test_links_are_followed(self):
        with tempfile.TemporaryDirectory() as scratch:
            scratch = os.path.realpath(scratch)
            tmp, link = os.path.join(scratch, "tmp"), os.path.join(scratch, "link")
            os.mkdir(tmp)
            os.symlink(tmp, link)
            self.assertTrue(command_line.is_below_tmp([os.path.join(link, "x")], tmp))
            self.assertFalse(command_line.is_below_tmp([os.path.join(scratch, "x")], tmp))


class WorkspaceAboveTest(unittest.TestCase):
    def test_table(self):
        with tempfile.TemporaryDirectory() as scratch:
            scratch = os.path.realpath(scratch)
            for path in ("a/b/c", "a/inner/d", "other"):
                os.makedirs(os.path.join(scratch, path))
            for marker in ("a/MODULE.bazel", "a/inner/WORKSPACE"):
                open(os.path.join(scratch, marker), "w", encoding="ascii").close()
            for path, expected in (("a", "a"), ("a/b/c", "a"), ("a/inner/d", "a/inner"), ("other", None)):
                with self.subTest(path=path):
                    self.assertEqual(
                        command_line.workspace_above(os.path.join(scratch, path)),
                        expected and os.path.join(scratch, expected),
                    )


class CommandTest(unittest.TestCase):
    def test_own_bazel_ignores_the_system_rc_file(self):
        self.assertEqual(
            command_line.command("/px/bazel", ["/px/rc"], ["--output_base=/o", "build", "//x"], own=True),
            ["/px/bazel", "--nosystem_rc", "--bazelrc=/px/rc", "--output_base=/o", "build", "//x"],
        )

    def test_the_users_bazel_keeps_its_own_way(self):
        self.assertEqual(command_line.command("bazel", [], ["version"], own=False), ["bazel", "version"])


if __name__ == "__main__":
    unittest.main()
