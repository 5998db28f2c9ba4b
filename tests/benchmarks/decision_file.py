"""The cost of applying a decision file: CPU time of a release clang at -Oz with one, against the same clang without.

The file has what the heuristic decides, a section for each module of the corpus. Both compiles therefore make the same
object, and the ratio shows the advisor and the reading of the file alone.
"""

import pathlib
import tempfile
from collections.abc import Sequence

from mlgo.corpus.corpus import Corpus, Module
from mlgo.run import locate
from mlgo.search.decision_file import read, written
from tests.benchmarks.compile_cost import Variant, compile_once, cost_ratio, measure_costs
from tests.benchmarks.row import Row, at_most

CORPORA = ("lua_oz", "zstd_oz", "re2_oz", "llvm_small_oz_held_out")
#: Issue 20, "Speed".
MOST_TIMES = 1.01


def measure() -> list[Row]:
    """A row for each corpus; takes about ten minutes."""
    clang = locate.runfile("tests/benchmarks/clang_without_policies").resolve()
    rows = []
    for name in CORPORA:
        modules = Corpus.load(locate.runfile(f"mlgo/corpus/{name}")).modules
        with tempfile.TemporaryDirectory() as folder:
            file = write_decisions(clang, modules, pathlib.Path(folder))
            variants = [Variant("default", clang), Variant("file", clang, ("-mllvm", f"-mlgo-decisions={file}"))]
            ratio = cost_ratio(measure_costs(variants, modules, "-Oz"), "file", "default")
        rows.append(at_most(f"{name} with a decision file: CPU time against the default", ratio, "x", MOST_TIMES))
    return rows


def write_decisions(clang: pathlib.Path, modules: Sequence[Module], folder: pathlib.Path) -> pathlib.Path:
    """A decision file in `folder` with what the default of `clang` decides in `modules`.

    Raises: RuntimeError: the compiler fails, or its file is wrong; the message shows how.
    """
    sections = []
    for module in modules:
        taken = folder / "taken"
        compile_once(Variant("account", clang, ("-mllvm", f"-mlgo-decisions-taken={taken}")), module, "-Oz", folder)
        sections += read(taken.read_bytes(), str(taken))
    file = folder / "decisions"
    file.write_bytes(written(sections))
    return file
