"""Round trip of the tables of the real writers; errors of malformed tables."""

import contextlib
import unittest

from hypothesis import given, settings, strategies

from mlgo.evaluation.comparison import FunctionRow, rows_to_csv
from mlgo.reporting import tables
from mlgo.reporting.testing import made_up
from mlgo.run.exit_codes import RunError

# Without carriage returns, which Python's csv writes unquoted, and which no file or symbol has.
_NAMES = strategies.text(strategies.characters(exclude_categories=["Cs"], exclude_characters="\r"), max_size=20)
_SCORES = strategies.floats(1e-3, 1e9)
_HEADER = (
    b"corpus,policy,module,function,default_decisions,default_score,score,ratio,default_linked_bytes,linked_bytes\n"
)


class TablesTest(unittest.TestCase):
    @settings(deadline=None)
    @given(strategies.lists(strategies.tuples(_NAMES, _NAMES, _SCORES, _SCORES), max_size=5, unique_by=lambda e: e[:2]))
    def test_functions_are_read_back(self, entries):
        rows = []
        for module, function, default, score in entries:
            scores, ratios = {"a": score, "b": default}, {"a": score / default, "b": 1.0}
            rows.append(FunctionRow(module, function, 3, default, scores, ratios, False))
        found = tables.functions_table(rows_to_csv(rows, ["a", "b"]), "t")
        self.assertEqual(
            [(row.module, row.function, row.default_score, row.score, row.ratio) for row in found.get("a", [])],
            [(row.module, row.function, row.default_score, row.scores["a"], row.ratios["a"]) for row in rows],
        )
        self.assertEqual([row.ratio for row in found.get("b", [])], [1.0] * len(rows))

    def test_modules_have_linked_bytes_or_none(self):
        content = b"zstd,p,a.c,,0,10.0,9.0,0.9,100,90\nzstd,p,b.c,f,0,10.0,9.0,0.9,,\n"
        found = tables.modules_table(_HEADER + content, "t")
        first, second = found["zstd", "p"]
        self.assertEqual((first.default_linked, first.linked, first.key), (100, 90, ("a.c", "")))
        self.assertEqual((second.default_linked, second.linked), (None, None))

    def test_a_long_symbol_is_no_error(self):
        name = "x" * 200_000
        found = tables.modules_table(_HEADER + f"zstd,p,a.c,{name},0,1.0,1.0,1.0,,\n".encode(), "t")
        self.assertEqual(found["zstd", "p"][0].function, name)

    def test_errors_name_the_line(self):
        for content, message in (
            (b"", "t: has no column 'corpus'"),
            (b"corpus,policy\n", "t: has no column 'module'"),
            (_HEADER + b"zstd,p,a.c\n", "t, line 2: has not as many fields"),
            (_HEADER + b"zstd,p,a.c,,0,1,1,1,,,9\n", "t, line 2: has not as many fields"),
            (_HEADER + b"zstd,p,a.c,,0,ten,1,1,,\n", "t, line 2: holds a value that is not a number"),
            (_HEADER + b"zstd,p,a.c,,0,1,1,0,,\n", "t, line 2: holds the ratio 0.0"),
            (_HEADER + b"zstd,p,a.c,,0,1,nan,1,,\n", "t, line 2: holds the ratio 1.0 of scores nan"),
            (_HEADER + b"zstd,p,a.c,,0,1,1,1,9,-9\n", "t, line 2: holds fewer linked bytes than none"),
            (_HEADER + 2 * b"zstd,p,a.c,f,0,1,1,1,,\n", "t, line 3: has zstd p a.c f a second time"),
            (_HEADER + b'"zstd,p\n', "t, line .*: is not CSV"),
            (b"\xff", "t: is not UTF-8 at byte 0"),
        ):
            with self.subTest(content=content), self.assertRaisesRegex(RunError, message):
                tables.modules_table(content, "t")

    @settings(deadline=None)
    @given(strategies.binary(max_size=200))
    def test_any_bytes_are_rows_or_an_error_of_ours(self, content):
        for read in (tables.functions_table, tables.modules_table):
            for whole in (content, _HEADER + content):
                with contextlib.suppress(RunError):
                    read(whole, "t")

    def test_hostile_names_are_only_names(self):
        row = FunctionRow(made_up.HOSTILE, made_up.HOSTILE, 1, 1.0, {"a": 1.0}, {"a": 1.0}, True)
        (found,) = tables.functions_table(rows_to_csv([row], ["a"]), "t")["a"]
        self.assertEqual(found.key, (made_up.HOSTILE, made_up.HOSTILE))
