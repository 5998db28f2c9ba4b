"""What each setting of ml-compiler-opt's gin files means here: a flag, a setting of ours, or nothing, with the reason.

Names and values: ml-compiler-opt, compiler_opt/rl/*/gin_configs/*.gin.
"""

import dataclasses
import re
from collections.abc import Collection, Mapping
from typing import Any

from mlgo.run.gin_text import Macro, Reference

#: Value of config_registry.get_configuration.implementation -> our problem.
PROBLEMS = {
    "configs.InliningConfig": "inlining_for_size",
    "configs.RegallocEvictionConfig": "regalloc_eviction",
    "configs.RegallocPriorityConfig": "regalloc_priority",
}
#: Value of train_eval.agent_config_type -> our algorithm; "bc": behavioural cloning.
AGENTS = {"agents.PPOAgentConfig": "ppo", "agents.BCAgentConfig": "bc", "agents.DQNAgentConfig": "dqn"}


@dataclasses.dataclass(frozen=True)
class Flag:
    """The setting is a flag. Attributes: name: of the flag; empty: values that mean that the flag is not given."""

    name: str
    empty: tuple[Any, ...] = (None, "")


@dataclasses.dataclass(frozen=True)
class Setting:
    """The setting is one of ours. Attributes: by_agent: agent -> CLASS.FIELD; others have no such setting."""

    by_agent: Mapping[str, str]


@dataclasses.dataclass(frozen=True)
class NoEffect:
    """The setting changes nothing here."""

    reason: str = ""  #: a clause for the note; "": what the setting says is so anyway, and no note is given.
    silent: tuple[Any, ...] = ()  #: values of which this is true.


@dataclasses.dataclass(frozen=True)
class Only:
    """Only some values are possible here. Attributes: reason: a clause for the refusal of others."""

    values: tuple[Any, ...]
    reason: str


Meaning = Flag | Setting | NoEffect | Only
_RETURNS = "a decision's return is the improvement of its function or module, so returns need no value function"
_STEPS = "our trainings pass over the collected decisions (epochs) instead of counting steps"
_NORMALISED = "features are normalised by pieces of their quantiles"
_VALUE = "the value is learned by a network here, and is the constant 0 there"
_KL = "an update ends at PpoConfig.highest_kl instead of a penalty"
_LOGGED = "figures of every update are always recorded"
_OPTIMIZER = Reference("tf.train.AdamOptimizer")
_NETWORK = r"(?:QNetwork|ActorDistributionNetwork|RegAlloc\w*Network)"
_CREATOR = r"(?:inlining|regalloc|regalloc_priority)\.config\.get_observation_processing_layer_creator"
_POLICY_NETWORKS = tuple(
    Reference(name)
    for name in (
        *("q_network.QNetwork", "actor_distribution_network.ActorDistributionNetwork"),
        *("regalloc_network.RegAllocNetwork", "regalloc_priority_network.RegAllocPriorityNetwork"),
        *("ActorDistributionNetwork", "QNetwork", "RegAllocNetwork"),
    )
)


def _of_each(field: str) -> Setting:
    return Setting({agent: f"{agent.capitalize()}Config.{field}" for agent in AGENTS.values()})


_TABLE: list[tuple[str, Meaning]] = [
    (r"config_registry\.get_configuration\.implementation", Flag("problem")),
    (r"clang_path|(?:runners|env)\.\w+\.clang_path", Flag("clang")),
    (r"(?:(?:runners|env)\.\w+\.)?launcher_path", Only((None,), "compiles are started without a launcher")),
    (
        r"(?:(?:runners|env|inlining\.config)\.\w+\.)?ir2vec_vocab_path",
        Only((None,), "embeddings are part of the problem: --problem=inlining_for_size+ir2vec"),
    ),
    (r"(?:(?:runners|env)\.\w+\.)?llvm_size_path", NoEffect()),
    (r"problem_config\.flags_to_add\.add_flags", Flag("add_flags", (None, (), []))),
    (r"problem_config\.flags_to_delete\.delete_flags", Flag("delete_flags", (None, (), []))),
    (r"problem_config\.flags_to_replace\.replace_flags", Flag("replace_flags", (None, {}))),
    (r"train_eval\.agent_config_type", Flag("algorithm")),
    (r"train_eval\.num_policy_iterations", Flag("iterations")),
    (r"train_eval\.num_modules", Flag("modules_per_iteration")),
    (r"train_eval\.warmstart_policy_dir|pretrained_policy_path", Flag("warm_start")),
    (r"train_eval\.num_iterations", NoEffect(_STEPS)),
    # Their product is the minibatch, whatever the agent (peer_arguments.py).
    (r"train_eval\.(?:batch_size|train_sequence_length|deploy_policy_name)", NoEffect()),
    (r"train_eval\.use_random_network_distillation", Only((False,), "random network distillation is not implemented")),
    (r"RandomNetworkDistillation\.\w+", NoEffect()),
    (r"train_eval\.moving_average_decay_rate", Setting({"ppo": "PpoConfig.moving_average_decay"})),
    (rf"{_CREATOR}\.quantile_file_dir", Flag("vocabulary")),
    (rf"{_CREATOR}\.\w*with_\w+", NoEffect(_NORMALISED, (False,))),
    (
        r"create_agent\.policy_network",
        Only(_POLICY_NETWORKS, "LLVM's policies have no memory, and networks here are fully connected"),
    ),
    (rf"{_NETWORK}\.fc_layer_params", Setting(dict.fromkeys(AGENTS.values(), "NetworkConfig.fc_layer_params"))),
    (rf"{_NETWORK}\.dropout_layer_params", NoEffect("networks have no dropout", (None, ()))),
    (rf"{_NETWORK}\.activation_fn", Only((Reference("tf.keras.activations.relu"),), "hidden layers use ReLU")),
    (rf"{_NETWORK}\.preprocessing_combiner", NoEffect()),
    (r"ConstantValueNetwork\.\w+|PPOAgent\.value_pred_loss_coef", NoEffect(_VALUE)),
    (r"tf\.train\.AdamOptimizer\.learning_rate", _of_each("learning_rate")),
    (r"tf\.train\.AdamOptimizer\.epsilon", _of_each("adam_epsilon")),
    (r"(?:PPOAgent|BehavioralCloningAgent|DqnAgent)\.optimizer", Only((_OPTIMIZER,), "Adam is the only optimiser")),
    (r"PPOAgent\.importance_ratio_clipping", Setting({"ppo": "PpoConfig.clip"})),
    (r"PPOAgent\.entropy_regularization", Setting({"ppo": "PpoConfig.entropy"})),
    (r"PPOAgent\.policy_l2_reg", Setting({"ppo": "PpoConfig.l2"})),
    (r"PPOAgent\.num_epochs", Setting({"ppo": "PpoConfig.epochs"})),
    (r"PPOAgent\.gradient_clipping", Setting({"ppo": "PpoConfig.gradient_clipping"})),
    (
        r"PPOAgent\.(?:lambda_value|discount_factor|value_function_l2_reg|shared_vars_l2_reg)",
        NoEffect(_RETURNS, (0, 0.0)),
    ),
    (r"PPOAgent\.(?:use_gae|use_td_lambda_return)", NoEffect(_RETURNS, (False,))),
    (r"PPOAgent\.value_clipping", NoEffect(_RETURNS, (None,))),
    (r"PPOAgent\.(?:normalize_rewards|normalize_observations)", NoEffect(_NORMALISED, (False,))),
    (r"PPOAgent\.reward_norm_clipping", NoEffect()),
    (r"PPOAgent\.(?:kl_cutoff_factor|kl_cutoff_coef|initial_adaptive_kl_beta|adaptive_kl_t\w+)", NoEffect(_KL)),
    (r"PPOAgent\.(?:log_prob_clipping|check_numerics|compute_value_and_advantage_in_train)", NoEffect()),
    (r"PPOAgent\.update_normalizers_in_train", NoEffect()),
    (r"BehavioralCloningAgent\.epsilon_greedy", NoEffect("the cloned policy is greedy")),
    (r"(?:BehavioralCloning|Dqn)Agent\.gradient_clipping", NoEffect("DqnConfig.gradient_clipping is ours", (None,))),
    (r"DqnAgent\.gamma", Setting({"dqn": "DqnConfig.discount"})),
    (r"DqnAgent\.epsilon_greedy", NoEffect("exploration follows DqnConfig.temperature")),
    (
        r"DqnAgent\.(?:n_step_update|boltzmann_temperature|emit_log_probability|target_update_\w+|td_\w+|reward_\w+)",
        NoEffect("targets are returns, not estimates of the next observation", (1, 1.0, None, False)),
    ),
    (r"(?:PPOAgent|BehavioralCloningAgent|DqnAgent)\.(?:debug_summaries|summarize_grads_and_vars)", NoEffect(_LOGGED)),
    (
        r"generate_bc_trajectories_lib\.\w+\.\w+|env\.\w+\.default_reward_key|reward_key",
        Only((), "trajectories of several policies are compared by --algorithm=bc_max --imitate=FOLDER"),
    ),
    (r"QRnnNetwork\.\w+", Only((), "LLVM's policies have no memory")),
]
_RULES = [(re.compile(pattern), meaning) for pattern, meaning in _TABLE]
#: Beginnings of settings of ml-compiler-opt and tf-agents, known or not.
_PEERS = re.compile(
    r"(?:compiler_opt|tf_agents|config_registry|runners|env|configs|agents|problem_config|train_eval|create_agent|inlining"
    r"|regalloc|regalloc_priority|tf|PPOAgent|BehavioralCloningAgent|DqnAgent|QNetwork|QRnnNetwork|RegAlloc\w*"
    r"|ActorDistributionNetwork|ConstantValueNetwork|RandomNetworkDistillation|generate_bc_trajectories_lib)\..*"
)


def meaning_of(key: str) -> Meaning | None:
    """What the setting `key` means here; None: it is not known, or not ml-compiler-opt's."""
    return next((meaning for pattern, meaning in _RULES if pattern.fullmatch(key)), None)


def is_peers(key: str) -> bool:
    """Whether `key` is a setting of ml-compiler-opt or tf-agents, known or not."""
    return meaning_of(key) is not None or _PEERS.fullmatch(key) is not None


def is_among(value: Any, values: Collection[Any]) -> bool:
    """Whether `value` is one of `values`, of the same type: False is not 0."""
    return any(value == each and isinstance(value, bool) == isinstance(each, bool) for each in values)


def resolved(value: Any, macros: Mapping[str, Any]) -> Any:
    """`value` with the values of macros, None for one that is not set."""
    return macros.get(value.name) if isinstance(value, Macro) else value
