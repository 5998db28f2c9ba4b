import hashlib
import io
import json
import struct
import tracemalloc
import zipfile

import numpy as np

from mlgo.learning import checkpoint
from mlgo.learning.checkpoint import decode_arrays, digest_of, encode_arrays, load_checkpoint, save_checkpoint
from mlgo.run.exit_codes import RunError
from mlgo.run.testing.folder_case import FolderCase

_ARRAYS = {"b": np.arange(6, dtype=np.float32).reshape(2, 3), "a/x": np.array(7, np.int64), "empty": np.zeros((0, 4))}


class CheckpointTest(FolderCase):
    def loaded(self):
        """(arrays, facts) of the checkpoint, which is there."""
        found = load_checkpoint(self.folder, "c")
        assert found is not None
        return found

    def test_round_trip(self):
        save_checkpoint(self.folder, "c", _ARRAYS, {"step": 3})
        arrays, facts = self.loaded()
        self.assertEqual(facts, {"step": 3})
        self.assertEqual(set(arrays), set(_ARRAYS))
        for name, value in _ARRAYS.items():
            self.assertEqual((arrays[name].dtype, arrays[name].shape), (value.dtype, value.shape))
            np.testing.assert_array_equal(arrays[name], value)

    def test_equal_content_gives_equal_bytes(self):
        self.assertEqual(encode_arrays(_ARRAYS), encode_arrays(dict(reversed(_ARRAYS.items()))))
        self.assertNotIn(b"2026", encode_arrays(_ARRAYS))

    def test_a_digest_holds_the_arrays_once_more_and_not_several_times(self):
        arrays = {"levels": np.zeros((1000, 64_000), np.uint8)}
        self.assertEqual(digest_of(arrays), hashlib.sha256(encode_arrays(arrays)).hexdigest())
        tracemalloc.start()
        self.addCleanup(tracemalloc.stop)
        digest_of(arrays)
        # A growing buffer takes an eighth more, and 16 MB are copied at a time.
        self.assertLess(tracemalloc.get_traced_memory()[1], 1.5 * arrays["levels"].nbytes)

    def test_absent_is_none_and_old_arrays_go(self):
        self.assertIsNone(load_checkpoint(self.folder, "c"))
        for step in range(3):
            save_checkpoint(self.folder, "c", {"a": np.full(3, step)}, {"step": step})
        self.assertEqual(self.loaded()[1], {"step": 2})
        self.assertEqual(len(list(self.folder.iterdir())), 2)

    def test_arrays_that_a_killed_save_has_left_are_not_looked_at_and_can_be_removed(self):
        save_checkpoint(self.folder, "c", {"a": np.zeros(3)}, {"step": 1})
        save_checkpoint(self.folder, "other", {"a": np.zeros(3)}, {})
        kept = sorted(path.name for path in self.folder.iterdir())
        self.file("c-0123456789abcdef.npz", b"half")
        self.assertEqual(self.loaded()[1], {"step": 1})
        checkpoint.remove_superseded(self.folder, "c")
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), kept)

    def test_damage_is_said(self):
        save_checkpoint(self.folder, "c", _ARRAYS, {})
        (array_file,) = self.folder.glob("*.npz")
        array_file.write_bytes(array_file.read_bytes()[:-1] + b"x")
        with self.assertRaisesRegex(RunError, "have sha256 .*, the manifest says .*Delete the directory"):
            load_checkpoint(self.folder, "c")
        array_file.unlink()
        with self.assertRaisesRegex(RunError, "does not exist"):
            load_checkpoint(self.folder, "c")
        self.file("c.json", json.dumps({"format": "other"}))
        with self.assertRaisesRegex(RunError, "is not of format"):
            load_checkpoint(self.folder, "c")

    def test_a_manifest_without_a_field_or_with_another_type(self):
        save_checkpoint(self.folder, "c", _ARRAYS, {})
        path = self.folder / "c.json"
        manifest = json.loads(path.read_text())
        for name, value in (("arrays", 1), ("sha256", None), ("facts", []), ("format", {})):
            for changed in ({**manifest, name: value}, {key: manifest[key] for key in manifest if key != name}):
                with self.subTest(changed=changed):
                    path.write_text(json.dumps(changed))
                    with self.assertRaisesRegex(RunError, f"the checkpoint .*c.json.*: has (no|a) field '{name}'"):
                        load_checkpoint(self.folder, "c")

    def test_foreign_archives_are_refused_in_one_sentence(self):
        """Nothing is allocated by what a header states, and nothing but plain arrays is read."""
        header = "{'descr': '<f4', 'fortran_order': False, 'shape': (1099511627776, 1099511627776)}"
        cases = {
            "a huge shape": (_archive(_npy(header)), "has 8 bytes for float32 of the shape"),
            "a negative shape": (_archive(_npy(header.replace("1099511627776", "-1"))), "is no plain array"),
            "a shape of text": (_archive(_npy(header.replace("1099511627776", "'a'"))), "arrays: "),
            "an empty shape of huge rows": (_archive(_npy(header.replace("(", f"(0, {10**30}, "), b"")), "plain"),
            "Python objects": (_archive(_npy(header.replace("<f4", "|O"))), "is no plain array of numbers: object"),
            "texts": (_archive(_npy(header.replace("<f4", "<U1"))), "is no plain array of numbers: <U1"),
            "a header of brackets": (_archive(_npy("[" * 5000)), "arrays: "),
            "a header that is too long": (_archive(_npy(" " * 20_000)), "arrays: "),
            "another version": (_archive(b"\x93NUMPY\x09\x00" + bytes(100)), r"of the version \(9, 0\)"),
            "no array": (_archive(b"text"), "arrays: "),
            "a compressed member": (_archive(bytes(10**6), zipfile.ZIP_DEFLATED), "its members state more bytes"),
            "another file": (_archive(b"text", name="a.txt"), "'a.txt' is not an uncompressed .npy file"),
            "no archive": (b"not a zip", "File is not a zip file"),
        }
        for what, (content, message) in cases.items():
            expected = f"^{what}: is not an archive .*{message}.*\\. Restore it$"
            with self.subTest(what), self.assertRaisesRegex(RunError, expected):
                decode_arrays(content, what, "Restore it")

    def test_python_objects_are_not_written(self):
        with self.assertRaisesRegex(ValueError, "Object arrays cannot be saved"):
            encode_arrays({"a": np.array([{}], dtype=object)})

    def test_arrays_under_prefixes(self):
        records = [{"x": np.zeros(1), "y": np.ones(1)}, {"x": np.ones(2)}]
        named = {**checkpoint.numbered("r", records), **checkpoint.with_prefix("p:", {"z": np.zeros(3)})}
        self.assertEqual(sorted(named), ["p:z", "r/0/x", "r/0/y", "r/1/x"])
        self.assertEqual(list(map(digest_of, checkpoint.pop_numbered("r", named))), list(map(digest_of, records)))
        self.assertEqual([*checkpoint.pop_prefixed("p:", named), *named], ["z"])


def _npy(header: str, values: bytes = bytes(8)) -> bytes:
    """A file in NumPy's format, whatever its header says."""
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode("ascii") + values


def _archive(member: bytes, method: int = zipfile.ZIP_STORED, name: str = "a.npy") -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        archive.writestr(name, member)
    return buffer.getvalue()
