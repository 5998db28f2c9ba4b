import unittest

from models.exam import table


def corpus(linked, functions=1.0):
    summary = {"geometric_mean": functions}
    return {
        "linked_code_bytes": {"default": 1000, "trained": linked},
        "all_functions": {"trained": summary},
        "weighted_sum": {"trained": {"summary": {"geometric_mean": functions * 2}}},
    }


class TableTest(unittest.TestCase):
    def test_rows(self):
        corpora = {"a": corpus(900), "b": corpus(1010), "c": corpus(990, 0.5), "d": corpus(980, 0.5)}
        result = {"corpora": corpora, "order": {"sides": ["trained"]}}
        languages, measures = {"C": ["a", "b"], "C++": ["c", "d"]}, ["linked_code", "functions", "weighted_sum"]
        text = table.markdown(result, languages, measures)
        head, rule, *rows = text.splitlines()
        self.assertEqual(
            head,
            "| measure | side | C (2): mean | without the best | worst | C++ (2): mean | without the best | worst |",
        )
        self.assertEqual(rule.count("---"), 8)
        self.assertEqual(
            rows,
            [
                # The root of 0.9 * 1.01, and of 0.99 * 0.98.
                "| linked code | trained | -4.66 % | +1.00 % | +1.00 % (b) | -1.50 % | -1.00 % | -1.00 % (c) |",
                "| geometric mean of functions | trained | +0.00 % | +0.00 % | +0.00 % (a)"
                " | -50.00 % | -50.00 % | -50.00 % (c) |",
                "| weighted sum | trained | +100.00 % | +100.00 % | +100.00 % (a) | +0.00 % | +0.00 % | +0.00 % (c) |",
            ],
        )

    def test_missing_library(self):
        with self.assertRaises(KeyError):
            table.markdown({"corpora": {}, "order": {"sides": ["trained"]}}, {"C": ["a", "b"]}, ["linked_code"])


if __name__ == "__main__":
    unittest.main()
