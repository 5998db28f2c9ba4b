"""Inlining for size: whether a call is replaced by the body of the function it calls, at -Oz.

Transcribed from llvm/include/llvm/Analysis/InlineModelFeatureMaps.h, llvm/lib/Analysis/MLInlineAdvisor.cpp and
DevelopmentModeInlineAdvisor.cpp of LLVM 22.1.8; the last features are those of llvm/features. The embeddings of callee
and caller are observations of "inlining_for_size+ir2vec" only; their dimension is that of the vocabulary.

The log of a module has no score: LLVM declares a reward (delta_size) and never writes it. Upstream's log has one
context, named "". With `context_flags` (inlining_log_names_call_sites.patch) each decision stands in a context named
after its call site, "CALLER\\nCALLEE".
"""

from mlgo.problems.objective import CodeSize
from mlgo.problems.problem import Levels, Problem
from mlgo.problems.slots import slot_arguments
from mlgo.problems.tensor import TensorSpec

# INLINE_COST_FEATURE_ITERATOR: the summands of the heuristic's cost, in LLVM's units (5 per instruction).
COST_FEATURES = """
    sroa_savings sroa_losses load_elimination call_penalty call_argument_setup load_relative_intrinsic
    lowered_call_arg_setup indirect_call_penalty jump_table_penalty case_cluster_penalty switch_default_dest_penalty
    switch_penalty unsimplified_common_instructions num_loops dead_blocks simplified_instructions constant_args
    constant_offset_ptr_args callsite_cost cold_cc_penalty last_call_to_static_bonus is_multiple_blocks
    nested_inlines nested_inline_cost_estimate threshold
""".split()

# INLINE_FEATURE_ITERATOR.
CALL_SITE_FEATURES = """
    callee_basic_block_count callsite_height node_count nr_ctant_params cost_estimate edge_count caller_users
    caller_conditionally_executed_blocks caller_basic_block_count callee_conditionally_executed_blocks callee_users
    is_callee_avail_external is_caller_avail_external
""".split()

# llvm/features: what our compilers tell a policy besides, in this order.
CALLEE_FEATURES = "is_callee_local callee_uses_left callee_instruction_count cost_less_callee".split()


def _one(name: str) -> TensorSpec:
    return TensorSpec(name, "int64", (1,))


PROBLEM = Problem(
    folder="inlining_for_size",
    **slot_arguments("inlining_for_size"),
    observation_specs=tuple(_one(name) for name in COST_FEATURES + CALL_SITE_FEATURES + CALLEE_FEATURES),
    features_of_ours=frozenset(CALLEE_FEATURES),
    embeddings=("callee_embedding", "caller_embedding"),
    action_spec=_one("inlining_decision"),
    action_count=2,
    mask_feature=None,
    score=CodeSize(),
    # The front end sets minsize and optsize at these levels only; without them the heuristic inlines for speed.
    levels=Levels(
        accepted=("Os", "Oz"),
        advised="Oz",
        reason="because functions ask for small code only there, and at other levels sizes are no measure of a policy",
    ),
    log_flag="training-log",
    model_flag="ml-inliner-model-under-training",
    decision_kind="binary",
    default_decision_spec=_one("inlining_default"),
    context_flags=("-mllvm", "-training-log-callsites"),
    decisions_flag="mlgo-decisions",
    threshold_option="inline-threshold",
    interactive_default_flag="inliner-interactive-include-default",
    interactive_score="text_bytes",
    choice_names={0: "keep the call", 1: "inline"},
)
