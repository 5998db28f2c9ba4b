import os
import pathlib
import tempfile
import unittest

from mlgo.run import json_lines
from mlgo.run.exit_codes import RunError


class JsonLinesTest(unittest.TestCase):
    def setUp(self):
        self.path = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()), "below", "lines.jsonl")

    def read(self):
        return json_lines.read(self.path, "figures", "Delete them")

    def test_records_come_back_in_their_order(self):
        self.assertEqual(self.read(), [])
        for number in (2, 1):
            json_lines.append(self.path, {"n": number, "text": "a\nb"})
        self.assertEqual(self.read(), [{"n": 2, "text": "a\nb"}, {"n": 1, "text": "a\nb"}])

    def test_an_unfinished_line_is_passed_over_and_removed(self):
        json_lines.append(self.path, {"n": 1})
        whole = self.path.read_bytes()
        self.path.write_bytes(whole + b'{"n": 2}'[:5])
        self.assertEqual(self.read(), [{"n": 1}])
        self.assertEqual(json_lines.keep(self.path, lambda record: True, "figures", "Delete them"), [{"n": 1}])
        self.assertEqual(self.path.read_bytes(), whole)

    def test_what_is_no_file_is_not_read(self):
        self.path.parent.mkdir()
        os.mkfifo(self.path)
        with self.assertRaisesRegex(RunError, "figures .*cannot be read: it is a pipe, not a file. Delete them"):
            self.read()

    def test_unwanted_records_are_removed(self):
        for number in range(4):
            json_lines.append(self.path, {"n": number})
        json_lines.keep(self.path, lambda record: record["n"] % 2 == 0, "figures", "Delete them")
        self.assertEqual(self.read(), [{"n": 0}, {"n": 2}])

    def test_other_lines_are_named(self):
        json_lines.append(self.path, {"n": 1})
        whole = self.path.read_bytes()
        for line, wrong in ((b"[1]\n", "is not a JSON object"), (b"{\n", "is not JSON")):
            self.path.write_bytes(whole + line)
            with self.assertRaisesRegex(RunError, f"figures .*line 2\\): {wrong}.*Delete them"):
                self.read()
