"""Where a setting comes from: the problem's own file, the user's files, bindings, flags; what comes later wins."""

import mlgo.problems
from mlgo.problems.problem import load_problem
from mlgo.run.exit_codes import RunError
from mlgo.run.testing.folder_case import FolderCase
from mlgo.training.settings import configure


class ConfigurationTest(FolderCase):
    def setUp(self):
        super().setUp()
        self.write("problem.py", "")
        self.write("ppo.gin", "RunSettings.iterations = 1\nRunSettings.seed = 1\nPpoConfig.epochs = 1\n")
        self.write("es.gin", "RunSettings.iterations = 5\nEsConfig.pairs = 5\n")
        path = mlgo.problems.__path__
        self.addCleanup(setattr, mlgo.problems, "__path__", path)
        mlgo.problems.__path__ = [*path, str(self.folder / "problems")]

    def write(self, name: str, text: str) -> None:
        self.file(f"problems/made_up/{name}", text)

    def configured(self, text: str = "", bindings=(), **given):
        return configure({"problem": "made_up", **given}, [self.file("users.gin", text)], bindings)

    def test_what_comes_later_wins(self):
        self.assertEqual(self.configured().run.problem, "made_up")
        users, bindings = "RunSettings.iterations = 2\nPpoConfig.epochs = 2", ["RunSettings.iterations=3"]
        for found, iterations, epochs in (
            (self.configured(), 1, 1),
            (self.configured(users), 2, 2),
            (self.configured(users, bindings), 3, 2),
            (self.configured("", bindings, iterations=4), 4, 1),
        ):
            self.assertEqual((found.run.iterations, found.learner.epochs), (iterations, epochs))

    def test_the_file_is_that_of_the_algorithm(self):
        for found in (self.configured(algorithm="es"), self.configured("RunSettings.algorithm = 'es'")):
            self.assertEqual((found.run.iterations, found.learner.pairs), (5, 5))
        dqn = self.configured(algorithm="dqn")
        self.assertEqual(dqn.to_json()["dqn"], vars(dqn.learner))

    def test_a_problem_s_setting_may_have_files_too(self):
        self.write("es+quick.gin", "EsConfig.pairs = 2\n")
        for problem, pairs in (("made_up", 5), ("made_up+quick", 2), ("made_up+other", 5)):
            found = self.configured(problem=problem, algorithm="es")
            self.assertEqual((found.run.iterations, found.learner.pairs), (5, pairs))

    def test_the_linear_policies_of_stock_compilers_look_at_what_those_compute(self):
        stock = load_problem("inlining_for_size+stock")
        found = configure({"problem": stock.name, "algorithm": "effect_regression"}, [], [])
        names = {*found.network.knots, *found.learner.start}
        self.assertLessEqual(names, {spec.name for spec in stock.observation_specs})
        ours = configure({"problem": "inlining_for_size", "algorithm": "effect_regression"}, [], []).network.knots
        self.assertEqual(dict(found.network.knots), {name: ours[name] for name in ours if name in names})

    def test_a_problem_may_have_an_algorithm_of_its_own(self):
        self.write("defaults.gin", "RunSettings.algorithm = 'es'\nRunSettings.iterations = 7\nRunSettings.seed = 3")
        found = self.configured()
        self.assertEqual((found.run.algorithm, found.run.iterations, found.run.seed), ("es", 5, 3))
        self.assertEqual(found.learner.pairs, 5)
        self.assertEqual(self.configured(algorithm="ppo").learner.epochs, 1)
        self.assertEqual(self.configured("RunSettings.algorithm = 'ppo'").run.algorithm, "ppo")

    def test_only_linear_policies_have_the_knots_of_linear_policies(self):
        def knots(algorithm):
            return configure({"problem": "inlining_for_size", "algorithm": algorithm}, [], []).network.knots

        self.assertEqual(len(knots("effect_regression")), 23)
        self.assertEqual(knots("ppo"), {})

    def test_a_run_that_starts_from_a_policy_keeps_what_it_knows(self):
        effects = {"problem": "inlining_for_size", "algorithm": "effect_regression"}
        self.assertTrue(configure(effects, [], []).learner.start)
        found = configure({**effects, "warm_start": "policy"}, [], []).learner
        self.assertEqual((dict(found.start), found.start_bias), ({}, 0.0))
        self.assertEqual(configure(effects, [], []).learner.first_step, 1.0)
        further = configure({**effects, "warm_start": "policy"}, [], ["EffectConfig.step = 0.2"]).learner
        self.assertEqual(further.first_step, 0.2)
        self.assertEqual(configure({"problem": "made_up", "warm_start": "policy"}, [], []).learner.epochs, 1)

    def test_what_does_not_fit_is_an_error(self):
        for text, message in (
            ("RunSettings.iterations = -1", "must be at least 0"),
            ("RunSettings.iteration = 1", "iteration"),
            ("NoSuchConfig.x = 1", "NoSuchConfig"),
            ("RunSettings.algorithm = 'x'", "must be one of ppo, es"),
            ("RunSettings.warm_start = 'x'", "must be one of bc, none, policy"),
        ):
            with self.subTest(text), self.assertRaisesRegex(RunError, f"gives unusable settings: .*{message}"):
                self.configured(text)
        with self.assertRaisesRegex(RunError, "is no folder below mlgo/problems"):
            configure({"problem": "nowhere"}, [], [])
