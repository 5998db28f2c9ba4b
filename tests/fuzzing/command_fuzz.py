"""Recorded commands: from the bytes of a .cmd file or a .llvmcmd section to the command of a compile."""

import pathlib

from mlgo.corpus.command import CompileCommand
from mlgo.corpus.corpus import join_command, split_command
from mlgo.corpus.self_contained import self_contained_command
from mlgo.run.exit_codes import RunError
from tests.fuzzing import search

SEEDS = (
    b"-cc1\0-triple\0x86_64-unknown-linux-gnu\0-emit-obj\0-O2\0-target-cpu\0x86-64\0-mllvm\0-inline-threshold=5\0"
    b"-I\0/usr/include\0-o\0a.o\0-x\0c++\0a.cc\0",
    b"-cc1\0-fthinlto-index=a.index\0-fprofile-sample-use=a.prof\0-ffunction-sections\0-main-file-name\0a.cc\0",
    b"-cc1\0-fprofile-instrument-use-path=files/0123456789abcdef-a.profdata\0-debugger-tuning=gdb\0-vectorize-loops\0",
)
WORDS = (
    b"\0-mllvm\0",
    b"\0-load\0",
    b"\0@files/0123456789abcdef-a\0",
    b"\0-info-output-file=x\0",
    b"\0-o\0",
    b"\0-plugin-arg-x\0",
    b"\0-print-changed=diff\0",
    b"\0-fthinlto-index=\0",
    b"=",
    b"\xff",
    b"\n",
    b"../",
    b"/etc/passwd",
    b"\0--\0",
    b"\0-\0",
)


def run(content: bytes) -> None:
    recorded = split_command(content)
    assert split_command(join_command(recorded)) == recorded
    for checked in (_carried, _compiled, lambda command: command.portable):
        try:
            checked(CompileCommand(recorded))
        except RunError:
            pass


def _carried(recorded: CompileCommand) -> None:
    options = self_contained_command(recorded, pathlib.Path("/nowhere"), lambda path: "files/0123456789abcdef-x", "m")
    # What is put into a corpus can be used from it.
    _ = CompileCommand(options).portable


def _compiled(recorded: CompileCommand) -> None:
    command = recorded.arguments("in.bc", "out.o", thinlto_index="index")
    assert command[0] == "-cc1" and command[-5:] == ["-o", "out.o", "-x", "ir", "in.bc"]
    assert CompileCommand(["-cc1", *recorded.portable]).portable == recorded.portable


if __name__ == "__main__":
    search.main(search.Target(run, (), lambda: SEEDS, words=WORDS))
