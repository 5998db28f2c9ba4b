"""Every number of a page that names its result is that result's number."""

import json
import os
import pathlib
import re
import unittest

from models.results import sections, update

_WORKSPACE = pathlib.Path(__file__).parents[2]
_GENERATED = re.compile(
    r"<!-- begin results: .*?<!-- end results: \S+ -->|[+−]?[\d.]+ %(?:\*\*)?<!--= [^>]*-->", re.DOTALL
)
_CHANGE = re.compile(r"[+−]\d[\d.]* %")


class PagesTest(unittest.TestCase):
    def test_the_exam_has_the_libraries_of_its_list(self):
        languages = {name: each for each, names in json.loads(os.environ["EXAM_LIBRARIES"]).items() for name in names}
        self.assertEqual(sections.EXAM_LANGUAGES, languages)

    def test_pages_have_the_results_numbers(self):
        renewed = 0
        for path, text, new in update.pages_with_numbers(_WORKSPACE):
            with self.subTest(page=path.name):
                renewed += "<!--" in text
                self.assertTrue(text == new, f"{path.name} is out of date; run: ./bazelw run //models/results:update")
        self.assertGreater(renewed, 2, "too few pages were found")

    def test_the_first_pages_have_no_other_results(self):
        for page in ("README.md", "docs/results.md"):
            with self.subTest(page=page):
                text = _GENERATED.sub("", (_WORKSPACE / page).read_text(encoding="utf-8"))
                self.assertEqual(_CHANGE.findall(text), [], "numbers that no result names; see models/results/pages.py")


if __name__ == "__main__":
    unittest.main()
