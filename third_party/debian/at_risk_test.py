import contextlib
import io
import json
import pathlib
import unittest

import at_risk
import lock
import lockfile
import places

from third_party.debian.testing import archives

HERE = pathlib.Path(__file__).parent
#: Sources of packages.json that no stable suite has in the version that is needed. Keep this list short: testing drops
#: versions within weeks.
ONLY_TESTING_SOURCES = {"brotli", "flatbuffers", "llvm-toolchain-22", "oourafft", "sqlite3", "tensorflow"}
#: Bazel needs testing as a whole; the launcher resolves it again when a part is gone.
ONLY_TESTING_GROUPS = {"bazel"}


def entry(name, suite, path="", content=b""):
    made = archives.entry(name, content or name.encode(), path)
    return lockfile.Entry(made.name, made.version, made.sha256, made.size, suite, made.path)


class AssessTest(unittest.TestCase):
    def assess(self, sources=(), packages=(), upstream=None):
        table = {made.name: made for made in packages}
        made = lockfile.Lock({"bookworm": table}, {source.name: source for source in sources}, {"bazel": []})
        return at_risk.assess(made, upstream or {})

    def names(self, rows):
        return [(made.name, where) for made, where in rows]

    def test_what_only_testing_has_is_lost(self):
        risk = self.assess([entry("a", "forky"), entry("b", "bookworm")], [entry("c", "bookworm-security")])
        self.assertEqual(self.names(risk.lost), [("a", "source")])
        self.assertEqual(self.names(risk.security), [("c", "package bookworm")])

    def test_the_same_bytes_in_a_stable_suite_or_at_upstream_are_not_lost(self):
        risk = self.assess(
            [entry("a", "forky"), entry("b", "forky", content=b"same")],
            [entry("b2", "bookworm", content=b"same")],
            {"a": {"version": "1.0", "url": "https://host/a-1.0.tar.gz"}},
        )
        self.assertEqual((risk.lost, self.names(risk.released)), ((), [("a", "source")]))

    def test_a_release_of_another_version_does_not_help(self):
        risk = self.assess([entry("a", "forky")], upstream={"a": {"version": "1.1", "url": "https://host/a"}})
        self.assertEqual(self.names(risk.lost), [("a", "source")])

    def test_the_report(self):
        lines = self.assess([entry("a", "forky")]).lines()
        self.assertEqual(
            lines,
            [
                "1 archives, 0 MB: only testing has them; they are lost when it moves",
                "  a 1.0 (source, 0.0 MB)",
                "0 archives, 0 MB: of testing, and upstream's release stands in",
                "0 archives, 0 MB: security updates; the next one replaces them, a point release keeps them",
            ],
        )


class PackagesTest(unittest.TestCase):
    """packages.json takes from testing only what no other suite has."""

    def test_what_only_testing_has(self):
        request = json.loads((HERE / "packages.json").read_text(encoding="utf-8"))
        testing = {
            family
            for family, suites in request["suites"].items()
            if not all(suite.startswith(at_risk.STABLE) for suite in suites)
        }
        of_testing = {name for name, family in request["sources"].items() if family in testing}
        groups = {name for name, group in request["groups"].items() if group["suite"] in testing}
        self.assertEqual(of_testing, ONLY_TESTING_SOURCES)
        self.assertEqual(groups, ONLY_TESTING_GROUPS)
        self.assertEqual([family for family in request["packages"] if family in testing], [])

    def test_the_lock_is_at_risk_where_packages_json_says_so(self):
        risk = at_risk.assess(lockfile.load(HERE / "lock.json"), places.load_upstream())
        allowed = ONLY_TESTING_SOURCES | ONLY_TESTING_GROUPS
        for made, where in [*risk.lost, *risk.released]:
            self.assertIn(made.name if where == "source" else where.split()[-1], allowed)

    def test_the_command_prints_and_changes_nothing(self):
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            self.assertEqual(lock.main(["--at_risk", f"--directory={HERE}"]), 0)
        self.assertIn("source, 55.9 MB)", said.getvalue())  # tensorflow
        self.assertIn("  llvm-toolchain-22 22.1.8 (source)\n", said.getvalue())


if __name__ == "__main__":
    unittest.main()
