"""Every number of a page that names its result is that result's number."""

import pathlib
import unittest

from models.results import update

_WORKSPACE = pathlib.Path(__file__).parents[2]


class PagesTest(unittest.TestCase):
    def test_pages_have_the_results_numbers(self):
        renewed = 0
        for path, text, new in update.pages_with_numbers(_WORKSPACE):
            with self.subTest(page=path.name):
                renewed += "<!--" in text
                self.assertTrue(text == new, f"{path.name} is out of date; run: ./bazelw run //models/results:update")
        self.assertGreater(renewed, 2, "too few pages were found")


if __name__ == "__main__":
    unittest.main()
