"""A policy of another trainer, which can decide but has no weights of our network."""

import dataclasses

from mlgo.learning.network import PolicyNetwork


@dataclasses.dataclass(frozen=True)
class ConvertedPolicy:
    """Attributes: model: the policy as TFLite model for LLVM's development mode; greedy."""

    model: bytes


#: What the compiler can be given as a policy.
AnyPolicy = PolicyNetwork | ConvertedPolicy
