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

    def result(self, label, said, status="PASSED"):
        """The result of one run of a test that wrote `said` to its log."""
        file = tempfile.NamedTemporaryFile("w", prefix="a log ", delete=False)
        self.addCleanup(os.unlink, file.name)
        with file:
            file.write(said)
        outputs = [{"name": "test.log", "uri": pathlib.Path(file.name).as_uri()}, {"name": "test.xml", "uri": "x"}]
        event = {"id": {"testResult": {"label": label}}, "testResult": {"status": status, "testActionOutput": outputs}}
        return event, file.name

    def test_skipped_tests_are_not_passed(self):
        whole, log = self.result("//a:t", "sss\nRan 3 tests in 0.1s\n\nOK (skipped=3)\n")
        first, _ = self.result("//a:u", "OK (skipped=7)\nof another\n\nOK (skipped=1, expected failures=1)\n")
        shard, last = self.result("//a:u", "FAILED (skipped=9)\nOK (expected failures=1, skipped=1)\n")
        full, _ = self.result("//a:v", "this test says skipped=5 and is\n\nOK\n")
        failed, _ = self.result("//a:w", "FAILED (failures=1, skipped=2)\n", "FAILED")
        gone = {
            "id": {"testResult": {"label": "//a:v"}},
            "testResult": {
                "status": "PASSED",
                "testActionOutput": [
                    {"name": "test.log", "uri": "file:///nowhere/test.log"},
                    {"name": "test.log", "uri": "bytestream://x/y"},
                ],
            },
        }
        summaries = [summary(f"//a:{name}", "PASSED") for name in "tuv"] + [summary("//a:w", "FAILED")]
        self.assertEqual(
            self.run_script([whole, first, shard, full, failed, gone, *summaries], 3),
            (
                1,
                [
                    f"SKIPPED //a:t: 3 of its tests, see {log}",
                    f"SKIPPED //a:u: 2 of its tests, see {last}",
                    "FAILED //a:w",
                    "1 passed, 1 failed, 2 skipped",
                ],
            ),
        )

    def test_skipping_everything_is_a_failure(self):
        event, _ = self.result("//a:t", "OK (skipped=1)\n")
        code, lines = self.run_script([event, summary("//a:t", "PASSED")])
        self.assertEqual((code, lines[-1]), (1, "0 passed, 0 failed, 1 skipped"))

    def test_a_test_that_passes_when_it_is_repeated_is_named(self):
        self.assertEqual(
            self.run_script([summary("//a:t", "FLAKY"), summary("//a:u", "PASSED")]),
            (0, ["FLAKY //a:t: it failed, and passed when it was repeated", "2 passed, 0 failed"]),
        )

    def test_no_test_is_a_failure(self):
        self.assertEqual(self.run_script([]), (1, ["0 passed, 0 failed"]))

    def test_bazels_own_failure_is_a_failure(self):
        code, lines = self.run_script([summary("//a:t", "PASSED")], 1)
        self.assertEqual((code, lines[-1]), (1, "1 passed, 0 failed"))


if __name__ == "__main__":
    unittest.main()
