"""Policies that other trainers saved: SavedModels of tf-agents' PolicySaver, as ml-compiler-opt writes them.

The development compiler runs them through TensorFlow Lite like ours. They have no weights of our network, so they
cannot be trained further, and are explained by their decisions.
"""

import functools
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
from typing import Any

from mlgo.learning.network import AnyPolicy, ConvertedPolicy
from mlgo.policy.directory import is_peers, load_policy, policy_folder
from mlgo.problems.problem import Problem
from mlgo.run.exit_codes import ExitCode, RunError
from mlgo.run.regular_file import read_file

_PROGRAM = pathlib.Path(__file__).parent / "freeze_peer_policy.py"
_FILES = ("saved_model.pb", "variables/variables.index", "variables/variables.data-00000-of-00001")
_MOST_BYTES = 1 << 30
_REMEDY = "Name the folder of a policy of ours, or of a SavedModel with saved_model.pb and variables/"
_SHOWN_LINES = 3


def load_any_policy(folder: pathlib.Path, problem: Problem) -> tuple[AnyPolicy, dict[str, Any]]:
    """The policy in `folder`, and its record, with "sha256" of its files.

    Raises: RunError: it is neither a policy of ours for `problem` (see `load_policy`) nor a usable SavedModel.
    """
    folder = policy_folder(folder)
    if not is_peers(folder):
        return load_policy(folder, problem)
    contents = {
        name: read_file(folder / name, _MOST_BYTES, "the policy's file", _REMEDY)
        for name in _FILES
        if (folder / name).exists()
    }
    model = _converted(folder, problem.name, tuple(contents.items()))
    digests = {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()}
    return ConvertedPolicy(model), {"problem": problem.name, "sha256": digests}


@functools.lru_cache(maxsize=8)
def _converted(folder: pathlib.Path, problem: str, contents: tuple[tuple[str, bytes], ...]) -> bytes:
    """Args: contents: of the files. A run asks for the same policy more than once; TensorFlow sees no other file."""
    with tempfile.TemporaryDirectory(prefix="mlgo-peer-policy-") as scratch:
        model, copy = pathlib.Path(scratch, "model.tflite"), pathlib.Path(scratch, "policy")
        for name, content in contents:
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            (copy / name).write_bytes(content)
        command = [sys.executable, str(_PROGRAM), f"--policy={copy}", f"--problem={problem}", f"--model={model}"]
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry),
            "TF_CPP_MIN_LOG_LEVEL": "3",
            "TF_ENABLE_ONEDNN_OPTS": "0",
            "TF_USE_LEGACY_KERAS": "1",
            "CUDA_VISIBLE_DEVICES": "",
        }
        done = subprocess.run(command, env=environment, capture_output=True, text=True, errors="replace", check=False)
        if done.returncode == ExitCode.DONE:
            return model.read_bytes()
    try:
        answer = json.loads(done.stdout)
        if not isinstance(answer, list) or len(answer) != 3 or not all(isinstance(text, str) for text in answer):
            raise ValueError("it is no message of freeze_peer_policy.py")
    except (ValueError, RecursionError):
        lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
        wrong = (
            f"made TensorFlow end with status {done.returncode}: {' / '.join(lines[-_SHOWN_LINES:]) or 'no message'}"
        )
        answer = [f"the policy {folder / 'saved_model.pb'}", wrong, _REMEDY]
    raise RunError(*(text.replace(str(copy), str(folder.absolute())) for text in answer))
