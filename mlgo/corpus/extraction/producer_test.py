"""The compiler that bitcode names, read from what several compilers have written."""

import unittest

from hypothesis import given
from hypothesis import strategies as st

from mlgo.corpus.extraction import producer

# The first 52 bytes of an empty function's bitcode, by llvm-as of each major.
_BY_MAJOR = {
    14: "4243c0de3514000005000000620c30244a59be668dfbb4af0b51804c01000000210c0000010100000b0221000200000016000000",
    19: "4243c0de3514000005000000620c30244a59be66ddfbb5bf0b51804c01000000210c00003b0100000b0221000200000019000000",
    22: "4243c0de3514000005000000620c30244a59bea66dfbb5cf0b51804c01000000210c00006c0100000b0221000200000022000000",
}


class ProducerTest(unittest.TestCase):
    def test_the_major_of_each(self):
        for major, content in _BY_MAJOR.items():
            self.assertEqual(producer.llvm_major(bytes.fromhex(content)), major)

    def test_the_whole_name(self):
        self.assertEqual(producer.producer(bytes.fromhex(_BY_MAJOR[22])), "LLVM22.1.8")

    def test_behind_apples_wrapper(self):
        wrapper = b"\xde\xc0\x17\x0b" + bytes(4) + (20).to_bytes(4, "little") + bytes(8)
        self.assertEqual(producer.llvm_major(wrapper + bytes.fromhex(_BY_MAJOR[19])), 19)

    def test_bitcode_without_the_block_names_nobody(self):
        whole = bytes.fromhex(_BY_MAJOR[22])
        for content in (b"", b"BC\xc0\xde", whole[:4] + whole[32:], whole[:14]):
            self.assertIsNone(producer.llvm_major(content))

    @given(st.binary(max_size=200), st.integers(4, 51))
    def test_damaged_bytes_raise_nothing(self, damage, place):
        whole = bytes.fromhex(_BY_MAJOR[22])
        producer.producer(whole[:place] + damage + whole[place + len(damage) :])


if __name__ == "__main__":
    unittest.main()
