"""Lines of progress, at most every ten seconds."""

import unittest

from mlgo.project.progress import Progress


class ProgressTest(unittest.TestCase):
    def test_a_line_at_most_every_ten_seconds(self):
        said: list[str] = []
        now = [100.0]
        progress = Progress(said.append, lambda: now[0])
        for now[0] in (101.0, 109.9, 110.0, 115.0, 119.9, 121.0):
            progress.at(f"at {now[0]}")
        self.assertEqual(said, ["at 110.0", "at 121.0"])


if __name__ == "__main__":
    unittest.main()
