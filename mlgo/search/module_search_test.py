"""Tests of module_search: a toy compiler, in which the best choice is known."""

import itertools
import unittest

import hypothesis
import numpy as np
from hypothesis import strategies

from mlgo.search.build import Attempt, Policy
from mlgo.search.module_search import (
    DEFAULT,
    POLICY,
    ModuleCannotBeCompiled,
    refine_module,
    search_from_policy,
    search_module,
)
from mlgo.search.moves import callee_moves, packed, site_moves
from mlgo.search.sampled_moves import sampled_moves
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


def every_move(build):
    return [*callee_moves(build, promising=False), *site_moves(build, promising=False)]


class SearchFromPolicyTest(unittest.TestCase):
    PROGRAM = {"callee": Function(20, saving=10), "dear": Function(200, is_local=False)} | {
        f"user{i}": Function(30, ("callee", "dear"), is_local=False) for i in range(3)
    }

    def test_it_begins_with_the_policy_alone_and_finds_what_is_smaller(self):
        compiler = ToyCompiler(self.PROGRAM, limit=-100)
        found = finished(search_from_policy(BUDGET, 10, every_move, lambda *measured: None), compiler)
        self.assertEqual(list(found.start), [POLICY.name])
        self.assertEqual(found.best.total, best_of_all(self.PROGRAM))

    def test_what_it_reports_is_what_a_compile_measures(self):
        compiler = ToyCompiler(self.PROGRAM, limit=-100)
        reports = []
        finished(search_from_policy(BUDGET, 10, every_move, lambda *measured: reports.append(measured)), compiler)
        sizes = set()
        for build, sites, saved in reports:
            turned = {site: not build.decided[site] for site in sites}
            again = compiler.build(Attempt(POLICY, build.all_given | turned))
            self.assertEqual(saved, build.total - again.total, sorted(turned))
            sizes.add(len(turned))
        self.assertLessEqual({1, 3}, sizes)

    def test_only_so_many_compiles_go_into_the_policy_itself(self):
        reports = []
        compiler = ToyCompiler(self.PROGRAM, limit=-100)
        found = finished(search_from_policy(3, 2, every_move, lambda *measured: reports.append(measured)), compiler)
        self.assertEqual(found.compiles, 3)
        self.assertEqual(len({id(build) for build, *_ in reports}), 1)

    def test_moves_that_do_not_fit_into_the_groups_are_left_out(self):
        moves = every_move(ToyCompiler(self.PROGRAM).build(Attempt(POLICY)))
        self.assertEqual(packed(moves, 2), packed(moves)[:2])
        self.assertEqual(packed(moves, 0), [])

    def test_the_promising_moves_are_among_all(self):
        build = ToyCompiler(self.PROGRAM).build(Attempt(POLICY))
        promising = {move.name for moves_of in (callee_moves, site_moves) for move in moves_of(build)}
        self.assertLess(promising, {move.name for move in every_move(build)})


class SampledMovesTest(unittest.TestCase):
    def sampled(self, seed, unpromising):
        build = ToyCompiler(SearchFromPolicyTest.PROGRAM).build(Attempt(POLICY))
        return [move.name for move in sampled_moves(build, np.random.default_rng(seed), unpromising)]

    def test_callees_come_first_and_the_order_is_drawn(self):
        one, again, other = self.sampled(1, 1.0), self.sampled(1, 1.0), self.sampled(2, 1.0)
        self.assertEqual(one, again)
        self.assertNotEqual(one, other)
        self.assertEqual(sorted(one), sorted(other))
        kinds = [kind == "site" for kind, _ in one]
        self.assertEqual(kinds, sorted(kinds))

    def test_one_of_several_calls_is_not_brought_in_alone(self):
        def brought_in_alone(limit):
            build = ToyCompiler(SearchFromPolicyTest.PROGRAM, limit).build(Attempt(POLICY))
            sampled = sampled_moves(build, np.random.default_rng(1), 1.0)
            return [move for move in sampled if move.name[0] == "site" and any(move.flips.values())]

        self.assertEqual(brought_in_alone(limit=-100), [])
        # Calls that are inlined are turned one by one as well.
        build = ToyCompiler(SearchFromPolicyTest.PROGRAM, limit=1000).build(Attempt(POLICY))
        kinds = {move.name[0] for move in sampled_moves(build, np.random.default_rng(1), 1.0)}
        self.assertEqual(kinds, {"all out", "site"})

    def test_the_share_of_the_unpromising(self):
        self.assertLess(set(self.sampled(1, 0.0)), set(self.sampled(1, 1.0)))


@strategies.composite
def programs(draw):
    """Programs of a few functions that call each other."""
    program = {}
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
