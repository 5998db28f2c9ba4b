"""The CI files of examples/ci hold for the schemas of both services and for a linter; both run the same steps.

Nothing is asked of the network: the schemas are those that check-jsonschema brings.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import check_jsonschema
from ruamel.yaml import YAML

RUNFILES = pathlib.Path(os.environ["TEST_SRCDIR"], os.environ["TEST_WORKSPACE"])
GITHUB, GITHUB_RELEASE, GITHUB_WEEKLY, GITLAB = (
    RUNFILES / "examples/ci" / name for name in ("github.yml", "github_release.yml", "github_weekly.yml", "gitlab.yml")
)
#: What the linter's wheel brings lies in `bin` of the site.
ZIZMOR = pathlib.Path(check_jsonschema.__file__).parents[1] / "bin" / "zizmor"
CALL = re.compile(r"examples/ci/(steps\.sh \w+|comment\.py)")
DIGEST = re.compile(r"[\w-]+/[\w-]+@[0-9a-f]{40}")


def load(path):
    return YAML(typ="safe", pure=True).load(path.read_text(encoding="utf-8"))


class FilesTest(unittest.TestCase):
    def check_schema(self, path, *options):
        """Exit code and output of check-jsonschema."""
        done = subprocess.run(
            [sys.executable, "-m", "check_jsonschema", *options, path], capture_output=True, text=True, check=False
        )
        return done.returncode, done.stdout + done.stderr

    def changed(self, path, old, new):
        """A copy of a file with one change."""
        text = path.read_text(encoding="utf-8")
        self.assertIn(old, text)
        copy = pathlib.Path(tempfile.mkdtemp(dir=os.environ["TEST_TMPDIR"])) / path.name
        copy.write_text(text.replace(old, new), encoding="utf-8")
        return copy

    def test_github_schema(self):
        options = ["--builtin-schema=vendor.github-workflows"]
        limit = "--builtin-schema=custom.github-workflows-require-timeout"
        for path in (GITHUB, GITHUB_RELEASE, GITHUB_WEEKLY):
            for schema in (*options, limit):
                code, said = self.check_schema(path, schema)
                self.assertEqual(code, 0, said)
        wrong = self.changed(GITHUB, "runs-on:", "runs_on:")
        self.assertIn("runs_on", self.check_schema(wrong, *options)[1])

    def test_gitlab_schema(self):
        options = ["--builtin-schema=vendor.gitlab-ci", "--data-transform=gitlab-ci"]
        self.assertEqual(self.check_schema(GITLAB, *options)[0], 0, self.check_schema(GITLAB, *options)[1])
        wrong = self.changed(GITLAB, "when: always", "when: ever")
        self.assertNotEqual(self.check_schema(wrong, *options)[0], 0)

    def lint(self, path):
        """What zizmor finds, as text; empty: nothing."""
        done = subprocess.run(
            [ZIZMOR, "--offline", "--no-config", "--no-progress", "--format=json", path],
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertTrue(done.stdout.startswith("["), done.stderr)
        return [finding["ident"] for finding in json.loads(done.stdout)]

    def test_linter(self):
        self.assertEqual([self.lint(path) for path in (GITHUB, GITHUB_RELEASE, GITHUB_WEEKLY)], [[], [], []])
        self.assertIn("artipacked", self.lint(self.changed(GITHUB, "persist-credentials: false", "clean: true")))

    def test_actions_are_pinned(self):
        jobs = [job for path in (GITHUB, GITHUB_RELEASE, GITHUB_WEEKLY) for job in load(path)["jobs"].values()]
        used = [step["uses"] for job in jobs for step in job["steps"] if "uses" in step]
        self.assertGreater(len(used), 8)
        for name in used:
            self.assertRegex(name, DIGEST)

    def test_both_run_the_same_steps(self):
        workflow = [step.get("run", "") for job in load(GITHUB)["jobs"].values() for step in job["steps"]]
        pipeline = [line for name in ("build", "comment") for line in load(GITLAB)[name]["script"]]
        steps = [" ".join(CALL.findall(" ".join(lines))) for lines in (workflow, pipeline)]
        self.assertEqual(steps[0], "steps.sh configure steps.sh test steps.sh compare steps.sh package comment.py")
        self.assertEqual(steps[1], steps[0])
        for path, job in ((GITHUB_RELEASE, "release_files"), (GITHUB_WEEKLY, "next_llvm")):
            workflow = CALL.findall(" ".join(step.get("run", "") for step in load(path)["jobs"]["build"]["steps"]))
            self.assertEqual(len(workflow), 2)
            self.assertEqual(CALL.findall(" ".join(load(GITLAB)[job]["script"])), workflow)

    def test_what_builds_a_release_cannot_publish_it(self):
        jobs = load(GITHUB_RELEASE)["jobs"]
        self.assertEqual({name: job["permissions"] for name, job in jobs.items()}["build"], {"contents": "read"})
        self.assertEqual([name for name, job in jobs.items() if "write" in job["permissions"].values()], ["publish"])
        self.assertNotIn("secrets.", GITHUB_RELEASE.read_text(encoding="utf-8"))

    def test_both_run_in_debian_12_with_the_same_packages(self):
        workflow, pipeline = load(GITHUB)["jobs"]["build"], load(GITLAB)["build"]
        self.assertEqual((workflow["container"], pipeline["image"]), ("debian:12", "debian:12"))
        self.assertEqual(workflow["steps"][0]["run"], pipeline["before_script"][0])

    def test_the_password_goes_to_one_step_of_the_main_branch(self):
        text = GITHUB.read_text(encoding="utf-8")
        self.assertEqual(text.count("secrets."), 1)
        build = load(GITHUB)["jobs"]["build"]
        self.assertEqual(build["environment"], "${{ github.event_name == 'push' && 'cache' || '' }}")
        rules = [(rule["if"], rule["variables"]["CACHE_ACCESS"]) for rule in load(GITLAB)["build"]["rules"]]
        self.assertEqual([access for condition, access in rules if "merge_request" in condition], ["read"])
        self.assertEqual([access for condition, access in rules if "merge_request" not in condition], ["write"])

    def test_dev_container_is_that_of_the_page(self):
        text = (RUNFILES / ".devcontainer/devcontainer.json").read_text(encoding="utf-8")
        container = json.loads(re.sub(r"(?m)^\s*//.*$", "", text))
        page = (RUNFILES / "docs/build-in-a-container.md").read_text(encoding="utf-8")
        image = re.search(r"--tag (\S+) ", page)
        assert image, page
        self.assertEqual(container["image"], image[1])
        run = next(line for line in page.splitlines() if line.strip().startswith("podman run"))
        volume = re.search(r"-v (mlgo-home):(\S+)", run)
        assert volume, run
        self.assertEqual(container["mounts"], [f"source={volume[1]},target={volume[2]},type=volume"])
        self.assertIn(f":{container['workspaceFolder']} ", run)
        self.assertIn(f"target={container['workspaceFolder']},", container["workspaceMount"])
        self.assertIn(f"`{container['remoteUser']}` (1000:1000)", page)


if __name__ == "__main__":
    unittest.main()
