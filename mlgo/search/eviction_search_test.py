"""Tests of eviction_search with an executor in the place of the compiler."""

import pathlib
import tempfile
import unittest
from collections.abc import Iterable

from mlgo.compiler.executor import Outcomes
from mlgo.compiler.request import CompileFailure, CompileLimits, CompileRequest, CompileResult, FailureKind
from mlgo.corpus.corpus import Module
from mlgo.problems.problem import load_problem
from mlgo.run.cache import Cache
from mlgo.run.exit_codes import RunError
from mlgo.search.eviction_search import EvictionSearch, decision_file, ratios_after, with_unique_source
from mlgo.trace.setup import CompileSetup

REPORT = (
    "function\tquestions\tdefault\tasked\tgiven\tbest\ttries\tcurve\n"
    "f\t2\t8\t6\t\t4\t10\t1:8,2:6,7:4\n"
    "g\t1\t3\t\t\t3\t10\t1:3\n"
)
DECISIONS = "mlgo-decisions 1\nevictions\t{}\nspare\tf\t0\t0123456789abcdef\n"
SEED = 3


class FakeExecutor:
    """Answers each request with REPORT and its module's source; `broken` does not compile."""

    def __init__(self):
        self.requests: list[CompileRequest] = []

    def run_ordered(self, requests: Iterable[CompileRequest]) -> Outcomes:
        for request in requests:
            self.requests.append(request)
            name = request.module.name
            if name == "broken":
                yield CompileFailure(name, FailureKind.CRASH, "signal 11")
                continue
            contents = (REPORT, DECISIONS.format(name.removeprefix("copy_of_")))
            found = {file: text.encode() for file, text in zip(request.extra_files, contents, strict=True)}
            yield CompileResult(name, None, b"", 0.0, found)

    def close(self) -> None:
        """Nothing is kept."""


class EvictionSearchTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        (self.folder / "bitcode").write_bytes(b"BC")
        self.executor = FakeExecutor()
        problem = load_problem("regalloc_eviction")
        self.setup = CompileSetup(pathlib.Path("/clang"), problem, CompileLimits(), 1, 0.1, self.executor)

    def run_search(
        self, *names: str, tries: int = 9, cache: Cache | None = None, folder="found", clang="digest", cost=None
    ):
        modules = [Module.at(name, self.folder / "bitcode", ["-cc1", f"-D{name}"]) for name in names]
        search = EvictionSearch(self.setup, None, dict.fromkeys(names, tries), SEED, {"clang": clang}, cache, cost)
        return search.run(self.folder / folder, modules, lambda module: None)

    def test_found(self):
        found, failures = self.run_search("a", "broken")
        self.assertEqual(failures, {"broken": "signal 11"})
        f, g = found["a"].functions
        self.assertEqual((f.default, f.policy, f.best, f.curve), (8.0, 6.0, 4.0, ((1, 8.0), (2, 6.0), (7, 4.0))))
        self.assertIsNone(g.policy)
        self.assertEqual([f.cost_after(tries) for tries in (1, 6, 7, None)], [8.0, 6.0, 4.0, 4.0])
        for tries, better in ((1, False), (2, True)):
            ratio, same = ratios_after(found, self.setup, tries)["a"]
            self.assertEqual((ratio < 1, same), (better, 1.0))

    def test_every_compile_has_the_cost_of_callee_saved_registers(self):
        self.run_search("a")
        self.run_search("a", cost=32768)
        has_cost = ["-mlgo-callee-saved-cost=32768" in request.extra_flags for request in self.executor.requests]
        self.assertEqual(has_cost, [False, False, True, True])  # And no result is taken for one with another cost.

    def test_tries_become_options(self):
        self.run_search("a", tries=9)
        first, second = self.executor.requests
        self.assertLessEqual({"-mlgo-eviction-flips=0", "-mlgo-eviction-more-flips=0"}, set(first.extra_flags))
        for option in ("noisy-tries=2", "flips=4", "more-flips=30", f"seed={SEED}"):
            self.assertIn(f"-mlgo-eviction-{option}", second.extra_flags)
        # 9 of each function on average are 18: 6 for each, and what is left goes by the roots of 8 and 3.
        [factor] = [flag.partition("per-root-cost=")[2] for flag in second.extra_flags if "per-root" in flag]
        self.assertEqual([int(float(factor) * cost**0.5) for cost in (8, 3)], [4, 2])

    def test_a_search_is_not_repeated_unless_something_changes(self):
        first, _ = self.run_search("a")
        again, _ = self.run_search("a")
        self.assertEqual(again["a"], first["a"])
        self.assertEqual(len(self.executor.requests), 2)
        # The costs by default are known.
        self.run_search("a", tries=10)
        self.assertEqual(len(self.executor.requests), 3)
        # `b` has the same costs, so the functions of `a` keep their tries.
        self.run_search("a", "b")
        self.assertEqual([request.module.name for request in self.executor.requests[3:]], ["b", "b"])

    def test_another_folder_has_results_from_the_cache(self):
        cache = Cache(self.folder / "cache", 10**9)
        first, _ = self.run_search("a", "broken", cache=cache)
        again, failures = self.run_search("a", "broken", cache=cache, folder="other")
        self.assertEqual((again, failures), (first, {"broken": "signal 11"}))
        self.assertEqual([request.module.name for request in self.executor.requests], ["a", "broken", "a", "broken"])
        self.run_search("a", cache=cache, folder="third", clang="another")
        self.assertEqual(len(self.executor.requests), 6)

    def test_a_source_is_named_once(self):
        found, _ = self.run_search("a", "b", "copy_of_b")
        self.assertEqual(list(with_unique_source(found)), ["a"])
        self.assertEqual(decision_file(with_unique_source(found)), DECISIONS.format("a").encode())

    def test_damaged_result(self):
        self.run_search("a")
        report = min((self.folder / "found").glob("*.tsv"))
        head, f, g = REPORT.splitlines(keepends=True)
        for damaged, wrong in (
            ("function\n", "is no result of a search"),
            (head + f + "g\t1\n", "has a damaged line 3"),
            (head + f.replace("8", "x", 1) + g, "has a damaged line 2"),
            (head + f.replace("7:4", "7") + g, "has a damaged line 2"),
        ):
            report.write_text(damaged)
            with self.assertRaisesRegex(RunError, f"{wrong}. Delete the folder"):
                self.run_search("a")

    def test_damaged_decisions(self):
        self.run_search("a")
        decisions = min((self.folder / "found").glob("*.decisions"))
        section = DECISIONS.format("a").partition("\n")[2]
        for damaged, wrong in (
            ("mlgo-decisions 1\nevictions\ta\nspare\tf\n", "has no decision in line 3: .*//mlgo:tune"),
            ("mlgo-decisions 1\n", "another form than one section of evictions. Delete the folder"),
            (DECISIONS.format("b") + section, "another form than one section"),
            ("mlgo-decisions 1\nmodule\ta\notherwise default\n", "another form than one section"),
        ):
            decisions.write_text(damaged)
            with self.assertRaisesRegex(RunError, wrong):
                self.run_search("a")


if __name__ == "__main__":
    unittest.main()
