"""A compiler for tests: checks its flags as clang does, writes the real training-log format, speaks the interactive
channel, and can misbehave.

`install` puts an executable into a directory. A module for it is a JSON object in place of bitcode (see `FakeModule`),
so that a test states for each module which functions it has and what goes wrong. Decisions and scores are a function of
the module and of the files of the model, so equal inputs give equal logs and another policy gives other scores.

fake_clang_program.py is what the executable does.
"""

import json
import os
import shlex
import sys

from mlgo.compiler.testing import fake_clang_program, log_writer

#: A recorded command that the fake accepts, as it would stand in a corpus.
COMMAND = ("-cc1", "-triple", "x86_64-pc-linux-gnu", "-O2", "-disable-free", "-mrelocation-model", "pic")

#: Folder beside the compiler: while it exists, some compiles stop for mlgo/compiler/testing/killer.py.
KILLER_FOLDER = "killer"

#: What a module can make the compiler do, as `_main` and `_misbehave` of fake_clang_program.py do it; without more, the
#: compile ends well. "undecided" and "hang_before_decision" are for a fake server: no decision is reached.
BEHAVIOURS = tuple(
    "good crash crash_with_model abort killed refuse hang spin grandchild hang_with_grandchild chatter out_of_memory"
    " no_log empty_log garbage_log truncated_log huge_log no_object no_space undecided hang_before_decision".split()
)
#: What it can do in the middle of the interactive channel, as `_interactive` does it.
CHANNEL_BEHAVIOURS = tuple(
    "silent garbage_header endless_header other_dtype unknown_feature header_twice byte_by_byte talkative leaves_inside"
    " crash_inside crash_between hang_inside trailing question_at_end answer_unread deaf".split()
)


class FakeModule:
    """The content of a fake .bc file."""

    @staticmethod
    def bitcode(functions: dict[str, int], behaviour: str = "good", milliseconds: int = 0) -> bytes:
        """`functions`: name -> number of decisions; `milliseconds`: CPU time that compiling it takes."""
        if behaviour not in BEHAVIOURS + CHANNEL_BEHAVIOURS:
            raise ValueError(f"behaviour {behaviour!r} is none of {BEHAVIOURS + CHANNEL_BEHAVIOURS}")
        return json.dumps({"functions": functions, "behaviour": behaviour, "milliseconds": milliseconds}).encode()


def install(directory: str | os.PathLike[str], problem, ml_support: bool = True) -> str:
    """Puts the executable `clang` into `directory` and returns its path.

    Args:
      problem: the mlgo.problems.problem.Problem that it knows.
      ml_support: False: a clang without the problem's flags.
    """
    shared = ("advisor_flag", "log_flag", "model_flag", "mask_feature", "action_count")
    with_default = problem.interactive_default_flag
    settings = {
        "header": log_writer.header(problem).decode(),
        **{name: getattr(problem, name) for name in shared},
        "action_name": problem.action_spec.name,
        "default_decision": problem.default_decision_spec and problem.default_decision_spec.name,
        "channel_flag": problem.interactive_flag,
        "channel_default_flag": with_default,
        "channel_header": log_writer.channel_header(problem).decode(),
        "channel_default_header": with_default and log_writer.channel_header(problem, True).decode(),
        "ml_support": ml_support,
        "killer": os.path.join(directory, KILLER_FOLDER),
    }
    settings_path = os.path.join(directory, "clang.json")
    with open(settings_path, "w", encoding="utf-8") as file:
        json.dump(settings, file)
    path = os.path.join(directory, "clang")
    program = os.path.realpath(fake_clang_program.__file__)
    with open(path, "w", encoding="utf-8", errors="surrogateescape") as file:
        # Not a #! line naming the interpreter: the kernel cuts it after 255 bytes, and Bazel's paths are longer.
        file.write(f'#!/bin/sh\nexec {shlex.join([sys.executable, "-I", "-S", program, settings_path])} "$@"\n')
    os.chmod(path, 0o755)
    return path


def write_corpus(directory: str | os.PathLike[str], modules: dict[str, bytes]) -> str:
    """A corpus of fake modules (name -> content of its .bc); returns the directory."""
    for name, bitcode in modules.items():
        base = os.path.join(directory, name)
        os.makedirs(os.path.dirname(base), exist_ok=True)
        with open(base + ".bc", "wb") as file:
            file.write(bitcode)
        with open(base + ".cmd", "wb") as file:
            file.write(b"".join(argument.encode() + b"\0" for argument in COMMAND))
    with open(os.path.join(directory, "corpus_description.json"), "w", encoding="utf-8") as file:
        json.dump({"modules": sorted(modules), "has_thinlto": False}, file)
    return os.fspath(directory)
