"""Compiles the SavedModel of a policy to an object file and a C++ header, with TensorFlow's ahead-of-time compiler.

    aot --policy=DIR --problem=regalloc_eviction --cpp_class=mlgo::EvictionPolicy --header=OUT.h --object=OUT.o

DIR holds saved_model.pb. The same SavedModel gives the same bytes on every machine: instructions are those of plain x86-64,
one thread, and no path or time reaches the outputs. What can be wrong with a policy is said in one sentence before compiling.
"""

import argparse
import json
import os
import pathlib
import signal
import subprocess
import sys

from mlgo.problems.problem import Problem, load_problem
from mlgo.run.exit_codes import ExitCode, RunError
from mlgo.run.files import read_json
from release import aot_compile

#: Lines of TensorFlow's own text that are shown when it ends without an answer.
_SHOWN_LINES = 3


def compile_policy(
    policy: pathlib.Path, problem: Problem, cpp_class: str, header: pathlib.Path, object_file: pathlib.Path
) -> None:
    """Writes `header` and `object_file`.

    Raises: RunError: `policy` is not a SavedModel, not one of a policy for `problem`, or TensorFlow ends over it.
    """
    remedy = aot_compile.remedy(problem)
    if not (policy / "saved_model.pb").is_file():
        found = sorted(entry.name for entry in policy.iterdir())[:5] if policy.is_dir() else "no directory"
        raise RunError(
            f"the policy {policy}", f"is not a SavedModel: saved_model.pb is missing (found {found})", remedy
        )
    _check_record(policy, problem, remedy)
    command = [
        sys.executable,
        aot_compile.__file__,
        f"--policy={policy.absolute()}",
        f"--problem={problem.name}",
        f"--cpp_class={cpp_class}",
        f"--header={header.absolute()}",
        f"--object={object_file.absolute()}",
    ]
    # TensorFlow's C++ writes to file descriptor 2 whatever the log level says; what matters comes as an answer on stdout.
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode == ExitCode.DONE:
        return
    answer = _answer(done.stdout)
    if answer is not None:
        raise RunError(*answer)
    raise RunError(f"the policy {policy / 'saved_model.pb'}", _unexpected_end(done.returncode, done.stderr), remedy)


def _check_record(policy: pathlib.Path, problem: Problem, remedy: str) -> None:
    """Refuses what policy.json says is for another problem: its features would be found fault with instead."""
    path = policy / "policy.json"
    record = read_json(path, "the policy's record", remedy) if path.exists() else {}
    found = record.get("problem", problem.name) if isinstance(record, dict) else None
    if found != problem.name:
        raise RunError(f"the policy {policy}", f"is for {found!r}, not for {problem.name!r}", remedy)


def _answer(stdout: str) -> list[str] | None:
    try:
        answer = json.loads(stdout)
    except ValueError:
        return None
    return answer if isinstance(answer, list) and len(answer) == 3 else None


def _unexpected_end(exit_code: int, stderr: str) -> str:
    """How TensorFlow ended and what it said last, as a clause."""
    names = {member.value: member.name for member in signal.Signals}
    ended = f"by {names.get(-exit_code, f'signal {-exit_code}')}" if exit_code < 0 else f"with exit code {exit_code}"
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    said = " / ".join(lines[-_SHOWN_LINES:]) or "nothing"
    return f"made TensorFlow's compiler end {ended}; it said: {said}"


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--policy", type=pathlib.Path, required=True, help="directory of the SavedModel")
    parser.add_argument(
        "--problem", default="regalloc_eviction", help="folder below mlgo/problems (default: %(default)s)"
    )
    parser.add_argument("--cpp_class", required=True, help="name of the C++ class, with its namespace")
    parser.add_argument("--header", type=pathlib.Path, required=True, help="C++ header to write")
    parser.add_argument("--object", type=pathlib.Path, required=True, help="object file to write")
    flags = parser.parse_args(arguments)
    try:
        compile_policy(flags.policy, load_problem(flags.problem), flags.cpp_class, flags.header, flags.object)
    except RunError as error:
        print(f"aot: {error}", file=sys.stderr)
        return error.exit_code
    return ExitCode.DONE


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
