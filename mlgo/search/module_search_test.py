"""Tests of module_search: a toy compiler, in which the best choice is known."""

import itertools
import unittest

import hypothesis
from hypothesis import strategies

from mlgo.search.decision_file import ANY_MODULE, DEFAULT, Section
from mlgo.search.module_search import ModuleCannotBeCompiled, refine_module, search_module
from mlgo.search.moves import packed, site_moves
from mlgo.search.testing.toy_compiler import Function, ToyCompiler, finished

BUDGET = 70
DECIDED_BY_DEFAULT = Section(ANY_MODULE, DEFAULT, {})


def shared(callee, users, calls=1):
    """A program of one function and of others that call it."""
    others = {f"user{i}": Function(30, ("callee",) * calls, is_local=False) for i in range(users)}
    return {"callee": callee, **others}


def best_of_all(program):
    """The smallest total over all choices for the questions of the default."""
    compiler = ToyCompiler(program)
    sites = list(compiler.build(DECIDED_BY_DEFAULT).decided)
    return min(
        compiler.build(Section(ANY_MODULE, DEFAULT, dict(zip(sites, choice)))).total
        for choice in itertools.product((False, True), repeat=len(sites))
    )


class SearchTest(unittest.TestCase):
    def test_brings_in_all_calls_of_a_function_that_then_vanishes(self):
        # One call more costs 7 bytes; three save 3 calls and the function: 20 + 15 - 3 * 8.
        program = shared(Function(20, saving=8), users=2)
        found = finished(search_module(BUDGET, False), ToyCompiler(program, limit=-100))
        self.assertEqual(found.best.total, best_of_all(program))
        self.assertLess(found.best.total, found.start[DEFAULT].total)

    def test_leaves_out_what_the_heuristic_brings_in(self):
        found = finished(search_module(BUDGET, False), ToyCompiler(shared(Function(12, is_local=False), users=4)))
        self.assertFalse(any(found.best.decided.values()))
        # All calls out, each call out and, when they are out, in again: measured in fewer compiles.
        self.assertGreaterEqual(found.tried, 1 + 4)

    def test_a_module_that_fails_is_not_searched(self):
        for search in (search_module(BUDGET, False), refine_module(BUDGET, DECIDED_BY_DEFAULT)):
            with self.assertRaises(ModuleCannotBeCompiled):
                finished(search, lambda attempts: [None] * len(attempts))

    def test_a_refinement_goes_on_from_a_build(self):
        program = shared(Function(20, saving=8), users=2)
        compiler = ToyCompiler(program, limit=-100)
        found = finished(refine_module(BUDGET, DECIDED_BY_DEFAULT), compiler)
        self.assertEqual(list(found.start.values()), [compiler.build(DECIDED_BY_DEFAULT)])
        self.assertEqual(found.best.total, best_of_all(program))
        again = finished(refine_module(BUDGET, Section(ANY_MODULE, DEFAULT, found.best.all_given)), compiler)
        self.assertEqual((again.best.total, again.complete), (found.best.total, True))
        self.assertEqual(finished(refine_module(1, DECIDED_BY_DEFAULT), compiler).compiles, 1)

    def test_failures_of_tries_are_no_results(self):
        toy = ToyCompiler(shared(Function(20, saving=8), users=2))

        def compiler(attempts):
            return [build if build.attempt == DECIDED_BY_DEFAULT else None for build in toy(attempts)]

        found = finished(search_module(BUDGET, False), compiler)
        self.assertEqual(found.best.total, found.start[DEFAULT].total)
        self.assertEqual(found.tried, 0)

    def test_the_same_twice(self):
        program = {"a": Function(20, saving=4), "b": Function(9, ("a", "a")), "c": Function(40, ("b", "a"), False)}
        first, second = (finished(search_module(BUDGET, False), ToyCompiler(program)) for _ in range(2))
        self.assertEqual((first.best, first.curve), (second.best, second.curve))

    def test_moves_that_do_not_fit_into_the_groups_are_left_out(self):
        program = shared(Function(20, saving=10), users=3, calls=2)
        moves = site_moves(ToyCompiler(program).build(DECIDED_BY_DEFAULT))
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
        again = ToyCompiler(program, limit=1000).build(Section(ANY_MODULE, DEFAULT, found.best.all_given))
        self.assertEqual(again.sizes, found.best.sizes)
