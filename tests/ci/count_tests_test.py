import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(os.path.abspath(__file__)).parents[2] / ".ci" / "count_tests.py"


def configured(label, test=True):
    return {"id": {"targetConfigured": {"label": label}}, "configured": {"testSize": "SMALL"} if test else {}}


def summary(label, status):
    return {"id": {"testSummary": {"label": label}}, "testSummary": {"overallStatus": status}}


class CountTestsTest(unittest.TestCase):
    def run_script(self, events, code=0):
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            file.write("\n".join(event if isinstance(event, str) else json.dumps(event) for event in events))
            file.flush()
            done = subprocess.run([sys.executable, str(SCRIPT), file.name, str(code)], capture_output=True, text=True)
        return done.returncode, done.stdout.splitlines()

    def test_all_passed(self):
        self.assertEqual(
            self.run_script([configured("//a:t"), configured("//a:lib", test=False), summary("//a:t", "PASSED")]),
            (0, ["1 passed, 0 failed"]),
        )

    def test_a_failure_is_named(self):
        self.assertEqual(
            self.run_script([summary("//a:t", "PASSED"), summary("//a:u", "TIMEOUT")], 3),
            (1, ["TIMEOUT //a:u", "1 passed, 1 failed"]),
        )

    def test_a_test_that_did_not_build_has_failed(self):
        self.assertEqual(
            self.run_script([configured("//a:t"), configured("//a:u"), summary("//a:t", "PASSED"), '{"cut'], 1),
            (1, ["NOT_RUN //a:u", "1 passed, 1 failed"]),
        )

    def test_no_test_is_a_failure(self):
        self.assertEqual(self.run_script([]), (1, ["0 passed, 0 failed"]))

    def test_bazels_own_failure_is_a_failure(self):
        code, lines = self.run_script([summary("//a:t", "PASSED")], 1)
        self.assertEqual((code, lines[-1]), (1, "1 passed, 0 failed"))


if __name__ == "__main__":
    unittest.main()
