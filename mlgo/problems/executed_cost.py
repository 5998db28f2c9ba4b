"""Register allocation rewarded by what a function executes, in place of LLVM's RegAllocScore.

The development compilers compute the cost of a function (llvm/executed_cost): its instructions and memory references,
weighted by the frequencies of their blocks, and the callee-saved registers that it writes. Only the reward changes, so
policies, observations and decisions are those of the problem without this setting.
"""

import dataclasses
import math

#: The word after the "+" of a problem's name.
SETTING = "executed_cost"


@dataclasses.dataclass(frozen=True)
class ExecutedCost:
    """The weights of a cost, in executed instructions; finite and at least 0, and one of them positive."""

    instruction: float = 1.0  #: of an executed instruction, which is what Cachegrind counts.
    memory_reference: float = 1.0  #: of an executed load or store, besides its instruction.
    #: of a callee-saved register that the function writes, per call: the prologue saves it and the epilogue restores
    #: it, which are two instructions and two references.
    callee_saved_register: float = 4.0

    def __post_init__(self):
        weights = dataclasses.astuple(self)
        if not all(math.isfinite(weight) and weight >= 0 for weight in weights) or not any(weights):
            raise ValueError(f"weights {weights} must be finite and at least 0, and one of them positive")

    def __str__(self) -> str:
        return ",".join(repr(float(weight)).removesuffix(".0") for weight in dataclasses.astuple(self))

    @classmethod
    def parse(cls, text: str) -> "ExecutedCost":
        """The cost whose `str` is `text`, such as "1,1,4". Raises: ValueError: `text` is none."""
        try:
            instruction, memory_reference, register = map(float, text.split(","))
            return cls(instruction, memory_reference, register)
        except ValueError as error:
            raise ValueError(
                f"the cost {text!r} is not three numbers that are finite and at least 0, as in {cls()}: the weights of"
                " an instruction, of a memory reference and of a callee-saved register"
            ) from error

    def flags(self) -> list[str]:
        """cc1 flags of a development clang that logs this cost as the reward of register allocation."""
        return ["-mllvm", f"-mlgo-executed-cost={self}"]
