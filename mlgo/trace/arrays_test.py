"""Tests of mlgo.trace.arrays."""

import json
import unittest

import hypothesis
import hypothesis.strategies as st
import numpy as np

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

    @hypothesis.settings(deadline=None, max_examples=100)
    @hypothesis.given(st.data())
    def test_any_damage_is_an_error_that_names_the_file(self, data):
        content = bytearray(arrays.encode({"x": np.arange(5), "y": np.zeros((2, 2), np.float32)}))
        place = data.draw(st.integers(0, len(content) - 1))
        content[place] ^= data.draw(st.integers(1, 255))
        with self.assertRaisesRegex(RunError, "^file: .*Delete it"):
            arrays.decode(bytes(content), "file")

    def test_every_damaged_bit_is_an_error(self):
        content = arrays.encode({"x": np.arange(5), "y": np.zeros((2, 2), np.float32)})
        for bit in range(8 * len(content)):
            damaged = bytearray(content)
            damaged[bit // 8] ^= 1 << bit % 8
            with self.subTest(byte=bit // 8, bit=bit % 8), self.assertRaisesRegex(RunError, "^file: .*Delete it"):
                arrays.decode(bytes(damaged), "file")

    def test_truncation_is_an_error_at_every_length(self):
        content = arrays.encode({"x": np.arange(50)})
        for length in range(len(content)):
            with self.assertRaisesRegex(RunError, "^file: (is damaged: |does not start like ).*Delete it"):
                arrays.decode(content[:length], "file")

    def test_huge_claims_are_refused_before_memory_is_taken(self):
        import zstandard  # pylint: disable=import-outside-toplevel

        frame = bytearray(zstandard.ZstdCompressor(level=1).compress(b"\0" * (1 << 20)))
        # A frame header may claim any size: eight bytes, little-endian, after magic and descriptor.
        frame[4:] = bytes([0b11100000]) + (1 << 60).to_bytes(8, "little") + bytes(frame[9:])
        with self.assertRaisesRegex(RunError, "claims 1152921504606846976 bytes"):
            arrays.decode(arrays.MAGIC + bytes(frame), "file")

    def test_a_small_file_that_claims_gigabytes_is_refused(self):
        content = arrays.encode({"x": np.zeros(1 << 28, np.uint8)})
        self.assertLess(len(content), 100_000)
        with self.assertRaisesRegex(RunError, "^file: claims 268435.* bytes, where 0 to .* are allowed. Delete it"):
            arrays.decode(content, "file")

    def test_impossible_descriptions_are_refused(self):
        import zstandard  # pylint: disable=import-outside-toplevel

        entries: tuple[tuple[object, str], ...] = (
            ({"name": "x", "dtype": "<f4", "shape": [2**62, 2**62]}, "describes an impossible array"),
            ({"name": "x", "dtype": "<f4", "shape": [2**62, 0, 2**62]}, "is damaged: "),
            ({"name": "x", "dtype": "<f4", "shape": [-1]}, "describes an impossible array"),
            ({"name": "x", "dtype": "|O", "shape": [1]}, "describes an impossible array"),
            ({"name": [], "dtype": "<f4", "shape": [1]}, "is damaged: "),
            ({"dtype": "<f4", "shape": [1]}, "is damaged: 'name'"),
            ([], "is damaged: "),
        )
        for entry, message in entries:
            for described in ([entry], [{"name": "y", "dtype": "|u1", "shape": [0]}, entry]):
                with self.subTest(described):
                    raw = json.dumps(described).encode() + b"\n" + bytes(8)
                    content = arrays.MAGIC + zstandard.ZstdCompressor(write_checksum=True).compress(raw)
                    with self.assertRaisesRegex(RunError, f"^file: {message}.*Delete it"):
                        arrays.decode(content, "file")
        twice = [{"name": "x", "dtype": "<f4", "shape": [1]}] * 2
        raw = json.dumps(twice).encode() + b"\n" + bytes(8)
        with self.assertRaisesRegex(RunError, "describes an impossible array"):
            arrays.decode(arrays.MAGIC + zstandard.ZstdCompressor(write_checksum=True).compress(raw), "file")
        nested = b"[" * 100_000 + b"\n"
        with self.assertRaisesRegex(RunError, "^file: is damaged: "):
            arrays.decode(arrays.MAGIC + zstandard.ZstdCompressor(write_checksum=True).compress(nested), "file")

    def test_objects_cannot_be_stored(self):
        with self.assertRaisesRegex(ValueError, "array 'x': dtype object cannot be stored"):
            arrays.encode({"x": np.array([object()])})


if __name__ == "__main__":
    unittest.main()
