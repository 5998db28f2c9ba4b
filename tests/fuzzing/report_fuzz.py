"""The results that a report reads: runs, evaluations, programs, explanations. A page is made, or one error raised."""

import functools
import json
import pathlib
import tempfile

from mlgo.pages.markdown import summary
from mlgo.pages.rendering import html
from mlgo.reporting.compose import compose
from mlgo.reporting.reading import read_folder
from mlgo.reporting.testing import made_up
from mlgo.run.exit_codes import RunError
from tests.fuzzing import search

_RUN_FILES = (
    "configuration.json",
    "policy/policy.json",
    "metrics.jsonl",
    "held_out/result.json",
    "held_out/functions.csv",
)
_OTHER_FILES = ("timings.json", "result.json", "modules.csv", "explanation.json")


def in_one(folder: pathlib.Path) -> bytes:
    """The result files in `folder` as one JSON object: JSON files as values, others as text."""
    found = {}
    for name in (*_RUN_FILES, *_OTHER_FILES):
        if (folder / name).is_file():
            text = (folder / name).read_text(encoding="utf-8")
            found[name] = json.loads(text) if name.endswith(".json") else text
    return json.dumps(found).encode()


def seeds() -> list[bytes]:
    made = []
    for write in (
        made_up.write_run,
        functools.partial(made_up.write_run, ended=False, iterations=3),
        functools.partial(made_up.write_evaluation, policies={"trained": 0.012}, corpora=("alpha",)),
        made_up.write_programs,
        made_up.write_explanation,
    ):
        with tempfile.TemporaryDirectory() as folder:
            write(pathlib.Path(folder))
            made.append(in_one(pathlib.Path(folder)))
    return made


def run(content: bytes) -> None:
    try:
        found = json.loads(content)
    except (ValueError, RecursionError):
        return
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for path, value in found.items() if isinstance(found, dict) else ():
            if path in (*_RUN_FILES, *_OTHER_FILES):
                (folder / path).parent.mkdir(exist_ok=True)
                text = value if isinstance(value, str) else json.dumps(value)
                (folder / path).write_text(text, encoding="utf-8", errors="surrogatepass")
        page = compose(read_folder(folder, "name", None))
    assert b"<script" not in html(page)
    summary(page)


if __name__ == "__main__":
    words = [b"null", b'"corpora"', b'"all_functions"', b"\\ud800", b"-1", b"1e308", b"<script>", b"\\u0000"]
    search.main(search.Target(run, (RunError,), seeds, words, examples=150, max_bytes=1 << 16, max_steps=20_000_000))
