"""Command lines of ml-compiler-opt's documents become command lines of ours; what cannot be is one sentence."""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mlgo.flags.peer_arguments import translated
from mlgo.run.exit_codes import RunError
from mlgo.run.testing.folder_case import FolderCase

_COMPILING = {"problem", "clang", "add_flags", "delete_flags", "replace_flags", "gin_files", "gin_bindings"}
_TRAINING = _COMPILING | {
    *("validation_modules", "algorithm", "iterations", "modules_per_iteration", "warm_start", "vocabulary")
}
_CLONING = {"validation_modules", "vocabulary", "gin_files", "gin_bindings"}

_COMMON = """
import compiler_opt.rl.inlining.env
config_registry.get_configuration.implementation=@configs.InliningConfig
launcher_path=None
clang_path=None
runners.InliningRunner.clang_path=%clang_path
runners.InliningRunner.launcher_path=%launcher_path
problem_config.flags_to_add.add_flags=('-g0',)
problem_config.flags_to_delete.delete_flags=('-split-dwarf-file',)
problem_config.flags_to_replace.replace_flags={'-fprofile-instrument-use-path': '/data/a.profdata'}
"""
_PPO = """
import gin.tf.external_configurables
import tf_agents.agents.ppo.ppo_agent
include 'compiler_opt/rl/inlining/gin_configs/common.gin'
train_eval.agent_config_type=@agents.PPOAgentConfig
train_eval.num_policy_iterations=30
train_eval.batch_size=256
train_eval.train_sequence_length=16
create_agent.policy_network = @actor_distribution_network.ActorDistributionNetwork
ActorDistributionNetwork.fc_layer_params=(100, 100)
ActorDistributionNetwork.dropout_layer_params=(0.2, 0.2)
tf.train.AdamOptimizer.learning_rate = 0.00003
PPOAgent.optimizer = @tf.train.AdamOptimizer()
PPOAgent.use_gae = False
PPOAgent.kl_cutoff_factor = 2.0
"""


class PeerArgumentsTest(FolderCase):
    def write(self, name: str, text: str) -> str:
        relative = f"compiler_opt/rl/inlining/gin_configs/{name}.gin"
        self.file(relative, text)
        return relative

    def translated(self, defined, *words):
        return translated(["program", *words], defined, lambda name: self.folder / name)

    def test_other_command_lines_stay_as_they_are(self):
        for words in ([], ["--problem=x", "--gin", "y"], ["--", "--gin_files=x"]):
            self.assertEqual(self.translated(_TRAINING, *words).arguments, ["program", *words])
        own = ["--gin_bindings=RunSettings.seed=3", "--gin_files=mine.gin"]
        self.file("mine.gin", "RunSettings.seed = 4\n")
        self.assertEqual(set(self.translated(_TRAINING, *own).arguments), {"program", *own})

    def test_the_document_s_trace(self):
        words = ["--data_path=/c", f"--gin_files={self.write('common', _COMMON)}", "--gin_bindings"]
        words += ["clang_path='/llvm/bin/clang'", "--gin_bindings=llvm_size_path='/llvm/bin/llvm-size'"]
        found = self.translated(_COMPILING, *words)
        expected = ["--add_flags=-g0", *["--clang=/llvm/bin/clang"] * 2, "--delete_flags=-split-dwarf-file"]
        expected += ["--problem=inlining_for_size", "--replace_flags=-fprofile-instrument-use-path=/data/a.profdata"]
        self.assertEqual(sorted(found.arguments[1:-1]), expected)
        self.assertEqual((found.arguments[-1], found.notes), ("--data_path=/c", []))

    def test_flags_of_the_user_come_last_and_win(self):
        found = self.translated(_COMPILING, "--clang=/mine", "--gin_bindings=clang_path='/llvm/clang'")
        self.assertEqual(found.arguments[1:], ["--clang=/llvm/clang", "--clang=/mine"])

    def test_settings_of_a_learner(self):
        self.write("common", _COMMON)
        gin = self.write("ppo_nn_agent", _PPO)
        warm = '--gin_bindings=train_eval.warmstart_policy_dir="/w/saved_policy"'
        found = self.translated(_TRAINING, f"--gin_files={gin}", warm)
        flags = {"--algorithm=ppo", "--iterations=30", "--warm_start=/w/saved_policy", "--problem=inlining_for_size"}
        self.assertLessEqual(flags, set(found.arguments))
        settings_given = [word.partition("=")[2] for word in found.arguments if word.startswith("--gin_bindings=")]
        expected = ["NetworkConfig.fc_layer_params = (100, 100)", "PpoConfig.learning_rate = 3e-05"]
        self.assertCountEqual(settings_given, [*expected, "PpoConfig.minibatch = 4096"])
        self.assertEqual(len(found.notes), 2, found.notes)
        self.assertRegex("\n".join(found.notes), "dropout_layer_params: no effect, for networks have no dropout")

    def test_without_a_checkout_names_of_files_stand_for_the_papers_settings(self):
        folder = "compiler_opt/rl/regalloc/gin_configs"
        found = self.translated(_TRAINING, f"--gin_files={folder}/ppo_nn_agent.gin").arguments
        self.assertIn("--problem=regalloc_eviction", found)
        self.assertIn("--algorithm=ppo", found)
        (papers,) = [word for word in found if word.startswith("--gin_files=")]
        self.assertTrue(papers.endswith("/ppo/papers_eviction.gin"), papers)
        found = self.translated(_CLONING, f"--gin_files={folder}/behavioral_cloning_nn_agent.gin").arguments
        self.assertEqual(found[1:], [papers])
        found = self.translated(_COMPILING, f"--gin_files={folder}/common.gin").arguments
        self.assertEqual(found[1], "--problem=regalloc_eviction")
        self.assertFalse([word for word in found if word.startswith("--gin_files")])
        with self.assertRaisesRegex(RunError, "does not exist, and has no counterpart here"):
            self.translated(_TRAINING, f"--gin_files={folder}/dqn_rnn_agent.gin")

    def test_what_is_not_possible_is_refused_in_one_sentence(self):
        for setting, message in (
            ("launcher_path='/evil'", "sets launcher_path to '/evil', and compiles are started without a launcher"),
            ("create_agent.policy_network=@q_rnn_network.QRnnNetwork", "LLVM's policies have no memory"),
            ("QRnnNetwork.lstm_size=(10,)", "LLVM's policies have no memory"),
            ("train_eval.use_random_network_distillation=True", "is not implemented"),
            ("PPOAgent.nonsense=1", "sets PPOAgent.nonsense to 1, and no setting here corresponds to it"),
            ("config_registry.get_configuration.implementation=@os.system", "known are @configs.InliningConfig"),
            ("train_eval.agent_config_type='ppo'", "known are @agents.PPOAgentConfig"),
            ("problem_config.flags_to_add.add_flags=(1,)", "it is a tuple of texts"),
            ("problem_config.flags_to_replace.replace_flags={'a': 1}", "it is a dictionary of texts"),
            ("clang_path=@os.system()", "--clang takes a text or a number"),
            ("PPOAgent.optimizer=@os.system()", "Adam is the only optimiser"),
            ("import os", "imports the module os, which would run it"),
            ("clang_path=", "is not written in gin's syntax"),
            ("tf.keras.activations.tanh.x=1", "no setting here corresponds"),
        ):
            with self.subTest(setting), self.assertRaisesRegex(RunError, message):
                self.translated(_TRAINING, f"--gin_bindings={setting}")
        with self.assertRaisesRegex(RunError, "has settings of a training, and this command does not train"):
            self.translated(_COMPILING, "--gin_bindings=RunSettings.seed=3")

    def test_files_that_include_themselves_end(self):
        gin = self.write("common", "include 'compiler_opt/rl/inlining/gin_configs/common.gin'\nclang_path=None\n")
        with self.assertRaisesRegex(RunError, "includes '.*common.gin', which includes it. Remove"):
            self.translated(_COMPILING, f"--gin_files={gin}")

    def test_files_that_include_twice_as_many_end(self):
        for level in range(12):
            include = f"include 'compiler_opt/rl/inlining/gin_configs/{level + 1}.gin'\n"
            self.write(str(level), include * 2)
        self.write("12", "clang_path=None\n")
        gin = "compiler_opt/rl/inlining/gin_configs/0.gin"
        with self.assertRaisesRegex(RunError, "includes '.*gin', the file number 33. Include fewer files"):
            self.translated(_COMPILING, f"--gin_files={gin}")

    def test_a_name_that_is_too_long_is_refused(self):
        gin = self.write("common", f"include '{'a' * 300}.gin'\n")
        with self.assertRaisesRegex(RunError, "gin file .*: cannot be read: File name too long"):
            self.translated(_COMPILING, f"--gin_files={gin}")

    def test_values_without_bounds_are_refused(self):
        for value, message in (
            ("[" * 5000, "has brackets inside brackets"),
            ("'a' " * 20_000, "has 80,011 characters, more than the 65,536 allowed"),
            ("9" * 5000, "has the number 999"),
            ("{[1]: 2}", "is not written in gin's syntax: unhashable type"),
        ):
            with self.subTest(value[:20]), self.assertRaisesRegex(RunError, message):
                self.translated(_TRAINING, f"--gin_bindings=clang_path={value}")

    @settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(st.text(max_size=40))
    def test_any_binding_is_translated_or_refused(self, text):
        try:
            self.translated(_TRAINING, f"--gin_bindings={text}")
        except RunError:
            pass
