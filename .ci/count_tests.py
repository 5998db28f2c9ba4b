"""Turns a build event file into the closing line of .ci/run.

Usage: count_tests.py EVENTS CODE    EVENTS: written by --build_event_json_file; CODE: Bazel's exit code.
Prints every test that did not pass, then "N passed, N failed". Exit code 0 only when at least one test ran, all passed
and Bazel itself was content.
"""

import json
import sys
from collections.abc import Iterable


def statuses(lines: Iterable[str]) -> dict[str, str]:
    """Label -> overall status (PASSED, FLAKY, FAILED, TIMEOUT, ...) of every test target in a build event stream.

    A test that was found but has no result (it did not build, or Bazel ended before it) is NOT_RUN.
    """
    found = {}
    for line in lines:
        try:
            event = json.loads(line)
        except ValueError:
            continue  # Bazel was killed while it wrote this line.
        identity = event.get("id", {})
        configured = identity.get("targetConfigured", {}).get("label")
        if configured and "testSize" in event.get("configured", {}):
            found.setdefault(configured, "NOT_RUN")
        summarised = identity.get("testSummary", {}).get("label")
        if summarised and "testSummary" in event:
            found[summarised] = event["testSummary"].get("overallStatus", "NO_STATUS")
    return found


def main(arguments) -> int:
    with open(arguments[0], encoding="utf-8", errors="replace") as file:
        found = statuses(file)
    code = int(arguments[1])
    bad = {label: status for label, status in sorted(found.items()) if status not in ("PASSED", "FLAKY")}
    for label, status in bad.items():
        print(f"{status} {label}")
    passed = len(found) - len(bad)
    if code and not bad:
        print(f"Bazel ended with exit code {code}, see above")
    print(f"{passed} passed, {len(bad)} failed", flush=True)
    return 0 if passed and not bad and not code else 1


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
