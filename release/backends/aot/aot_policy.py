"""Compiles the SavedModel of a policy to an object file and a C++ header, with TensorFlow's ahead-of-time compiler.

    aot_policy --policy=DIR --problem=regalloc_eviction --cpp_class=mlgo::EvictionPolicy --header=OUT.h --object=OUT.o

DIR contains saved_model.pb. Equal SavedModels give equal bytes on every machine: the code uses baseline x86-64
instructions and one thread, and the outputs contain no path or time. A fault of the policy is reported as one error
before compiling.
"""

import argparse
import json
import os
import pathlib
import signal
import subprocess
import sys

from mlgo.policy.identity import problem_of
from mlgo.problems.problem import Problem, load_problem
from mlgo.run.exit import exit_code_of
from mlgo.run.exit_codes import ExitCode, RunError
from mlgo.run.files import read_json
from release.backends.aot import saved_model_compiler

#: Number of lines of TensorFlow's output that are shown if it ends without a result.
_SHOWN_LINES = 3


def compile_policy(
    policy: pathlib.Path, problem: Problem, cpp_class: str, header: pathlib.Path, object_file: pathlib.Path
) -> None:
    """Writes `header` and `object_file`.

    Raises: RunError: `policy` is not a SavedModel, not one of a policy for `problem`, or TensorFlow aborts.
    """
    remedy = saved_model_compiler.remedy(problem)
    if not (policy / "saved_model.pb").is_file():
        found = sorted(entry.name for entry in policy.iterdir())[:5] if policy.is_dir() else "no directory"
        raise RunError(
            f"the policy {policy}", f"is not a SavedModel: saved_model.pb is missing (found {found})", remedy
        )
    _check_record(policy, problem, remedy)
    command = [
        sys.executable,
        saved_model_compiler.__file__,
        f"--policy={policy.absolute()}",
        f"--problem={problem.name}",
        f"--cpp_class={cpp_class}",
        f"--header={header.absolute()}",
        f"--object={object_file.absolute()}",
    ]
    # TensorFlow's C++ code writes to stderr at every log level; the result is on stdout.
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode == ExitCode.DONE:
        return
    answer = _answer(done.stdout)
    if answer is not None:
        subject, wrong, remedy = answer
        raise RunError(subject, wrong, remedy)
    raise RunError(f"the policy {policy / 'saved_model.pb'}", _unexpected_end(done.returncode, done.stderr), remedy)


def _check_record(policy: pathlib.Path, problem: Problem, remedy: str) -> None:
    """Rejects a policy whose policy.json names another problem; otherwise its features would be reported as wrong."""
    path = policy / "policy.json"
    record = read_json(path, "the policy's record", remedy) if path.exists() else {}
    found = record.get("problem", problem.name) if isinstance(record, dict) else None
    if found != problem.name:
        raise RunError(f"the policy {policy}", f"is for {found!r}, not for {problem.name!r}", remedy)


def _answer(stdout: str) -> list[str] | None:
    try:
        answer = json.loads(stdout)
    except (ValueError, RecursionError):
        return None
    return answer if isinstance(answer, list) and len(answer) == 3 else None


def _unexpected_end(exit_code: int, stderr: str) -> str:
    """TensorFlow's exit status and last output, as a clause."""
    names = {member.value: member.name for member in signal.Signals}
    ended = f"by {names.get(-exit_code, f'signal {-exit_code}')}" if exit_code < 0 else f"with exit code {exit_code}"
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    said = " / ".join(lines[-_SHOWN_LINES:]) or "nothing"
    return f"made TensorFlow's compiler end {ended}; it said: {said}"


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--policy", type=pathlib.Path, required=True, help="directory of the SavedModel")
    parser.add_argument("--problem", required=True, help="folder below mlgo/problems")
    parser.add_argument("--cpp_class", required=True, help="name of the C++ class, with its namespace")
    parser.add_argument("--header", type=pathlib.Path, required=True, help="C++ header to write")
    parser.add_argument("--object", type=pathlib.Path, required=True, help="object file to write")
    flags = parser.parse_args(arguments)

    def compile_given() -> None:
        problem = load_problem(problem_of(flags.policy, flags.problem))
        compile_policy(flags.policy, problem, flags.cpp_class, flags.header, flags.object)

    return exit_code_of(compile_given)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
