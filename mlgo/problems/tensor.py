"""Tensors of training logs: their names, element types and shapes."""

import dataclasses
import math

# Element types of LLVM's training logs (llvm/include/llvm/Analysis/TensorSpec.h, SUPPORTED_TENSOR_TYPES) by their C++
# name in the log's header, and the numpy name of the same type. LLVM's own advisors use float, int64_t and int32_t.
NUMPY_NAME_OF_LOG_TYPE = {
    "float": "float32",
    "double": "float64",
    **{f"{kind}{bits}_t": f"{kind}{bits}" for bits in (8, 16, 32, 64) for kind in ("int", "uint")},
}
LOG_TYPE_OF_NUMPY_NAME = {numpy_name: log_type for log_type, numpy_name in NUMPY_NAME_OF_LOG_TYPE.items()}
ITEM_BYTES = {name: int("".join(filter(str.isdigit, name))) // 8 for name in LOG_TYPE_OF_NUMPY_NAME}


@dataclasses.dataclass(frozen=True)
class TensorSpec:
    """A named tensor: `dtype` is a numpy name (one of ITEM_BYTES), `shape` has only positive sizes."""

    name: str
    dtype: str
    shape: tuple[int, ...]

    def __post_init__(self):
        if self.dtype not in ITEM_BYTES:
            raise ValueError(
                f"tensor {self.name!r}: dtype {self.dtype!r} cannot be logged; use one of {', '.join(ITEM_BYTES)}"
            )
        if not all(isinstance(size, int) and size > 0 for size in self.shape):
            raise ValueError(f"tensor {self.name!r}: shape {self.shape} must hold positive integers only")

    @property
    def element_count(self) -> int:
        return math.prod(self.shape)

    @property
    def byte_count(self) -> int:
        """Bytes of one value of this tensor in a training log (dense, little-endian)."""
        return self.element_count * ITEM_BYTES[self.dtype]
