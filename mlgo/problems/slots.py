"""Reads the table of policy slots, llvm/slots.bzl."""

import ast
import functools
import pathlib
from typing import Any


@functools.cache
def policy_slots() -> dict[str, dict[str, str]]:
    here = pathlib.Path(__file__)
    # A wheel has the table beside this module (//mlgo:wheel).
    beside = here.with_name("slots.bzl")
    text = (beside if beside.exists() else here.parents[2] / "llvm/slots.bzl").read_text(encoding="utf-8")
    [table] = [statement.value for statement in ast.parse(text).body if isinstance(statement, ast.Assign)]
    return ast.literal_eval(table)


def _slot_of(problem_name: str) -> dict[str, str]:
    for name, slot in policy_slots().items():
        if slot["problem"] == problem_name:
            return {"name": name, **slot}
    raise ValueError(f"problem {problem_name}: has no policy slot; add one to llvm/slots.bzl")


def selector_option(problem_name: str, policy_name: str) -> list[str]:
    """The options of clang that select one of several policies; none for the name "". Raises: ValueError: no slot."""
    slot = _slot_of(problem_name)
    return ["-mllvm", f"-{slot['selector_flag']}={policy_name}"] if policy_name else []


def slot_arguments(problem_name: str) -> dict[str, Any]:
    """The arguments of `Problem` that its slot determines. Raises: ValueError: no slot is for this problem."""
    slot = _slot_of(problem_name)
    flags = {field: slot[field] for field in ("advisor_flag", "interactive_flag")}
    return {"release_setting": f"//release:{slot['name']}", **flags}
