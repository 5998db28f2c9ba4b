"""Checkpoints: same bytes for same content, whole or absent, damage is said."""

import json
import pathlib
import tempfile
import unittest

import numpy as np

from mlgo.learning.checkpoint import decode_arrays, encode_arrays, load_checkpoint, remove_superseded, save_checkpoint
from mlgo.run.exit_codes import RunError

_ARRAYS = {"b": np.arange(6, dtype=np.float32).reshape(2, 3), "a/x": np.array(7, np.int64), "empty": np.zeros((0, 4))}


class CheckpointTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def test_round_trip(self):
        save_checkpoint(self.folder, "c", _ARRAYS, {"step": 3})
        arrays, facts = load_checkpoint(self.folder, "c")
        self.assertEqual(facts, {"step": 3})
        self.assertEqual(set(arrays), set(_ARRAYS))
        for name, value in _ARRAYS.items():
            self.assertEqual((arrays[name].dtype, arrays[name].shape), (value.dtype, value.shape))
            np.testing.assert_array_equal(arrays[name], value)

    def test_equal_content_gives_equal_bytes(self):
        self.assertEqual(encode_arrays(_ARRAYS), encode_arrays(dict(reversed(_ARRAYS.items()))))
        self.assertNotIn(b"2026", encode_arrays(_ARRAYS))

    def test_absent_is_none_and_old_arrays_go(self):
        self.assertIsNone(load_checkpoint(self.folder, "c"))
        for step in range(3):
            save_checkpoint(self.folder, "c", {"a": np.full(3, step)}, {"step": step})
        self.assertEqual(load_checkpoint(self.folder, "c")[1], {"step": 2})
        self.assertEqual(len(list(self.folder.iterdir())), 2)

    def test_arrays_of_an_interrupted_save_are_not_looked_at(self):
        save_checkpoint(self.folder, "c", {"a": np.zeros(3)}, {"step": 1})
        (self.folder / "c-0123456789abcdef.npz").write_bytes(b"half")
        self.assertEqual(load_checkpoint(self.folder, "c")[1], {"step": 1})

    def test_arrays_that_a_killed_save_has_left_can_be_removed(self):
        save_checkpoint(self.folder, "c", {"a": np.zeros(3)}, {})
        save_checkpoint(self.folder, "other", {"a": np.zeros(3)}, {})
        kept = sorted(path.name for path in self.folder.iterdir())
        (self.folder / "c-0123456789abcdef.npz").write_bytes(b"of the checkpoint before")
        remove_superseded(self.folder, "c")
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), kept)

    def test_damage_is_said(self):
        save_checkpoint(self.folder, "c", _ARRAYS, {})
        (array_file,) = self.folder.glob("*.npz")
        array_file.write_bytes(array_file.read_bytes()[:-1] + b"x")
        with self.assertRaisesRegex(RunError, "have sha256 .*, the manifest says .*Delete the directory"):
            load_checkpoint(self.folder, "c")
        array_file.unlink()
        with self.assertRaisesRegex(RunError, "cannot be read"):
            load_checkpoint(self.folder, "c")
        (self.folder / "c.json").write_text(json.dumps({"format": "other"}))
        with self.assertRaisesRegex(RunError, "is not of format"):
            load_checkpoint(self.folder, "c")

    def test_python_objects_are_refused_in_both_directions(self):
        with self.assertRaises(ValueError):
            encode_arrays({"a": np.array([{}], dtype=object)})
        with self.assertRaisesRegex(RunError, "plain arrays"):
            decode_arrays(b"not a zip", "the test")


if __name__ == "__main__":
    unittest.main()
