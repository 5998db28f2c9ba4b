"""Every file of JSON, JSON lines or a table that others may have made is read, or refused in one sentence.

What stands for a file: pipes, folders, devices, links to themselves. What stands for content: documents that are nested
too deeply, have numbers without end, or fields of any name with values of any type.
"""

import contextlib
import os
import pathlib
import random
import tempfile
import unittest
from collections.abc import Callable

from mlgo.corpus.corpus import Corpus, Module
from mlgo.corpus.extraction import bazel_aquery, inputs
from mlgo.evaluation.corpora import compiled_side
from mlgo.evaluation.programs import commands, program
from mlgo.learning import checkpoint
from mlgo.policy import directory, identity
from mlgo.problems import ir2vec
from mlgo.problems.regalloc_eviction.problem import PROBLEM
from mlgo.reporting import reading
from mlgo.run import files, json_lines, manifest, run_folder
from mlgo.run.exit_codes import RunError
from mlgo.search import corpus_search
from mlgo.search.image import parsed_selection
from mlgo.size_estimator.estimator import SizeEstimator
from mlgo.trace import outcomes
from mlgo.training import figures, growth

Reader = Callable[[pathlib.Path], object]

#: Name of a file -> what reads it, given its folder.
READERS: dict[str, Reader] = {
    "aquery.json": lambda folder: bazel_aquery.load(folder / "aquery.json", str(folder)),
    "checkpoint.json": lambda folder: checkpoint.load_checkpoint(folder, "checkpoint"),
    "code/module.json": lambda folder: compiled_side.code_of_side(folder, ["module"]),
    "compile_commands.json": lambda folder: inputs.from_compile_commands(folder / "compile_commands.json"),
    "configuration.json": lambda folder: _resumed(folder),
    "corpus_description.json": Corpus.load,
    "database.json": lambda folder: commands.load_commands(folder / "database.json", ["*"]),
    "estimator.json": lambda folder: SizeEstimator.load(folder / "estimator.json"),
    "held_out/result.json": lambda folder: reading.read_folder(folder, "a", None),
    "image.json": lambda folder: parsed_selection(files.read_json(folder / "image.json", "it", "Do"), "it", "Do"),
    "lines.jsonl": lambda folder: json_lines.read(folder / "lines.jsonl", "figures", "Do"),
    "manifest.json": manifest.read,
    "metrics.jsonl": lambda folder: reading.read_folder(folder, "a", None),
    "module.json": lambda folder: corpus_search.results_in(folder, [Module.at("module", folder / "a.bc", [])]),
    "policy.json": lambda folder: directory.load_policy(folder, PROBLEM),
    "program.json": lambda folder: program.load_program(folder / "program.json", {}),
    "record.json": lambda folder: outcomes.read_record(folder / "record.json"),
    "result.json": lambda folder: reading.read_folder(folder, "a", None),
    "seconds.jsonl": lambda folder: figures.Metrics(folder).begin([], []),
    "vocabulary.json": lambda folder: ir2vec.vocabulary_in(folder / "vocabulary.json"),
}
#: Another reader of a file above.
IDENTITY = ("policy.json", lambda folder: identity.identity(folder, PROBLEM.name))

DOCUMENTS = [
    *(b"", b"\xff\xfe", b"null", b"[]", b"{}", b"3", b'"x"', b"[null]", b"[[]]", b"[{}]", b"NaN", b"[1e999]"),
    *(b"[" * 100_000, b'{"a":' * 100_000, b"[" * 900 + b"]" * 900, b"[" * 60 + b"]" * 60, b"9" * 5000),
    *(b'{"a":1,"a":2}', b'["\\ud800"]', b'{"a\\u0000":1}', b"function\t" + b"a" * 200_000),
]
FIELDS = (
    "actions algorithm arguments best command configuration correction curve default directory failure_kind file format"
    " format_version functions global_command_override has_thinlto inputs iteration iterations kind layers mean modules"
    " name names next_tries normalizer output outputs policy problem questions run scale side_of sizes sources stage"
    " starts summary training weights"
).split()
VALUES = (
    'null true -1 1e308 9999999999999999999999999999999999999999 "x" "\\ud800" "a\\u0000b" "../../x" "/etc" [] {} [[]]'
    ' [{}] [1] ["x"] {"x":1} {"x":{}} {"x":[]} [[[1]]] {"run":{"iterations":"x"}} {"run":{"iterations":[]}} {"run":[]}'
).split()


def _resumed(folder: pathlib.Path) -> None:
    growth.prepare(folder, {"configuration": {"run": {"iterations": 3}}})
    run_folder.claim_configuration(folder, {"a": 1})


def documents() -> list[bytes]:
    """The same each time."""
    source = random.Random(1)
    found = list(DOCUMENTS)
    for _ in range(150):
        names = source.sample(FIELDS, source.randrange(1, 14))
        text = "{" + ",".join(f'"{name}":{source.choice(VALUES)}' for name in names) + "}"
        found.append(source.choice([text, f"[{text}]", f'{{"actions":[{text}]}}', f"{text}\n"]).encode())
    return found


class ForeignFilesTest(unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def place(self, name: str) -> pathlib.Path:
        """A path of that name in a folder of its own."""
        folder = pathlib.Path(tempfile.mkdtemp(dir=self.root))
        (folder / name).parent.mkdir(exist_ok=True)
        # What belongs to the file and is read first.
        (folder / "found.decisions").write_bytes(b"")
        return folder / name

    def test_what_is_no_file(self):
        kinds = {
            "pipe": os.mkfifo,
            "folder": os.mkdir,
            "device": lambda path: os.symlink("/dev/zero", path),
            "link to itself": lambda path: os.symlink(path, path),
        }
        for name, read in [*READERS.items(), IDENTITY]:
            for kind, make in kinds.items():
                with self.subTest(f"{name}: {kind}"), contextlib.suppress(RunError):
                    path = self.place(name)
                    make(path)
                    read(path.parents[name.count("/")])

    def test_any_document(self):
        for name, read in [*READERS.items(), IDENTITY]:
            for content in documents():
                with self.subTest(f"{name}: {content[:200]!r}"), contextlib.suppress(RunError):
                    path = self.place(name)
                    path.write_bytes(content)
                    read(path.parents[name.count("/")])


if __name__ == "__main__":
    unittest.main()
