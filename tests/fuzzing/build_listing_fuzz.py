"""What builds say of themselves: compile databases, aqueries, parameter files, and linkers' command lines."""

import json

from mlgo.corpus.extraction import bazel_aquery, inputs, quoting
from mlgo.corpus.thinlto import lld_options
from mlgo.run.exit_codes import RunError
from tests.fuzzing import search

SEEDS = (
    b'[{"directory": "/b", "file": "a.c", "command": "clang -c \'a b.c\' -o a\\\\ b.o"},'
    b' {"directory": "x", "file": "b.c", "arguments": ["clang", "@args", "-c", "b.c"], "output": "b.o"}]',
    b'{"actions": [{"mnemonic": "CppLink", "arguments": ["ld", "@p", "-o", "x"], "paramFiles": [{"execPath": "p",'
    b' "arguments": ["bazel-out/k8/bin/a.o", "-lm"]}]}, {"mnemonic": "CppCompile",'
    b' "arguments": ["-c", "a.c", "-o", "a.o"]}]}',
    b"-o program \"a b.o\" 'c d.o' e\\ f.o\n-plugin-opt=O3 --lto-O2 -mllvm -inline-threshold=5 -m elf_x86_64\n"
    b"-pie lib.a @rest",
    b"--lto-cs-profile-file=p -plugin-opt=mcpu=x -mllvm=-code-model=large --lto-basic-block-sections=list -shared -r",
)
WORDS = (
    b"'",
    b'"',
    b"\\",
    b"\n",
    b"@x",
    b" -o ",
    b" -mllvm ",
    b"--lto-",
    b"-plugin-opt=",
    b"&& ",
    b"; ",
    b"A=1 ",
    b"\0",
)


def _without_files(directory: str):
    """As `quoting.response_file_reader`; there are no files."""
    del directory
    return lambda name: None


def run(content: bytes) -> None:
    text = content.decode("utf-8", "surrogateescape")
    inputs.objects_of_link(inputs.words_of(text, lambda word: " " in word), "/base")
    for word in quoting.split_shell(text):
        assert quoting.split_shell("'" + word.replace("'", "'\\''") + "'") == [word]
    try:
        lld_options.back_end(quoting.split_response(text), lambda option, path: "files/0123456789abcdef-x")
    except RunError:
        pass
    try:
        document = json.loads(content)
    except (ValueError, RecursionError):
        return
    if isinstance(document, list):
        inputs.objects_of_database(document, "/base", _without_files)
    elif isinstance(document, dict):
        _aquery(document)


def _aquery(document: dict) -> None:
    actions = document.get("actions")
    if isinstance(actions, list) and all(isinstance(action, dict) for action in actions):
        bazel_aquery.objects_of(actions, "/base", _without_files)


if __name__ == "__main__":
    search.main(search.Target(run, (RunError,), lambda: SEEDS, WORDS))
