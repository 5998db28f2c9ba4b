"""The JSON files of a corpus: description and licences."""

from mlgo.corpus.description import CorpusError, is_safe_name, parse_description, parse_licences
from tests.fuzzing import search

SEEDS = (
    b'{"modules": ["a/b.c", "d"], "has_thinlto": false, "global_command_override": ["-cc1", "-O2"]}',
    b'{"modules": ["x", "x.y"], "has_thinlto": true}',
    b'{"modules": {"a/b.c": "MIT", "d": "Apache-2.0 WITH LLVM-exception"}}',
)


def run(content: bytes) -> None:
    try:
        licences = parse_licences(content, "corpus_licences.json")
        assert all(isinstance(licence, str) for licence in licences.values())
    except CorpusError:
        pass
    description = parse_description(content, "corpus_description.json")
    assert len(set(description.modules)) == len(description.modules) > 0
    assert all(is_safe_name(name) and ".." not in name.split("/") for name in description.modules)


if __name__ == "__main__":
    search.main(
        search.Target(run, (CorpusError,), lambda: SEEDS, words=[b'"modules"', b'"has_thinlto"', b"../", b"\\u0000"])
    )
