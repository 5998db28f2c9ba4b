"""The commands of ml-compiler-opt's documents, typed as they stand there, on a small corpus of C++.

docs/inlining-demo/demo.md and docs/regalloc-demo/demo.md: extract_ir, generate_default_trace, the vocabulary, train_bc,
train_locally, and the performance report. Only names of folders differ, and trainings are short.
"""

import csv
import json
import unittest

from mlgo.corpus.corpus import Corpus
from tests.exchange.exchange_case import CLANG, ExchangeCase

_GIN = "compiler_opt/rl/{problem}/gin_configs/{name}.gin"
#: In the words of a gin file of ml-compiler-opt, with another network.
_COMMON = """
import compiler_opt.rl.inlining.env
config_registry.get_configuration.implementation=@configs.InliningConfig
launcher_path=None
llvm_size_path=None
clang_path=None
runners.InliningRunner.llvm_size_path=%llvm_size_path
runners.InliningRunner.clang_path=%clang_path
problem_config.flags_to_add.add_flags=()
problem_config.flags_to_delete.delete_flags=('-split-dwarf-file','-split-dwarf-output',)
problem_config.flags_to_replace.replace_flags={}
"""
_CLONING = """
import gin.tf.external_configurables
import tf_agents.networks.q_network
include 'compiler_opt/rl/inlining/gin_configs/common.gin'
train_eval.agent_config_type=@agents.BCAgentConfig
train_eval.num_iterations=1000
train_eval.batch_size=64
train_eval.train_sequence_length=1
inlining.config.get_observation_processing_layer_creator.quantile_file_dir='compiler_opt/rl/inlining/vocab'
create_agent.policy_network = @q_network.QNetwork
QNetwork.fc_layer_params=(24, 12)
QNetwork.dropout_layer_params=(0.2, 0.2)
tf.train.AdamOptimizer.learning_rate = 0.001
BehavioralCloningAgent.optimizer = @tf.train.AdamOptimizer()
BehavioralCloningAgent.epsilon_greedy = 0.1
"""
_PPO = """
import tf_agents.agents.ppo.ppo_agent
include 'compiler_opt/rl/inlining/gin_configs/common.gin'
train_eval.agent_config_type=@agents.PPOAgentConfig
train_eval.warmstart_policy_dir=''
train_eval.num_policy_iterations=1
train_eval.num_modules=2
train_eval.num_iterations=300
train_eval.batch_size=256
train_eval.train_sequence_length=16
create_agent.policy_network = @actor_distribution_network.ActorDistributionNetwork
ActorDistributionNetwork.fc_layer_params=(24, 12)
tf.train.AdamOptimizer.learning_rate = 0.00003
PPOAgent.importance_ratio_clipping = 0.2
"""


class DocumentsTest(ExchangeCase):
    def test_inlining_with_a_checkout(self):
        """docs/inlining-demo/demo.md, with gin files of its own."""
        for name, text in (("common", _COMMON), ("behavioral_cloning_nn_agent", _CLONING), ("ppo_nn_agent", _PPO)):
            path = self.folder / _GIN.format(problem="inlining", name=name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        gin = "--gin_files=compiler_opt/rl/inlining/gin_configs"
        corpus = self.extract("Oz", 6)
        trace, vocabulary, warm, model = (self.folder / name for name in ("trace", "vocab", "warmstart", "model"))
        clang = [f"--gin_bindings=clang_path='{CLANG}'", "--gin_bindings=llvm_size_path='/llvm/bin/llvm-size'"]
        said = self.run_well(
            "generate_default_trace",
            f"--data_path={corpus}",
            f"--output_path={trace}",
            f"{gin}/common.gin",
            "--gin_bindings=config_registry.get_configuration.implementation=@configs.InliningConfig",
            *clang,
            "--sampling_rate=0.7",
        )
        self.assertRegex(said, "traced 5 of 5 modules")
        self.run_well("sparse_bucket_generator", f"{gin}/common.gin", f"--input={trace}", f"--output_dir={vocabulary}")
        said = self.run_well(
            "train_bc", f"--root_dir={warm}", f"--data_path={trace}", f"{gin}/behavioral_cloning_nn_agent.gin"
        )
        self.assertRegex(said, "dropout_layer_params: no effect, for networks have no dropout")
        self.assertRegex(said, r"repeats .* of the \d+ decisions")
        # What limits the run is ours: the validation of so few modules.
        self.run_well(
            "train_locally",
            f"--root_dir={model}",
            f"--data_path={corpus}",
            *clang,
            f"{gin}/ppo_nn_agent.gin",
            f'--gin_bindings=train_eval.warmstart_policy_dir="{warm}/saved_policy"',
            "--validation_modules=2",
        )
        record = json.loads((model / "policy" / "policy.json").read_text(encoding="utf-8"))
        configuration = record["training"]["configuration"]
        self.assertEqual(configuration["ppo"]["learning_rate"], 3e-5)
        self.assertEqual(configuration["ppo"]["minibatch"], 4096)
        self.assertEqual(configuration["run"]["iterations"], 1)
        performance = self.folder / "performance_report"
        self.run_well(
            "generate_default_trace",
            f"--data_path={corpus}",
            f"--policy_path={model}/saved_policy",
            f"--output_performance_path={performance}",
            f"{gin}/common.gin",
            *clang,
            "--sampling_rate=0.4",
        )
        with open(performance, encoding="utf-8", newline="") as file:
            self.assertEqual(len(list(csv.DictReader(file))), 3)

    def test_eviction_without_a_checkout(self):
        """docs/regalloc-demo/demo.md; the names of its gin files stand for the papers' settings."""
        corpus = self.extract("O2", 4)
        trace, vocabulary, warm = (self.folder / name for name in ("default_trace", "vocab", "warmstart"))
        clang = f"--gin_bindings=clang_path='{CLANG}'"
        gin = "--gin_files=compiler_opt/rl/regalloc/gin_configs"
        said = self.run_well(
            "generate_default_trace",
            f"--data_path={corpus}",
            f"--output_path={trace}",
            f"{gin}/common.gin",
            clang,
            "--output_format=tfrecord",
        )
        self.assertRegex(said, r"\d+ examples -> .*/default_trace\.tfrecord")
        self.assertGreater((trace / "default_trace.tfrecord").stat().st_size, 1000)
        self.run_well("sparse_bucket_generator", f"--input={trace}", f"--output_dir={vocabulary}", f"{gin}/common.gin")
        self.run_well(
            "train_bc", f"--root_dir={warm}", f"--data_path={trace}", f"{gin}/behavioral_cloning_nn_agent.gin"
        )
        self.run_well(
            "train_locally",
            f"--root_dir={self.folder / 'output_model'}",
            f"--data_path={corpus}",
            clang,
            f"{gin}/ppo_nn_agent.gin",
            f'--gin_bindings=train_eval.warmstart_policy_dir="{warm}/saved_policy"',
            # Ours, because the papers' run takes days.
            "--gin_bindings=train_eval.num_policy_iterations=1",
            "--gin_bindings=train_eval.num_modules=2",
            "--validation_modules=1",
        )

    def test_combining_corpora_and_a_hand_written_override(self):
        """docs/regalloc-demo/demo.md, "Corpus extraction (thinLTO case)": the options of the link, for the driver."""
        corpora = self.folder / "all"
        self.extract("O2", 2).rename(self.folder / "first")
        (self.folder / "all").mkdir()
        (self.folder / "first").rename(corpora / "first")
        self.run_well("combine_training_corpus", f"--root_dir={corpora}")
        self.assertEqual(len(Corpus.load(corpora).modules), 2)
        path = corpora / "first" / "corpus_description.json"
        description = json.loads(path.read_text(encoding="utf-8"))
        description["global_command_override"] = [
            *("-fPIC", "-mllvm", "-instcombine-lower-dbg-declare=0", "-mllvm", "-import-instr-limit=30"),
            *("-no-canonical-prefixes", "-O2", "-nostdlib++", "--sysroot=/path/to/sysroot", "-c"),
        ]
        path.write_text(json.dumps(description), encoding="utf-8")
        flags = [
            f"--data_path={corpora / 'first'}",
            "--gin_files=compiler_opt/rl/regalloc/gin_configs/common.gin",
            f"--gin_bindings=clang_path='{CLANG}'",
        ]
        said = self.run_well("generate_default_trace", *flags, f"--output_path={self.folder / 'trace'}")
        self.assertRegex(said, "traced 2 of 2 modules")
        description["global_command_override"].append(f"-fplugin={self.folder}/evil.so")
        path.write_text(json.dumps(description), encoding="utf-8")
        code, said = self.run_command("generate_default_trace", *flags, f"--output_path={self.folder / 'evil'}")
        self.assertEqual(code, 2, said)
        self.assertRegex(said, "global_command_override of corpus .* has the driver's option -fplugin=")
        self.assertFalse((self.folder / "evil").exists())


if __name__ == "__main__":
    unittest.main()
