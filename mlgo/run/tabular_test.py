"""Rows as CSV, as columns and as Markdown."""

import csv
import io
import unittest

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mlgo.run import tabular

# Carriage returns alone are what Python's reader takes for the end of a line, whatever encloses them.
_CELLS = st.text(st.characters(blacklist_categories=("Cs",), blacklist_characters="\0\r"))


class CsvTest(unittest.TestCase):
    def test_bytes(self):
        content = tabular.encode_csv(["name", "bytes"], [("operator, (int)", 3), ('a "b"', None), ("é", 0.5)])
        self.assertEqual(content.decode(), 'name,bytes\n"operator, (int)",3\n"a ""b""",\né,0.5\n')

    def test_bytes_that_are_not_utf_8(self):
        self.assertEqual(tabular.encode_csv(["name"], [("caf\udce9",)]), b"name\ncaf\\udce9\n")

    # A busy machine takes seconds to draw the first inputs.
    @settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
    @given(st.lists(st.tuples(_CELLS, _CELLS)))
    def test_a_reader_gets_the_rows(self, rows):
        text = tabular.encode_csv(["a", "b"], rows).decode()
        read = csv.reader(io.StringIO(text, newline=""))
        self.assertEqual([tuple(map(tabular.csv_text, row)) for row in read], [("a", "b"), *rows])

    def test_names_that_a_spreadsheet_would_run(self):
        for name in ('=HYPERLINK("x")', "+[A b]", "-[A b]", "@SUM", "\t=1", "'=1", "\n=1", "\uff1d1", "\uff201"):
            content = tabular.encode_csv(["name"], [(name,)]).decode()
            (_, (cell,)) = csv.reader(io.StringIO(content))
            self.assertEqual((cell, tabular.csv_text(cell)), (f"'{name}", name))
        self.assertEqual(tabular.encode_csv(["n"], [("'a'", -1.5), ("a=b", -1)]), b"n\n'a',-1.5\na=b,-1\n")


class AlignedTest(unittest.TestCase):
    def test_columns(self):
        lines = tabular.aligned_lines([["corpus", "size"], ["re2", "-1 %"], ["", "0 %"]])
        self.assertEqual(lines, ["corpus  size", "re2     -1 %", "        0 %"])

    def test_nothing_is_cut_off_silently(self):
        with self.assertRaisesRegex(ValueError, "argument 2 is shorter"):
            tabular.aligned_lines([["a", "b"], ["c"]])


class MarkdownTest(unittest.TestCase):
    def test_table(self):
        lines = [*tabular.markdown_head(["a", "b"]), tabular.markdown_row(iter(["1", "2"]))]
        self.assertEqual(lines, ["| a | b |", "| --- | --- |", "| 1 | 2 |"])

    def test_names_in_markdown(self):
        for name, text, code in (
            ("f(int)", "f(int)", "`f(int)`"),
            ("a|b", r"a\|b", r"`a\|b`"),
            ("<script>*_x_", r"\<script\>\*\_x\_", "`<script>*_x_`"),
            ("a`b``c", r"a\`b\`\`c", "``` a`b``c ```"),
            ("a\n# b", "a # b", "`a # b`"),
            ("\x1b\u202e", r"\\x1b\\u202e", r"`\x1b\u202e`"),
            ("", "", ""),
        ):
            with self.subTest(name):
                self.assertEqual((tabular.markdown_text(name), tabular.markdown_code(name)), (text, code))
