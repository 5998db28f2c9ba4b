"""The commands of the CI files of examples/ci, in their order, for one kind of run."""

import pathlib

from ruamel.yaml import YAML

#: Conditions of steps that hold in pull requests only.
_PULL_REQUEST = "github.event_name == 'pull_request'"
#: A test installs nothing on the machine.
_INSTALLS = "apt-get "


def _load(path: pathlib.Path) -> dict:
    return YAML(typ="safe", pure=True).load(path.read_text(encoding="utf-8"))


def github_commands(path: pathlib.Path, pull_request: bool) -> list[tuple[str, list[str]]]:
    """What the job `build` of a GitHub workflow runs: commands with the variables that their steps set.

    Raises: ValueError: a step has a condition that this function does not know.
    """
    found = []
    for step in _load(path)["jobs"]["build"]["steps"]:
        condition = step.get("if", "").removeprefix("always()").removeprefix(" && ")
        if condition not in ("", _PULL_REQUEST):
            raise ValueError(f"{path}: the condition of the step {step['name']} is not known: {condition}")
        if "run" in step and _INSTALLS not in step["run"] and (pull_request or not condition):
            found.append((step["run"], list(step.get("env", ()))))
    return found


def gitlab_script(path: pathlib.Path) -> str:
    """The shell script that a GitLab runner makes of the job `build`: it ends at the first command that fails."""
    job = _load(path)["build"]
    lines = [line for line in [*job["before_script"], *job["script"]] if not line.startswith(_INSTALLS)]
    return "\n".join(["set -e", *lines, ""])
