"""Numbers in pages follow the results."""

import json
import pathlib
import tempfile
import unittest

from models.results import pages


class PercentTest(unittest.TestCase):
    def test_signs(self):
        self.assertEqual(pages.percent(0.9884), "−1.16 %")
        self.assertEqual(pages.percent(1.0288, 1), "+2.9 %")
        self.assertEqual(pages.percent(0.999999), "0.00 %")


class RenewedTest(unittest.TestCase):
    def setUp(self):
        self.models = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        (self.models / "policy" / "made_up").mkdir(parents=True)
        content = json.dumps({"totals": {"policy": 0.9, "name": "x"}})
        (self.models / "policy" / "made_up" / "result.json").write_text(content, encoding="utf-8")

    def test_a_value_keeps_its_digits(self):
        page = "gains **−3.1 %**<!--= policy/made_up totals/policy --> here"
        self.assertEqual(pages.renewed(page, {}, self.models), page.replace("3.1", "10.0"))

    def test_a_table(self):
        page = "a\n<!-- begin results: t -->\nold\n<!-- end results: t -->\nb\n"
        self.assertEqual(pages.renewed(page, {"t": "new"}, self.models), page.replace("old", "new"))

    def test_a_mark_without_a_value_is_refused(self):
        with self.assertRaisesRegex(ValueError, "1 marks, but 0 of them"):
            pages.renewed("some <!--= policy/made_up totals/policy -->", {}, self.models)

    def test_an_open_table_is_refused(self):
        with self.assertRaisesRegex(ValueError, "begin results: t.*once, in this order"):
            pages.renewed("<!-- begin results: t -->\n", {"t": "new"}, self.models)

    def test_names_of_nothing_are_refused(self):
        with self.assertRaisesRegex(ValueError, "no table is named 'u'"):
            pages.renewed("<!-- begin results: u -->\n<!-- end results: u -->\n", {"t": ""}, self.models)
        with self.assertRaisesRegex(ValueError, "ends before 'cost'"):
            pages.renewed("+1 %<!--= policy/made_up totals/cost -->", {}, self.models)
        with self.assertRaisesRegex(ValueError, "is no number"):
            pages.renewed("+1 %<!--= policy/made_up totals/name -->", {}, self.models)


if __name__ == "__main__":
    unittest.main()
