import json
import unittest

import hypothesis
import hypothesis.strategies as st
import numpy as np
import zstandard

from mlgo.run.exit_codes import RunError
from mlgo.trace import arrays

_DTYPES = st.sampled_from([np.float32, np.float64, np.int32, np.int64, np.uint8])
_SHAPES = st.lists(st.integers(0, 4), max_size=3).map(tuple)


@st.composite
def named_arrays(draw):
    generator = np.random.Generator(np.random.Philox(draw(st.integers(0, 2**32))))
    names = draw(st.lists(st.text(min_size=1, max_size=8), unique=True, max_size=4))
    return {name: generator.integers(0, 9, draw(_SHAPES)).astype(draw(_DTYPES)) for name in names}


class ArraysTest(unittest.TestCase):
    @hypothesis.settings(deadline=None)
    @hypothesis.given(named_arrays())
    def test_round_trip(self, written):
        read = arrays.decode(arrays.encode(written), "file")
        self.assertEqual(list(read), list(written))
        for name, array in written.items():
            self.assertEqual((read[name].dtype, read[name].shape), (array.dtype, array.shape))
            np.testing.assert_array_equal(read[name], array)

    def test_nan_survives_with_its_bits(self):
        bits = np.array([0x7FC00001, 0xFF800000], np.uint32)
        read = arrays.decode(arrays.encode({"x": bits.view(np.float32)}), "file")
        self.assertEqual(read["x"].tobytes(), bits.tobytes())

    def refused(self, content: bytes, message: str) -> None:
        with self.assertRaisesRegex(RunError, f"^file: {message}.*Delete it"):
            arrays.decode(content, "file")

    @hypothesis.settings(deadline=None, max_examples=100)
    @hypothesis.given(st.data())
    def test_any_damage_is_an_error_that_names_the_file(self, data):
        content = bytearray(arrays.encode({"x": np.arange(5), "y": np.zeros((2, 2), np.float32)}))
        place = data.draw(st.integers(0, len(content) - 1))
        content[place] ^= data.draw(st.integers(1, 255))
        self.refused(bytes(content), "")

    def test_every_damaged_bit_is_an_error(self):
        content = arrays.encode({"x": np.arange(5), "y": np.zeros((2, 2), np.float32)})
        for bit in range(8 * len(content)):
            damaged = bytearray(content)
            damaged[bit // 8] ^= 1 << bit % 8
            with self.subTest(byte=bit // 8, bit=bit % 8):
                self.refused(bytes(damaged), "")

    def test_truncation_is_an_error_at_every_length(self):
        content = arrays.encode({"x": np.arange(50)})
        for length in range(len(content)):
            self.refused(content[:length], "(is damaged: |does not start like )")

    def test_huge_claims_are_refused_before_memory_is_taken(self):
        frame = bytearray(zstandard.ZstdCompressor(level=1).compress(b"\0" * (1 << 20)))
        # A frame header may claim any size: eight bytes, little-endian, after magic and descriptor.
        frame[4:] = bytes([0b11100000]) + (1 << 60).to_bytes(8, "little") + bytes(frame[9:])
        self.refused(arrays.MAGIC + bytes(frame), "claims 1152921504606846976 bytes")

    def test_a_small_file_that_claims_gigabytes_is_refused(self):
        content = arrays.encode({"x": np.zeros(1 << 28, np.uint8)})
        self.assertLess(len(content), 100_000)
        self.refused(content, "claims 268435.* bytes, where 0 to .* are allowed.")

    def test_impossible_descriptions_are_refused(self):
        impossible, damaged = "describes an impossible array", "is damaged: "
        small: dict[str, object] = {"name": "x", "dtype": "<f4", "shape": [1]}
        cases: list[tuple[list, str]] = [([small] * 2, impossible)]
        for entry, message in (
            ({**small, "shape": [2**62, 2**62]}, impossible),
            ({**small, "shape": [2**62, 0, 2**62]}, damaged),
            ({**small, "shape": [-1]}, impossible),
            ({**small, "shape": [True]}, impossible),
            ({**small, "shape": [10**300] * 30_000}, impossible),  # Their product takes hours.
            ({**small, "dtype": "|O"}, impossible),
            ({**small, "name": []}, damaged),
            ({"dtype": "<f4", "shape": [1]}, "is damaged: 'name'"),
            ([], damaged),
        ):
            cases += [([entry], message), ([{"name": "y", "dtype": "|u1", "shape": [0]}, entry], message)]
        raws = [(json.dumps(described).encode() + b"\n" + bytes(8), message) for described, message in cases]
        for raw, message in (*raws, (b"[" * 100_000 + b"\n", damaged)):
            with self.subTest(raw[:80]):
                self.refused(arrays.MAGIC + zstandard.ZstdCompressor(write_checksum=True).compress(raw), message)

    def test_objects_cannot_be_stored(self):
        with self.assertRaisesRegex(ValueError, "array 'x': dtype object cannot be stored"):
            arrays.encode({"x": np.array([object()])})
