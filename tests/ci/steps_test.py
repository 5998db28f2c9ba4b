"""examples/ci/steps.sh configure: what it writes, and what it refuses."""

import os
import pathlib
import shutil
import stat
import subprocess
import tempfile
import unittest

STEPS = pathlib.Path(os.environ["TEST_SRCDIR"], os.environ["TEST_WORKSPACE"], "examples/ci/steps.sh")
URL = "https://cache.example:8763"


class StepsTest(unittest.TestCase):
    def setUp(self):
        self.clone = pathlib.Path(tempfile.mkdtemp(dir=os.environ["TEST_TMPDIR"]))
        (self.clone / "examples/ci").mkdir(parents=True)
        shutil.copy(STEPS, self.clone / "examples/ci/steps.sh")
        self.settings = self.clone / "user.bazelrc"

    def run_step(self, step, **variables):
        """Exit code and what is printed on standard error."""
        environment = {"PATH": os.environ.get("PATH", os.defpath), "HOME": str(self.clone), **variables}
        done = subprocess.run(
            ["bash", self.clone / "examples/ci/steps.sh", *step.split()],
            cwd="/",
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, done.stderr

    def lines(self):
        return self.settings.read_text(encoding="utf-8").splitlines()

    def test_a_reader(self):
        self.assertEqual(self.run_step("configure", CACHE_URL=URL, CACHE_CERTIFICATE="a b.pem"), (0, ""))
        self.assertEqual(
            self.lines(),
            [
                'build:remote_cache "--noremote_upload_local_results"',
                f'build:remote_cache "--remote_cache={URL}"',
                'build:remote_cache "--tls_certificate=a b.pem"',
            ],
        )

    def test_a_writer(self):
        self.settings.write_text("of an earlier run\n", encoding="utf-8")
        self.settings.chmod(0o644)
        code = self.run_step("configure", CACHE_URL=URL, CACHE_ACCESS="write", CACHE_AUTHORIZATION="Basic eA==")
        self.assertEqual(code, (0, ""))
        self.assertEqual(
            self.lines(),
            [
                f'build:remote_cache "--remote_cache={URL}"',
                'build:remote_cache "--remote_header=Authorization=Basic eA=="',
            ],
        )
        self.assertEqual(stat.S_IMODE(self.settings.stat().st_mode), 0o600)

    def test_a_writer_with_netrc(self):
        (self.clone / ".netrc").touch()
        self.assertEqual(self.run_step("configure", CACHE_URL=URL, CACHE_ACCESS="write"), (0, ""))
        self.assertEqual(self.lines(), [f'build:remote_cache "--remote_cache={URL}"'])

    def test_without_a_server(self):
        for access in ("read", "write"):
            with self.subTest(access=access):
                self.assertEqual(self.run_step("configure", CACHE_ACCESS=access), (0, ""))
                self.assertNotIn("--remote_cache=", "".join(self.lines()))

    def test_refusals(self):
        for variables, message in (
            ({"CACHE_ACCESS": "write"}, "there is no password: set CACHE_AUTHORIZATION, or write ~/.netrc"),
            ({"CACHE_ACCESS": "both"}, 'CACHE_ACCESS is "both": set it to read or write'),
            ({"CACHE_URL": "http://cache", "CACHE_AUTHORIZATION": "Basic secret"}, "use https"),
            ({"CACHE_AUTHORIZATION": "Basic secret\ntest --run_under=x"}, "--remote_header holds a quote"),
            ({"CACHE_AUTHORIZATION": 'Basic secret" "--x'}, "--remote_header holds a quote"),
        ):
            with self.subTest(**variables):
                code, said = self.run_step("configure", **{"CACHE_URL": URL, **variables})
                self.assertEqual(code, 2)
                self.assertIn(message, said)
                self.assertNotIn("secret", said)
                self.assertFalse(self.settings.exists())

    def release(self, tag, version="1.2.3", changes="# Changes\n\n## 1.2.3\n\n- new\n\n## 1.2.2\n\n- old\n"):
        """Exit code and standard error of `release` with a bazelw that writes down its arguments."""
        (self.clone / "MODULE.bazel").write_text(f'module(\n    name = "m",\n    version = "{version}",\n)\n')
        (self.clone / "CHANGELOG.md").write_text(changes)
        bazelw = self.clone / "bazelw"
        bazelw.write_text('#!/bin/sh\nprintf "%s\\n" "$@" > out/ci/called\n')
        bazelw.chmod(0o755)
        return self.run_step("release", TAG=tag)

    def test_a_release(self):
        self.assertEqual(self.release("v1.2.3"), (0, ""))
        out = self.clone / "out/ci"
        self.assertEqual((out / "notes.md").read_text(), "\n- new\n\n")
        called = (out / "called").read_text().splitlines()
        self.assertEqual(called[0], "run")
        self.assertEqual(called[-3:], ["//release:publish", "--", f"--to={self.clone.resolve()}/out/ci/release"])

    def test_a_release_of_another_version_is_refused(self):
        code, said = self.release("v1.2.4")
        self.assertEqual(
            (code, said[:80]), (2, 'steps.sh: TAG is "v1.2.4", and MODULE.bazel has version 1.2.3: tag v1.2.3, or ch')
        )
        code, said = self.release("v2.0.0", version="2.0.0")
        self.assertEqual((code, said), (2, 'steps.sh: CHANGELOG.md has no section "## 2.0.0": write what changed\n'))
        self.assertFalse((self.clone / "out/ci/called").exists())

    def test_an_unknown_step(self):
        self.assertEqual(
            self.run_step("all"),
            (2, 'steps.sh: "all" is no step: give configure, test, compare, package, release or next_llvm\n'),
        )


if __name__ == "__main__":
    unittest.main()
