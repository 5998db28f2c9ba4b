"""Register-allocation priority: in which order live ranges get their registers.

Transcribed from llvm/lib/CodeGen/MLRegAllocPriorityAdvisor.cpp of LLVM 22.1.8 (RA_PRIORITY_FEATURES_LIST, DecisionSpec,
Reward). A decision is a number; the live range with the highest is allocated first.
"""

from mlgo.problems.objective import LoggedScore
from mlgo.problems.problem import Problem
from mlgo.problems.slots import slot_arguments
from mlgo.problems.tensor import TensorSpec

# The advisor converts the answer to `unsigned` (32 bits), which is undefined below 0, from 2^32 on and for NaN. This is
# the largest float32 below 2^32.
LARGEST_PRIORITY = 2.0**32 - 2.0**8

# The answers of our policies: 2048 steps of 2^20, below 2^31. Only the order of the answers matters. A network's output
# spans a few units, so steps of 1 would be too small.
POLICY_TOP = 2047.0
POLICY_STEP = 2.0**20

PROBLEM = Problem(
    folder="regalloc_priority",
    **slot_arguments("regalloc_priority"),
    observation_specs=(
        TensorSpec("li_size", "int64", (1,)),
        TensorSpec("stage", "int64", (1,)),
        TensorSpec("weight", "float32", (1,)),
    ),
    action_spec=TensorSpec("priority", "float32", (1,)),
    action_count=None,
    mask_feature=None,
    # RegAllocScore of one function, as for eviction. Less is better.
    score=LoggedScore(TensorSpec("reward", "float32", (1,)), "minimize"),
    has_executed_cost=True,
    log_flag="regalloc-priority-training-log",
    model_flag="regalloc-priority-model",
    decision_kind="continuous",
    action_bounds=(0.0, LARGEST_PRIORITY),
    max_output=POLICY_TOP,
    output_unit=POLICY_STEP,
    decides_after_optimiser=True,
    interactive_score="spill_cost",
    other_choice_name="priority {}",
)
