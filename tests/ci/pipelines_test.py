"""The steps of the CI files, in CI's order, against nginx with TLS and a password.

    pipelines_test --nginx=FILE --tarball=FILE --corpus=FOLDER --program=LABEL=FILE ... [--share=FILE ...]

The main branch runs GitHub's steps in one clone and fills the cache; a merge request runs GitLab's in another one and
reads it. `./bazelw test` is a nested Bazel with few targets (TESTS). `./bazelw run LABEL` and the tarball are what the
outer Bazel has built, for building both compilers takes ten minutes.
"""

import argparse
import json
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

from tests.ci import pipelines, secured_cache
from tests.clones import clone, nested
from tests.remote_cache import execution_log

RUNFILES = pathlib.Path(os.environ["TEST_SRCDIR"], os.environ["TEST_WORKSPACE"])
GITHUB, GITLAB = RUNFILES / "examples/ci/github.yml", RUNFILES / "examples/ci/gitlab.yml"
WORSE_POLICY = RUNFILES / "tests/policies/random_eviction_policy"
TESTS = "//toolchains/cc:hello_test //tests/clones/sample:sample_test"
_IDLE_SECONDS = 600
_BAZELW = """#!/bin/sh
n=0
for word; do
  n=$((n + 1))
  case $word in
{cases}
  esac
done
exec "$(dirname "$0")/bazelw.unchanged" "$@"
"""
_PROGRAM = """    {label})
      shift $n
      [ "$1" = -- ] && shift
      export BUILD_WORKSPACE_DIRECTORY="$PWD" BUILD_WORKING_DIRECTORY="$PWD" {tools}
      exec {program} "$@" ;;"""
_TARBALL = """    //release:tarball)
      mkdir -p bazel-bin/release/packaging
      cp {tarball} bazel-bin/release/packaging/
      exit 0 ;;"""


class Machine:
    """A fresh machine of a CI service: a clone, and a home folder that has nothing but the archives.

    Attributes:
      clone: the folder.
      home: the folder.
      log: Bazel's log of actions of its last build.
    """

    def __init__(self, folder: pathlib.Path, origin: pathlib.Path, programs, tarball, shared, keep_archives: bool):
        self.clone, self.home, self.log = folder / "clone", folder / "home", folder / "log.json"
        subprocess.run(["git", "clone", "--quiet", origin, self.clone], check=True)
        cache, outer = self.home / ".cache/mlgo", nested.archive_cache(os.environ)
        cache.mkdir(parents=True)
        # Installing Bazel takes a minute, and is not what is tested.
        (cache / "bazel").symlink_to(outer.parent / "bazel")
        if keep_archives:
            (cache / "archives").symlink_to(outer)
        else:
            # The steps make the link, to a folder of the clone.
            (self.clone / "out").mkdir()
            (self.clone / "out/archives").symlink_to(outer)
        lines = [f"startup {option}" for option in (f"--max_idle_secs={_IDLE_SECONDS}", *nested.SHORT_LIVED)]
        lines += [f"build --execution_log_json_file={self.log}"]
        lines += [f"common {option}" for option in nested.shared_repositories(shared)]
        (self.home / ".bazelrc").write_text("\n".join(lines) + "\n", encoding="utf-8")
        launcher = self.clone / "bazelw"
        launcher.rename(self.clone / "bazelw.unchanged")
        tools = shlex.join(f"{name}={value}" for name, value in os.environ.items() if name.startswith("MLGO_"))
        cases = [
            _PROGRAM.format(label=label, tools=tools, program=shlex.quote(str(path)))
            for label, path in programs.items()
        ]
        cases.append(_TARBALL.format(tarball=shlex.quote(str(tarball))))
        launcher.write_text(_BAZELW.format(cases="\n".join(cases)), encoding="utf-8")
        launcher.chmod(0o755)

    def run(self, script: str, **variables: str) -> "subprocess.CompletedProcess[str]":
        """Runs a script as CI does: with bash, in the clone."""
        environment = nested.environment(os.environ) | {"HOME": str(self.home), "XDG_CACHE_HOME": ""} | variables
        return subprocess.run(
            ["bash", "-e", "-o", "pipefail", "-c", script],
            cwd=self.clone,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="surrogateescape",
            check=False,
        )

    def spawns(self):
        return execution_log.read(self.log)


class PipelinesTest(unittest.TestCase):
    corpus: pathlib.Path
    nginx: pathlib.Path
    programs: dict[str, pathlib.Path]
    shared: list[pathlib.Path]
    tarball: pathlib.Path
    folder: pathlib.Path
    origin: pathlib.Path
    cache: secured_cache.SecuredCache

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="ci.", dir=os.environ["TEST_TMPDIR"])).resolve()
        cls.addClassCleanup(nested.remove, cls.folder)
        cls.origin = cls.folder / "origin"
        clone.copy(clone.root(), cls.origin)
        for words in (
            ["init", "--quiet", "--initial-branch=main"],
            ["add", "--all"],
            ["-c", "user.name=test", "-c", "user.email=test@localhost", "commit", "--quiet", "--message=all"],
        ):
            subprocess.run(["git", *words], cwd=cls.origin, check=True)
        cls.cache = cls.enterClassContext(secured_cache.serving(cls.nginx, cls.folder / "cache"))

    def machine(self, name, keep_archives=True):
        machine = Machine(self.folder / name, self.origin, self.programs, self.tarball, self.shared, keep_archives)
        self.addCleanup(nested.remove, machine.home)
        self.addCleanup(machine.run, "./bazelw shutdown")
        return machine

    def succeed(self, machine, script, **variables):
        done = machine.run(script, **variables)
        self.assertEqual(done.returncode, 0, f"{script}\n{done.stdout[-6000:]}")
        return done.stdout

    def requests_since(self, start):
        requests = self.cache.requests()
        return len(requests), requests[start:]

    def settings(self):
        """Variables that both services set by settings of the project, not by the file."""
        return {"CACHE_CERTIFICATE": str(self.cache.certificate), "CORPUS": str(self.corpus), "TESTS": TESTS}

    def test_the_main_branch_fills_the_cache_and_a_merge_request_reads_it(self):
        main = self.machine("main")
        given = {
            "CACHE_URL": self.cache.url,
            "CACHE_ACCESS": "write",
            "CACHE_AUTHORIZATION": secured_cache.authorization(),
        }
        for command, names in pipelines.github_commands(GITHUB, pull_request=False):
            said = self.succeed(main, command, **self.settings(), **{name: given[name] for name in names})
            self.assertNotIn(given["CACHE_AUTHORIZATION"], said)
        end, filled = self.requests_since(0)
        self.assertGreater(len([line for line in filled if line.startswith("PUT /ac/") and line.endswith(" 201")]), 5)
        self.assertEqual([line for line in filled if line.endswith((" 401", " 403"))], [])
        self.assertEqual([path.name for path in (main.clone / "out/ci").iterdir()], [self.tarball.name])

        self.check_netrc(main)
        change = self.machine("change", keep_archives=False)
        end, _ = self.requests_since(0)
        said = self.succeed(
            change,
            pipelines.gitlab_script(GITLAB),
            **self.settings(),
            CACHE_ACCESS="read",
            CI_PROJECT_DIR=str(change.clone),
            CI_MERGE_REQUEST_IID="7",
            CI_MERGE_REQUEST_TARGET_BRANCH_NAME="main",
            MLGO_CACHE_URL=self.cache.url,
        )
        _, read = self.requests_since(end)
        self.assertEqual({line.split()[0] for line in read}, {"GET"})
        spawns = change.spawns()
        self.assertGreater(len(spawns), 5)
        self.assertEqual([str(spawn) for spawn in spawns if not spawn.cached], [])
        self.check_results(change)
        self.check_a_worse_policy(change)

    def check_netrc(self, machine):
        """The password from ~/.netrc, for results that are not there yet."""
        login = f"machine 127.0.0.1 login {secured_cache.USER} password {secured_cache.PASSWORD}\n"
        (machine.home / ".netrc").write_text(login, encoding="utf-8")
        start, _ = self.requests_since(0)
        self.succeed(
            machine, "examples/ci/steps.sh configure", **self.settings(), CACHE_URL=self.cache.url, CACHE_ACCESS="write"
        )
        self.assertNotIn("Authorization", (machine.clone / "user.bazelrc").read_text(encoding="utf-8"))
        self.succeed(machine, "./bazelw build --config=remote_cache --copt=-DNEW=1 //tests/clones/sample:hello")
        _, asked = self.requests_since(start)
        written = {line.split()[-1] for line in asked if line.startswith("PUT ")}
        # 204: a file that was there, such as an empty one, is written again.
        self.assertIn("201", written)
        self.assertLessEqual(written, {"201", "204"})

    def check_results(self, machine):
        results = machine.clone / "out/ci"
        names = {path.name for path in results.iterdir() if path.is_file()}
        self.assertEqual(names, {"comment.md", "comparison.md", "report.html", "report.md", self.tarball.name})
        comment = (results / "comment.md").read_text(encoding="utf-8")
        for name in ("comparison.md", "report.md"):
            self.assertIn((results / name).read_text(encoding="utf-8"), comment)
        self.assertIn("proposed", comment)
        described = json.loads((results / "evaluation/result.json").read_bytes())
        self.assertIn("reference", json.dumps(described))

    def check_a_worse_policy(self, machine):
        shutil.copytree(WORSE_POLICY, machine.clone / "policy")
        done = machine.run("examples/ci/steps.sh compare", **self.settings(), POLICY="policy")
        self.assertEqual(done.returncode, 12, done.stdout[-6000:])
        self.assertRegex(done.stdout, r"Worse than reference by more than 0\.1%: \w+: proposed \+\d")
        self.assertTrue((machine.clone / "out/ci/comment.md").exists())


def _pairs(texts: list[str]) -> dict[str, pathlib.Path]:
    pairs = (text.partition("=") for text in texts)
    return {name: pathlib.Path(path).absolute() for name, _, path in pairs}


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--corpus", type=pathlib.Path, required=True)
    parser.add_argument("--nginx", type=pathlib.Path, required=True)
    parser.add_argument("--program", action="append", default=[])
    parser.add_argument("--share", type=pathlib.Path, action="append", default=[])
    parser.add_argument("--tarball", type=pathlib.Path, required=True)
    flags = parser.parse_args()
    PipelinesTest.corpus, PipelinesTest.tarball = flags.corpus.absolute(), flags.tarball.absolute()
    # nginx's libraries are found relative to where it really lies.
    PipelinesTest.nginx, PipelinesTest.shared = flags.nginx.resolve(), flags.share
    PipelinesTest.programs = _pairs(flags.program)
    unittest.main(argv=sys.argv[:1])
