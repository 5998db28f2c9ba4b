import contextlib
import errno
import os
from unittest import mock

from mlgo.run import files
from mlgo.run.exit_codes import RunError
from mlgo.run.testing.folder_case import FolderCase


class FilesTestCase(FolderCase):
    def setUp(self):
        super().setUp()
        self.path = self.folder / "file"


class WriteAtomicallyTest(FilesTestCase):
    def test_creates_parents_and_writes(self):
        files.write_atomically(self.folder / "a" / "b", b"content")
        self.assertEqual((self.folder / "a" / "b").read_bytes(), b"content")

    def test_a_name_may_be_as_long_as_the_file_system_allows(self):
        files.write_atomically(self.folder / ("a" * 255), b"content")
        self.assertEqual(os.listdir(self.folder), ["a" * 255])

    def test_only_files_are_replaced(self):
        os.mkfifo(self.path)
        (self.folder / "device").symlink_to("/dev/null")
        for path, kind in ((self.path, "pipe"), (self.folder / "device", "device"), (self.folder, "directory")):
            with self.subTest(kind), self.assertRaisesRegex(RunError, f"writing .*: it is a {kind}, not a file"):
                files.write_atomically(path, b"content")
        self.assertTrue(self.path.is_fifo())
        self.assertEqual(sorted(os.listdir(self.folder)), ["device", "file"])

    def test_failed_rename_keeps_the_old_file_and_leaves_nothing_else(self):
        files.write_atomically(self.path, b"old")
        with mock.patch.object(os, "replace", side_effect=KeyboardInterrupt), self.assertRaises(KeyboardInterrupt):
            files.write_atomically(self.path, b"new")
        self.assertEqual(self.path.read_bytes(), b"old")
        self.assertEqual(os.listdir(self.folder), ["file"])

    def test_unwritable_parent_is_explained(self):
        files.write_atomically(self.path, b"")
        with self.assertRaisesRegex(RunError, "Choose an output directory"):
            files.write_atomically(self.path / "below", b"content")

    def test_all_files_of_a_folder_or_the_old_ones_on_a_full_disk(self):
        folder, full = self.folder / "new", OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        for content in (b"old", b"new"):
            files.write_all_atomically(folder, {"b": content, "a": content})
            with mock.patch.object(os, "fsync", side_effect=full):
                with self.assertRaisesRegex(RunError, "/a: no space is left on its disk. Free space there"):
                    files.write_all_atomically(folder, {"a": b"none", "b": b"none"})
            self.assertEqual({path.name: path.read_bytes() for path in folder.iterdir()}, {"a": content, "b": content})


class JsonTest(FilesTestCase):
    def test_equal_values_give_equal_bytes(self):
        self.assertEqual(files.encode_json({"b": 1, "a": [2.5]}), files.encode_json({"a": [2.5], "b": 1}))

    def test_names_that_are_not_utf_8_come_back(self):
        value = {os.fsdecode(b"caf\xe9.o"): ["\udcff", "é", 1, None]}
        self.assertEqual(files.encode_json(value).count(b"\\udc"), 2)
        files.write_json_atomically(self.path, value)
        self.assertEqual(files.read_json(self.path, "it", ""), value)

    def test_nan_is_refused(self):
        with self.assertRaisesRegex(ValueError, "not JSON compliant"):
            files.encode_json(float("nan"))

    def test_errors_have_three_parts(self):
        cases = {
            None: "the thing .*file.*: does not exist. Make it",
            b"\xff": "is not UTF-8 at byte 0. Make it",
            b"{": "is not JSON at line 1 column 2: .*. Make it",
            b"[" * 100_000: "is nested too deeply. Make it",
            b'[{"a":' * 32 + b"[1]" + b"}]" * 32: "is nested too deeply. Make it",
            b"[1e999]": "is not JSON: the number 1e999 is not finite. Make it",
            b"[-Infinity]": "is not JSON: the number -Infinity is not finite. Make it",
            b"[NaN]": "is not JSON: the number NaN is not finite. Make it",
            b"1" * 5000: r"is not JSON: the number 1{40}\.\.\. has 5000 digits. Make it",
            b"1" * 400: r"is not JSON: the number 1{40}\.\.\. has 400 digits. Make it",
            b'{"a": 1, "b": 2, "a": 3}': "is not JSON: an object has 2 fields 'a'. Make it",
        }
        for content, message in cases.items():
            with self.subTest(message):
                if content is not None:
                    self.path.write_bytes(content)
                with self.assertRaisesRegex(RunError, message):
                    files.read_json(self.path, "the thing", "Make it")

    def test_a_sparse_file_of_200_gigabytes_is_not_read(self):
        with open(self.path, "wb") as file:
            file.truncate(200 * 1024**3)
        with self.assertRaisesRegex(RunError, "it has 214748364800 bytes, more than the 268435456 allowed. Make it"):
            files.read_json(self.path, "the thing", "Make it")


class DirectoryTest(FolderCase):
    def test_replaces_an_older_directory(self):
        for content in ("first", "second"):
            with files.directory_written_atomically(self.folder / "it") as partial:
                (partial / content).write_text(content)
        self.assertEqual(os.listdir(self.folder / "it"), ["second"])
        self.assertEqual(os.listdir(self.folder), ["it"])

    def test_a_process_killed_between_two_renames_leaves_one_of_the_two(self):
        rename = os.rename

        def killed(*names):
            rename(*names)
            raise SystemExit

        (self.folder / "it").mkdir()
        with contextlib.suppress(SystemExit), mock.patch.object(os, "rename", killed):
            with files.directory_written_atomically(self.folder / "it") as partial:
                (partial / "new").write_text("")
        self.assertEqual(os.listdir(self.folder), ["it"])
        self.assertEqual(os.listdir(self.folder / "it"), ["new"])

    def test_a_file_system_that_cannot_exchange_directories(self):
        with mock.patch.object(files, "_exchanged", return_value=False):
            self.test_replaces_an_older_directory()

    def test_exception_keeps_the_old_directory(self):
        with files.directory_written_atomically(self.folder / "it") as partial:
            (partial / "old").write_text("")
        with self.assertRaises(ZeroDivisionError):
            with files.directory_written_atomically(self.folder / "it") as partial:
                raise ZeroDivisionError
        self.assertEqual(os.listdir(self.folder / "it"), ["old"])
        self.assertEqual(os.listdir(self.folder), ["it"])

    def test_remove_partial_takes_only_what_is_unfinished(self):
        (self.folder / "below" / ".model.abc.partial").mkdir(parents=True)
        for name in (".file.abc.partial", "kept.partial"):
            self.file(f"below/{name}")
        (self.folder / "below" / ".link.abc.partial").symlink_to(self.folder / "below")
        self.assertEqual(files.remove_partial(self.folder), 3)
        self.assertEqual(os.listdir(self.folder / "below"), ["kept.partial"])
