"""Register-allocation eviction: which live range gives up its register to the one that has none.

Transcribed from llvm/lib/CodeGen/MLRegAllocEvictAdvisor.cpp of LLVM 22.1.8 (RA_EVICT_FEATURES_LIST, DecisionSpec,
Reward). A decision is one of 33 positions: 32 physical registers in allocation order, and the candidate itself.
"""

from mlgo.problems.objective import LoggedScore
from mlgo.problems.problem import Problem
from mlgo.problems.slots import slot_arguments
from mlgo.problems.tensor import TensorSpec

# NumberOfInterferences in llvm/lib/CodeGen/MLRegAllocEvictAdvisor.h: 32 positions plus the candidate, which is last.
POSITIONS = 33
CANDIDATE_POSITION = POSITIONS - 1


def _per_position(name: str, dtype: str) -> TensorSpec:
    return TensorSpec(name, dtype, (1, POSITIONS))


PROBLEM = Problem(
    folder="regalloc_eviction",
    **slot_arguments("regalloc_eviction"),
    observation_specs=(
        _per_position("mask", "int64"),
        _per_position("is_free", "int64"),
        _per_position("nr_urgent", "float32"),
        _per_position("nr_broken_hints", "float32"),
        _per_position("is_hint", "int64"),
        _per_position("is_local", "int64"),
        _per_position("nr_rematerializable", "float32"),
        _per_position("nr_defs_and_uses", "float32"),
        _per_position("weighed_reads_by_max", "float32"),
        _per_position("weighed_writes_by_max", "float32"),
        _per_position("weighed_read_writes_by_max", "float32"),
        _per_position("weighed_indvars_by_max", "float32"),
        _per_position("hint_weights_by_max", "float32"),
        _per_position("start_bb_freq_by_max", "float32"),
        _per_position("end_bb_freq_by_max", "float32"),
        _per_position("hottest_bb_freq_by_max", "float32"),
        _per_position("liverange_size", "float32"),
        _per_position("use_def_density", "float32"),
        _per_position("max_stage", "int64"),
        _per_position("min_stage", "int64"),
        TensorSpec("progress", "float32", (1,)),
    ),
    action_spec=TensorSpec("index_to_evict", "int64", (1,)),
    action_count=POSITIONS,
    mask_feature="mask",
    # RegAllocScore of one function: block-frequency-weighed copies, loads and stores. Less is better.
    score=LoggedScore(TensorSpec("reward", "float32", (1,)), "minimize"),
    has_executed_cost=True,
    log_flag="regalloc-training-log",
    model_flag="regalloc-model",
    decision_kind="categorical",
    decides_after_optimiser=True,
    interactive_score="spill_cost",
    choice_names={CANDIDATE_POSITION: "evict nothing"},
    other_choice_name="evict at {}",
)
