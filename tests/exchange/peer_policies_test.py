"""Policies that tf-agents saved, in the development compiler and in the commands; what is unusable is one sentence."""

import json
import pathlib
import shutil
import tempfile
import unittest

import numpy as np
import tensorflow as tf
from tensorflow.core.protobuf import saved_model_pb2

from mlgo.learning.network import ConvertedPolicy
from mlgo.policy.freeze_peer_policy import frozen_graph
from mlgo.policy.peer_policy import load_any_policy
from mlgo.problems.problem import Problem, load_problem
from mlgo.run.exit_codes import RunError
from release.backends.aot.aot_policy import compile_policy
from release.backends.aot.saved_model_compiler import compile_saved_model
from tests.exchange.exchange_case import CLANG, ExchangeCase
from tests.exchange.peer_policies import save_peers_policy

_PROBLEMS = ("inlining_for_size", "regalloc_eviction")
_SEED = 2


def _observation(problem: Problem, random: np.random.Generator) -> dict[str, np.ndarray]:
    found = {}
    for spec in problem.observation_specs:
        values = random.integers(0, 200, spec.shape)
        if spec.name == problem.mask_feature:
            values = random.integers(0, 2, spec.shape)
            values[..., -1] = 1
        found[spec.name] = values.astype(spec.dtype)
    return found


class PeerPoliciesTest(ExchangeCase):
    policies: pathlib.Path

    @classmethod
    def setUpClass(cls):
        cls.policies = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))

    def saved(self, name: str, seed: int = 1, kind: str = "greedy") -> pathlib.Path:
        """A policy that all tests share."""
        folder = self.policies / f"{name}_{kind}_{seed}" / "saved_policy"
        if not folder.exists():
            save_peers_policy(folder, load_problem(name), seed, kind)
        return folder

    def test_the_model_decides_as_the_policy_that_tf_agents_saved(self):
        for name in _PROBLEMS:
            with self.subTest(name):
                problem = load_problem(name)
                # With this seed, the policy of inlining says both yes and no.
                folder = self.saved(name, _SEED)
                policy, record = load_any_policy(folder, problem)
                self.assertIn("variables/variables.index", record["sha256"])
                assert isinstance(policy, ConvertedPolicy)
                interpreter = tf.lite.Interpreter(model_content=policy.model)
                interpreter.allocate_tensors()
                action = tf.saved_model.load(str(folder)).signatures["action"]
                rest = {"discount": tf.zeros([1]), "reward": tf.zeros([1]), "step_type": tf.zeros([1], tf.int32)}
                random, decisions = np.random.default_rng(1), []
                for _ in range(50):
                    observation = _observation(problem, random)
                    for detail in interpreter.get_input_details():
                        feature = detail["name"].removeprefix("action_").removesuffix(":0")
                        interpreter.set_tensor(detail["index"], observation[feature])
                    interpreter.invoke()
                    found = interpreter.get_tensor(interpreter.get_output_details()[0]["index"])
                    given = {feature: tf.constant(value) for feature, value in observation.items()}
                    expected = action(**given, **rest)[problem.action_spec.name].numpy()
                    np.testing.assert_array_equal(found, expected)
                    decisions.append(int(found[0]))
                self.assertGreater(len(set(decisions)), 1)

    def test_evaluate_trace_and_imitate(self):
        corpus = self.extract("O2", 6)
        policy = self.saved("regalloc_eviction")
        flags = ["--problem=regalloc_eviction", f"--clang={CLANG}"]
        said = self.run_well(
            "evaluate",
            *flags,
            f"--policy=peer={policy}",
            f"--corpus=small={corpus}",
            f"--output_dir={self.folder / 'evaluation'}",
        )
        self.assertRegex(said, "small, peer: ")
        result = json.loads((self.folder / "evaluation" / "result.json").read_text(encoding="utf-8"))
        self.assertIn("peer", json.dumps(result))
        self.run_well("compare", f"one={self.folder}/evaluation", f"two={self.folder}/evaluation")
        said = self.run_well(
            "generate_default_trace",
            *flags,
            f"--data_path={corpus}",
            f"--policy_path={policy}",
            f"--output_path={self.folder / 'trace'}",
            "--output_format=tfrecord",
        )
        self.assertRegex(said, "traced 6 of 6 modules")
        self.run_well(
            "train_locally",
            *flags,
            f"--train_corpus={corpus}",
            f"--output_dir={self.folder / 'run'}",
            "--algorithm=bc_max",
            f"--imitate={policy}",
            "--warm_start=none",
            "--iterations=1",
            "--modules_per_iteration=3",
            "--validation_modules=2",
        )
        self.assertTrue((self.folder / "run" / "policy" / "policy.json").exists())

    def test_explain(self):
        corpus = self.extract("Oz", 3)
        for name in _PROBLEMS:
            with self.subTest(name):
                out = self.folder / f"explanation_{name}"
                flags = [f"--problem={name}", f"--clang={CLANG}", f"--corpus={corpus}", f"--output_dir={out}"]
                self.run_well("explain", *flags, f"--policy={self.saved(name, _SEED)}", "--repeats=1")
                found = json.loads((out / "explanation.json").read_text(encoding="utf-8"))
                self.assertGreater(found["decisions"], 0)
                self.assertGreater(found["importance"][0]["changed_decisions"], 0)
                self.assertEqual({example["margin"] for example in found["examples"]} - {None}, set())

    def test_what_needs_our_network_is_refused(self):
        corpus = self.extract("O2", 2)
        flags = ["--problem=regalloc_eviction", f"--clang={CLANG}", f"--train_corpus={corpus}"]
        policy = f"--warm_start={self.saved('regalloc_eviction')}"
        code, said = self.run_command("train_locally", *flags, f"--output_dir={self.folder / 'run'}", policy)
        self.assertEqual(code, 2, said)
        self.assertIn("whose network is not ours, so it cannot be trained further", said)
        self.assertNotIn("Traceback", said)

    def test_the_release_backend_compiles_them(self):
        for name in _PROBLEMS:
            problem = load_problem(name)
            header, body = self.folder / "policy.h", self.folder / "policy.o"
            compile_policy(self.saved(name), problem, "mlgo::Peer", header, body)
            text = header.read_text(encoding="utf-8")
            for feature in ("mask", "progress") if problem.mask_feature else ("cost_estimate", "caller_users"):
                self.assertIn(f"feed_{feature}", text)
            self.assertIn(f"fetch_{problem.action_spec.name}", text)
            self.assertNotIn("feed_step_type", text)
            self.assertGreater(body.stat().st_size, 1000)

    def test_policies_that_cannot_be_used_are_one_sentence(self):
        inlining, eviction = map(load_problem, _PROBLEMS)
        good = self.saved("inlining_for_size")
        damaged = shutil.copytree(good, self.folder / "damaged")
        weights = damaged / "variables" / "variables.data-00000-of-00001"
        weights.write_bytes(weights.read_bytes()[:100])
        absent = shutil.copytree(good, self.folder / "absent")
        shutil.rmtree(absent / "variables")
        for folder, problem, message in (
            (self.saved("inlining_for_size", kind="exploring"), inlining, r"draws its decisions \(Multinomial\)"),
            (self.saved("inlining_for_size", kind="recurrent"), inlining, r"has a memory \(network_state_0"),
            (good, eviction, "it wants the feature 'call_argument_setup', which the compiler lacks"),
            (damaged, inlining, "the policy's weights .*: (has|cannot be read)"),
            (absent, inlining, "the policy's weights .*: cannot be read"),
        ):
            # In this process; the test below starts the programs.
            with self.subTest(message):
                with self.assertRaisesRegex(RunError, message):
                    frozen_graph(folder, problem)
                with self.assertRaisesRegex(RunError, message):
                    compile_saved_model(folder, problem, "mlgo::Peer", self.folder / "p.h", self.folder / "p.o")
        with self.assertRaisesRegex(RunError, "the policy's record"):
            load_any_policy(self.folder / "nowhere", inlining)

    def test_a_policy_that_may_do_more_than_decide_is_refused(self):
        problem, folder, evil = load_problem("inlining_for_size"), self.folder / "evil", _Evil()
        tf.saved_model.save(evil, str(folder), signatures={"action": evil.action})
        message = "has the operation ReadFile, which is not known to be arithmetic only"
        with self.assertRaisesRegex(RunError, message):
            load_any_policy(folder, problem)
        with self.assertRaisesRegex(RunError, message):
            compile_policy(folder, problem, "mlgo::Peer", self.folder / "p.h", self.folder / "p.o")

    def test_what_is_run_to_restore_weights_is_checked_too(self):
        problem = load_problem("inlining_for_size")
        for kind in ("restore", "read"):
            folder, harm = self.folder / kind, self.folder / f"harm of {kind}"
            shutil.copytree(self.saved(problem.name), folder)
            _write_file_when(kind, folder / "saved_model.pb", harm)
            with self.subTest(kind):
                with self.assertRaisesRegex(RunError, "restores its weights with the operation WriteFile"):
                    frozen_graph(folder, problem)
                self.assertFalse(harm.exists())


def _write_file_when(kind: str, path: pathlib.Path, harm: pathlib.Path) -> None:
    """Makes the SavedModel at `path` write the file `harm` when its weights are restored, or a variable is read."""
    model = saved_model_pb2.SavedModel.FromString(path.read_bytes())
    (meta_graph,) = model.meta_graphs
    with tf.Graph().as_default() as graph:
        tf.io.write_file(str(harm), "harm", name="harm")
    meta_graph.graph_def.node.extend(graph.as_graph_def().node)
    read = [node for node in meta_graph.graph_def.node if node.name.endswith("/Read/ReadVariableOp")]
    if kind == "restore":
        meta_graph.saver_def.restore_op_name = "harm"
    for node in read if kind == "read" else []:
        node.input.append("^harm")
    path.write_bytes(model.SerializeToString())


class _Evil(tf.Module):
    @tf.function(input_signature=[tf.TensorSpec([1], tf.int64, name="cost_estimate")])
    def action(self, cost_estimate):
        size = tf.strings.length(tf.io.read_file("/etc/hostname"))
        return {"inlining_decision": cost_estimate + tf.cast(size, tf.int64)}


if __name__ == "__main__":
    unittest.main()
