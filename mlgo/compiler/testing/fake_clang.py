"""A compiler for tests: checks its flags as clang does, writes the real training-log format, speaks the interactive
channel, and can misbehave.

`install` puts an executable into a directory. A module for it is a JSON object in place of bitcode (see `FakeModule`),
so that a test states for each module which functions it has and what goes wrong. Decisions and scores are a function of
the module and of the files of the model, so equal inputs give equal logs and another policy gives other scores.

fake_clang_program.py is what the executable does.
"""

import json
import os
import sys

from mlgo.compiler.testing import fake_clang_program, log_writer

#: A recorded command that the fake accepts, as it would stand in a corpus.
COMMAND = ("-cc1", "-triple", "x86_64-pc-linux-gnu", "-O2", "-disable-free", "-mrelocation-model", "pic")

#: Folder beside the compiler: while it exists, some compiles stop for mlgo/compiler/testing/killer.py.
KILLER_FOLDER = "killer"

#: What a module can make the compiler do.
BEHAVIOURS = (
    "good",  # log, object, exit code 0
    "crash",  # SIGSEGV
    "crash_with_model",  # the same, but only when a policy decides
    "abort",  # SIGABRT with a message, as LLVM's fatal errors
    "killed",  # SIGKILL as from outside
    "refuse",  # exit code 1 with an error message
    "hang",  # sleeps for ever
    "spin",  # uses CPU time for ever
    "grandchild",  # ends well, but leaves a process behind which holds stderr open
    "hang_with_grandchild",  # hangs, and so does its child
    "chatter",  # writes to stderr for ever while using CPU time
    "out_of_memory",  # allocates until it cannot
    "no_log",  # exit code 0 without a log
    "empty_log",
    "garbage_log",
    "truncated_log",
    "huge_log",  # writes the log for ever
    "no_object",  # exit code 0 without an object
    "no_space",  # says that the disk is full
    "undecided",  # good; behind a fake server: comes to no decision
    "hang_before_decision",  # hangs; behind a fake server: already in what several compiles share
)

#: What a module can make the compiler do in the middle of the interactive channel, beside those of BEHAVIOURS.
CHANNEL_BEHAVIOURS = (
    "silent",  # ends well without opening the channel
    "garbage_header",
    "endless_header",  # a line without end
    "other_dtype",  # its first feature has another type
    "unknown_feature",  # it has one feature more
    "header_twice",  # as two advisors of one kind would
    "byte_by_byte",  # writes the first observation in small pieces
    "talkative",  # writes more to stderr than a pipe holds, between two decisions
    "leaves_inside",  # ends well in the middle of an observation
    "crash_inside",  # crashes in the middle of an observation
    "crash_between",  # crashes after an answer
    "hang_inside",  # hangs in the middle of an observation
    "trailing",  # something comes after the last observation
    "question_at_end",  # ends well without waiting for an answer
    "answer_unread",  # ends well without reading the answer
    "deaf",  # asks for ever without reading an answer
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
    settings = {
        "header": log_writer.header(problem).decode(),
        "advisor_flag": problem.advisor_flag,
        "log_flag": problem.log_flag,
        "model_flag": problem.model_flag,
        "action_name": problem.action_spec.name,
        "mask_feature": problem.mask_feature,
        "action_count": problem.action_count,
        "default_decision": problem.default_decision_spec and problem.default_decision_spec.name,
        "channel_flag": problem.interactive_flag,
        "channel_default_flag": problem.interactive_default_flag,
        "channel_header": log_writer.channel_header(problem).decode(),
        "channel_default_header": problem.interactive_default_flag
        and log_writer.channel_header(problem, True).decode(),
        "ml_support": ml_support,
        "killer": os.path.join(directory, KILLER_FOLDER),
    }
    settings_path = os.path.join(directory, "clang.json")
    with open(settings_path, "w", encoding="utf-8") as file:
        json.dump(settings, file)
    path = os.path.join(directory, "clang")
    with open(path, "w", encoding="utf-8", errors="surrogateescape") as file:
        # Not a #! line naming the interpreter: the kernel cuts it after 255 bytes, and Bazel's paths are longer.
        file.write(
            f"#!/bin/sh\nexec {_quote(sys.executable)} -I -S {_quote(os.path.realpath(fake_clang_program.__file__))}"
            f' {_quote(settings_path)} "$@"\n'
        )
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


def _quote(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"
