"""Turns a build event file into the closing line of .ci/run.

Usage: count_tests.py EVENTS CODE    EVENTS: written by --build_event_json_file; CODE: Bazel's exit code.
Prints every test that did not pass, that passed only when it was repeated (FLAKY), and in which tests were skipped
(SKIPPED, with Python's count and the log), then "N passed, N failed", and ", N skipped" if there are any. A test counts
once: as passed only if nothing in it was skipped. Exit code 0 only when at least one test passed, none failed, and
Bazel itself was content.
"""

import dataclasses
import json
import re
import sys
import urllib.parse
from collections.abc import Iterable

#: The last line of Python's unittest: "OK (skipped=2)", "FAILED (failures=1, skipped=2)".
_SKIPPED = re.compile(rb"^(?:OK|FAILED)(?: \((?:.*\bskipped=(\d+))?.*\))?\s*$", re.MULTILINE)
#: Of a log, this much is read, from its end.
_END_BYTES = 65536


@dataclasses.dataclass
class Test:
    """What is known of a test target.

    Attributes:
      status: overall, as Bazel's: PASSED, FLAKY, FAILED, TIMEOUT, ...; NOT_RUN: it has no result, because it did not
        build or Bazel ended before it.
      skipped: how many of the tests in it were skipped.
      log: path of a log that says so.
    """

    status: str = "NOT_RUN"
    skipped: int = 0
    log: str = ""


def tests_of(lines: Iterable[str]) -> dict[str, Test]:
    """Label -> test, of every test target in a build event stream."""
    found: dict[str, Test] = {}
    for line in lines:
        try:
            event = json.loads(line)
        except ValueError:
            continue  # Bazel was killed while it wrote this line.
        identity = event.get("id", {})
        configured = identity.get("targetConfigured", {}).get("label")
        if configured and "testSize" in event.get("configured", {}):
            found.setdefault(configured, Test())
        summarised = identity.get("testSummary", {}).get("label")
        if summarised and "testSummary" in event:
            found.setdefault(summarised, Test()).status = event["testSummary"].get("overallStatus", "NO_STATUS")
        attempted = identity.get("testResult", {}).get("label")
        if attempted and event.get("testResult", {}).get("status") == "PASSED":  # One of each shard.
            test = found.setdefault(attempted, Test())
            for log in _logs(event["testResult"]):
                if skipped := _skipped_in(log):
                    test.skipped, test.log = test.skipped + skipped, log
    return found


def _logs(result: dict) -> Iterable[str]:
    """The paths of the logs of a test's result that are on this machine."""
    for output in result.get("testActionOutput", []):
        address = urllib.parse.urlsplit(output.get("uri", ""))
        if output.get("name") == "test.log" and address.scheme == "file":
            yield urllib.parse.unquote(address.path)


def _skipped_in(log: str) -> int:
    """How many tests were skipped according to the last line of unittest in the file `log`."""
    try:
        with open(log, "rb") as file:
            file.seek(max(0, file.seek(0, 2) - _END_BYTES))
            counts = _SKIPPED.findall(file.read())
    except OSError:
        return 0
    return int(counts[-1] or 0) if counts else 0


def main(arguments) -> int:
    with open(arguments[0], encoding="utf-8", errors="replace") as file:
        found = dict(sorted(tests_of(file).items()))
    code = int(arguments[1])
    bad = [label for label, test in found.items() if test.status not in ("PASSED", "FLAKY")]
    skipped = [label for label, test in found.items() if label not in bad and test.skipped]
    for label in skipped:
        print(f"SKIPPED {label}: {found[label].skipped} of its tests, see {found[label].log}")
    for label, test in found.items():
        if test.status == "FLAKY":
            print(f"FLAKY {label}: it failed, and passed when it was repeated")
    for label in bad:
        print(f"{found[label].status} {label}")
    passed = len(found) - len(bad) - len(skipped)
    if code and not bad:
        print(f"Bazel ended with exit code {code}, see above")
    print(f"{passed} passed, {len(bad)} failed" + (f", {len(skipped)} skipped" if skipped else ""), flush=True)
    return 0 if passed and not bad and not code else 1


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
