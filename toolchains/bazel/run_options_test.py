import unittest

from toolchains.bazel import run_options


class OfRunTest(unittest.TestCase):
    def test_table(self):
        for line, expected in (
            ("run //x", ([], [])),
            ("--output_base=/b --batch run --config=ci -c opt //x", (["--output_base=/b", "--batch"], ["--config=ci"])),
            ("--output_base /b run //x", (["--output_base", "/b"], [])),
            ("run --disk_cache /cache //x --jobs=1", ([], ["--disk_cache", "/cache", "--jobs=1"])),
            ("run --script_path=/s --run_under=valgrind //x", ([], [])),
            ("run //x -- --config=theirs run", ([], [])),
            ("build --config=ci //x", None),
            ("build //x -- run", None),
            ("", None),
        ):
            with self.subTest(line):
                self.assertEqual(run_options.of_run(line.split()), expected)


if __name__ == "__main__":
    unittest.main()
