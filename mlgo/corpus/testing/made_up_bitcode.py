"""For tests: bitcode of functions with given attributes, without code, as LLVM's writer lays it out."""

from collections.abc import Sequence

#: Numbers of enumerated attributes (llvm/include/llvm/Bitcode/LLVMBitCodes.h).
MIN_SIZE, NO_INLINE, FOR_SIZE, OPTIMIZE_NONE = 6, 14, 19, 37

_MODULE, _LISTS, _GROUPS, _TYPES = 8, 9, 10, 17
_OF_FUNCTION = 0xFFFFFFFF


class _Writer:
    """Bits, the lowest of each byte first."""

    def __init__(self):
        self._bits: list[int] = []

    def fixed(self, value: int, width: int) -> None:
        self._bits += [(value >> place) & 1 for place in range(width)]

    def vbr(self, value: int, width: int) -> None:
        top = 1 << (width - 1)
        while value >= top:
            self.fixed((value & (top - 1)) | top, width)
            value >>= width - 1
        self.fixed(value, width)

    def align(self) -> None:
        self._bits += [0] * (-len(self._bits) % 32)

    def record(self, code: int, values: Sequence[int], width: int = 3) -> None:
        self.fixed(3, width)
        for value in (code, len(values), *values):
            self.vbr(value, 6)

    def block(self, number: int, content: "_Writer", outer_width: int, width: int = 3) -> None:
        """A nested block; `content` uses abbreviations of `width` bits."""
        self.fixed(1, outer_width)
        self.vbr(number, 8)
        self.vbr(width, 4)
        self.align()
        content.fixed(0, width)
        content.align()
        self.fixed(len(content._bits) // 32, 32)
        self._bits += content._bits

    def bytes(self) -> bytes:
        return bytes(
            sum(bit << place for place, bit in enumerate(self._bits[start : start + 8]))
            for start in range(0, len(self._bits), 8)
        )


def made_up_bitcode(
    functions: Sequence[Sequence[int]], declared: Sequence[Sequence[int]] = (), optimised: bool = False
) -> bytes:
    """A module.

    Args:
      functions, declared: the enumerated attributes of each defined and each declared function.
      optimised: whether definitions are marked as the optimiser marks them.
    """
    everything = [*functions, *declared]
    types, groups, lists, module, file = (_Writer() for _ in range(5))
    types.record(1, [0])
    for number, attributes in enumerate(everything, 1):
        enumerated = [value for attribute in sorted(attributes) for value in (0, attribute)]
        # An integer attribute (memory) and one with texts ("a"="b") follow, and the same attribute of a parameter.
        groups.record(3, [number, _OF_FUNCTION, *enumerated, 1, 86, 3, 4, 97, 0, 98, 0])
        groups.record(3, [1000 + number, 1, 0, OPTIMIZE_NONE])
        lists.record(2, [number, 1000 + number])
    module.record(1, [2])
    module.block(_TYPES, types, 3)
    module.block(_GROUPS, groups, 3)
    module.block(_LISTS, lists, 3)
    # An abbreviation, [16, fixed 3, array of char6], as for the name of the source, and a record with it.
    module.fixed(2, 3)
    module.vbr(4, 5)
    module.fixed(1, 1)
    module.vbr(16, 8)
    for encoding, width in ((1, 3), (3, None), (4, None)):
        module.fixed(0, 1)
        module.fixed(encoding, 3)
        if width is not None:
            module.vbr(width, 5)
    module.fixed(4, 3)
    module.fixed(5, 3)
    module.vbr(2, 6)
    module.fixed(0, 6)
    module.fixed(63, 6)
    for number, _ in enumerate(everything, 1):
        more = [0, 0, 0, 2] if optimised else []
        module.record(8, [0, 1, 2, 0, int(number > len(functions)), 0, number, 0, *more])
    file.block(_MODULE, module, 2)
    return b"BC\xc0\xde" + file.bytes()
