"""Rows of switches, and their tables, of made-up sizes."""

import unittest

from mlgo.evaluation.programs.lto_building import LTO_KINDS
from mlgo.evaluation.programs.switches import BASE, ROWS, groups, mean_text, shared_table, table

_TARGETS = ("x86_64", "aarch64", "armv7_thumb", "riscv64")


def figures(code: int, *, shared: int = 0) -> dict[str, int]:
    more = {f"shared_{name}_bytes": shared for name in ("code", "file", "xz")} if shared else {}
    return {"code_bytes": code, "file_bytes": 3 * code, **more}


class RowsTest(unittest.TestCase):
    def test_names_and_switches_are_different(self):
        self.assertEqual(len({row.name for row in ROWS}), len(ROWS))
        for target in _TARGETS:
            rows = [(row.flags, row.link_flags, row.lto) for row in ROWS if row.is_for(target)]
            self.assertEqual(len(set(rows)), len(rows), target)

    def test_each_row_of_a_target_is_in_one_group_of_equal_compiles(self):
        for target in _TARGETS:
            found = groups(target)
            self.assertCountEqual([row for group in found for row in group], [r for r in ROWS if r.is_for(target)])
            self.assertEqual(found[0][0], BASE)
            for group in found:
                self.assertEqual(len({(row.flags, row.lto) for row in group}), 1)

    def test_kinds_of_lto_are_known(self):
        self.assertLessEqual({row.lto for row in ROWS} - {None}, set(LTO_KINDS))

    def test_the_outliner_is_switched_where_it_is_not_so_by_itself(self):
        for target, absent in (("aarch64", "outliner"), ("x86_64", "no outliner")):
            names = {row.name for row in ROWS if row.is_for(target)}
            self.assertFalse({absent, f"{absent}, policy"} & names)
        self.assertNotIn("-msave-restore", {row.name for row in ROWS if row.is_for("aarch64")})


class TableTest(unittest.TestCase):
    def setUp(self):
        self.found = {
            "x86_64": {
                "one": {"-Oz": figures(1000, shared=100), "policy": figures(900, shared=50)},
                "two": {"-Oz": figures(500, shared=100), "policy": figures(450, shared=200)},
                "plus": {"-Oz": figures(100, shared=10), "policy": figures(101, shared=10)},
            },
            "aarch64": {"one": {"-Oz": figures(1000, shared=10), "no outliner": figures(1100)}},
        }
        self.kinds = {"one": "C", "two": "C", "plus": "C++"}

    def test_means_by_target_and_language(self):
        lines = table(self.found, self.kinds)
        self.assertEqual(lines[0], "| switches | x86_64: C | x86_64: C++ | aarch64: C |")
        self.assertIn("| policy | -10.00 % (-10.00 %) | +1.00 % |  |", lines)
        self.assertIn("| no outliner |  |  | +10.00 % |", lines)
        # Neither the base nor rows that were not measured.
        self.assertEqual(len(lines), 4)

    def test_the_largest_change_is_in_brackets(self):
        programs = list(self.found["x86_64"].values())
        self.assertEqual(mean_text(programs, "policy", "shared_xz_bytes"), "+0.00 % (+100.00 %)")

    def test_a_row_that_one_program_lacks_has_no_mean(self):
        del self.found["x86_64"]["two"]["policy"]
        self.assertEqual(mean_text(self.found["x86_64"].values(), "policy", "code_bytes"), "")

    def test_shared_libraries(self):
        lines = shared_table(self.found)
        self.assertEqual(lines[0].count("|"), 8)
        policy = next(line for line in lines if line.startswith("| policy |"))
        self.assertTrue(policy.startswith("| policy | +0.00 % (+100.00 %) |"), policy)
        self.assertEqual(len(lines), 3)
