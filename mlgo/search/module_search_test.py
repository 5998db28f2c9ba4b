"""Tests of module_search: a toy compiler, in which the best choice is known."""

import itertools
import unittest

import hypothesis
from hypothesis import strategies

from mlgo.search.build import Attempt, Policy
from mlgo.search.module_search import DEFAULT, POLICY, ModuleCannotBeCompiled, refine_module, search_module
from mlgo.search.moves import packed, site_moves
from mlgo.search.testing.toy_compiler import Function, ToyCompiler, finished

BUDGET = 70


def best_of_all(program):
    """The smallest total over all choices for the questions of the default."""
    compiler = ToyCompiler(program)
    sites = list(compiler.build(Attempt(DEFAULT)).decided)
    return min(
        compiler.build(Attempt(DEFAULT, dict(zip(sites, choice)))).total
        for choice in itertools.product((False, True), repeat=len(sites))
    )


class SearchTest(unittest.TestCase):
    def test_brings_in_all_calls_of_a_function_that_then_vanishes(self):
        # One call more costs 7 bytes; three save 3 calls and the function: 20 + 15 - 3 * 8.
        program = {"callee": Function(20, saving=8)}
        program |= {f"user{i}": Function(30, ("callee",), is_local=False) for i in range(2)}
        compiler = ToyCompiler(program, limit=-100)
        found = finished(search_module(BUDGET, False), compiler)
        self.assertEqual(found.best.total, best_of_all(program))
        self.assertLess(found.best.total, found.start[DEFAULT.name].total)

    def test_leaves_out_what_the_heuristic_brings_in(self):
        program = {"callee": Function(12, is_local=False)}
        program |= {f"user{i}": Function(30, ("callee",), is_local=False) for i in range(4)}
        found = finished(search_module(BUDGET, False), ToyCompiler(program))
        self.assertFalse(any(found.best.decided.values()))
        # All calls out, each call out and, when they are out, in again: measured in fewer compiles.
        self.assertGreaterEqual(found.tried, 1 + 4)

    def test_a_module_that_fails_is_not_searched(self):
        with self.assertRaises(ModuleCannotBeCompiled):
            finished(search_module(BUDGET, False), lambda attempts: [None] * len(attempts))

    def test_a_refinement_goes_on_from_a_build(self):
        program = {"callee": Function(20, saving=8)}
        program |= {f"user{i}": Function(30, ("callee",), is_local=False) for i in range(2)}
        compiler = ToyCompiler(program, limit=-100)
        start = Attempt(DEFAULT)
        found = finished(refine_module(BUDGET, start), compiler)
        self.assertEqual(list(found.start.values()), [compiler.build(start)])
        self.assertEqual(found.best.total, best_of_all(program))
        again = finished(refine_module(BUDGET, Attempt(DEFAULT, found.best.all_given)), compiler)
        self.assertEqual((again.best.total, again.complete), (found.best.total, True))
        self.assertEqual(finished(refine_module(1, start), compiler).compiles, 1)

    def test_a_refinement_begins_with_a_section(self):
        for policy in (DEFAULT, POLICY, Policy("cost below -15", cost_limit=-15)):
            attempt = Attempt(policy, {"a": True})
            again = Attempt.of_section(attempt.section())
            self.assertEqual(again.section(), attempt.section())
            self.assertEqual((again.policy.cost_limit, again.policy.uses_model), (policy.cost_limit, policy.uses_model))

    def test_a_refinement_of_what_does_not_compile(self):
        with self.assertRaises(ModuleCannotBeCompiled):
            finished(refine_module(BUDGET, Attempt(DEFAULT)), lambda attempts: [None] * len(attempts))

    def test_failures_of_tries_are_no_results(self):
        program = {"callee": Function(20, saving=8)}
        program |= {f"user{i}": Function(30, ("callee",), is_local=False) for i in range(2)}
        toy = ToyCompiler(program)

        def compiler(attempts):
            return [
                build if build.attempt.policy == DEFAULT and not build.attempt.given else None
                for build in toy(attempts)
            ]

        found = finished(search_module(BUDGET, False), compiler)
        self.assertEqual(found.best.total, found.start[DEFAULT.name].total)
        self.assertEqual(found.tried, 0)

    def test_the_same_twice(self):
        program = {"a": Function(20, saving=4), "b": Function(9, ("a", "a")), "c": Function(40, ("b", "a"), False)}
        first, second = (finished(search_module(BUDGET, False), ToyCompiler(program)) for _ in range(2))
        self.assertEqual(first.best, second.best)
        self.assertEqual(first.curve, second.curve)

    def test_moves_that_do_not_fit_into_the_groups_are_left_out(self):
        program = {"callee": Function(20, saving=10)}
        program |= {f"user{i}": Function(30, ("callee", "callee"), is_local=False) for i in range(3)}
        moves = site_moves(ToyCompiler(program).build(Attempt(DEFAULT)))
        self.assertGreater(len(packed(moves)), 2)
        self.assertEqual(packed(moves, 2), packed(moves)[:2])
        self.assertEqual(packed(moves, 0), [])


@strategies.composite
def programs(draw):
    """Programs of a few functions that call each other."""
    program: dict[str, Function] = {}
    for i in range(draw(strategies.integers(2, 6))):
        calls = draw(strategies.lists(strategies.sampled_from(sorted(program)), max_size=3)) if program else []
        is_local = draw(strategies.booleans()) if i else True
        body = draw(strategies.integers(1, 40))
        program[f"f{i}"] = Function(body, tuple(calls), is_local, draw(strategies.integers(0, body)))
    return program


class PropertiesTest(unittest.TestCase):
    @hypothesis.given(programs(), strategies.integers(1, BUDGET))
    @hypothesis.settings(
        derandomize=True, max_examples=200, deadline=None, suppress_health_check=list(hypothesis.HealthCheck)
    )
    def test_never_worse_than_the_start_and_within_the_budget(self, program, budget):
        compiler = ToyCompiler(program)
        found = finished(search_module(budget, False), compiler)
        self.assertLessEqual(found.best.total, min(build.total for build in found.start.values()))
        self.assertLessEqual(compiler.compiles, budget)
        self.assertEqual(compiler.compiles, found.compiles)
        totals = [total for _, total in found.curve]
        self.assertEqual(totals, sorted(totals, reverse=True))
        # The decisions stand for the build, whatever decides otherwise.
        again = ToyCompiler(program, limit=1000).build(Attempt(DEFAULT, found.best.all_given))
        self.assertEqual(again.sizes, found.best.sizes)


if __name__ == "__main__":
    unittest.main()
