"""Tests of requirements.py."""

import unittest

from hypothesis import given, settings
from hypothesis import strategies as st

from toolchains.python import requirements
from toolchains.python.requirements import Pin, Requirement, RequirementsError

DIGEST = "0123456789abcdef" * 4

# Alphabets, not patterns: those make hypothesis compute a table of all of Unicode first, ten seconds in a sandbox.
letters = st.sampled_from("abcdefghijklmnopqrstuvwxyz0123456789")
names = st.lists(st.text(letters, min_size=1, max_size=4), min_size=1, max_size=3).map("-".join)
versions = st.lists(st.integers(0, 999).map(str), min_size=1, max_size=4).map(".".join)
digests = st.binary(min_size=32, max_size=32).map(bytes.hex)
pin_tables = st.dictionaries(names, st.tuples(versions, st.sets(digests, min_size=1, max_size=3)), max_size=5).map(
    lambda table: {n: Pin(n, v, tuple(sorted(d))) for n, (v, d) in table.items()}
)


class RequestTest(unittest.TestCase):
    def test_options_and_names(self):
        request = requirements.parse_request(
            "# heading\nTF_Agents==0.19.0  # no-deps: reason\ngym == 0.23.0 # no-deps, source: reason\nrich  # nice\n"
            "# leave out: libclang\n",
            "r.in",
        )
        self.assertEqual(
            request.requirements,
            (
                Requirement("tf-agents", "==0.19.0", False, False),
                Requirement("gym", "==0.23.0", False, True),
                Requirement("rich", ""),
            ),
        )
        self.assertEqual(request.left_out, {"libclang"})

    def test_twice(self):
        with self.assertRaisesRegex(RequirementsError, r"r\.in, line 2: a-b is listed twice; keep one"):
            requirements.parse_request("a_b\nA.b==1\n", "r.in")

    def test_no_requirement(self):
        with self.assertRaisesRegex(RequirementsError, r"r\.in, line 1: '-r other' is not a requirement; write it as"):
            requirements.parse_request("-r other", "r.in")


class LockTest(unittest.TestCase):
    @settings(max_examples=30, deadline=None)
    @given(pin_tables)
    def test_round_trip(self, pins):
        text = requirements.render_lock(pins.values(), "r.in")
        self.assertEqual(requirements.parse_lock(text, "lock"), pins)
        self.assertEqual(requirements.differences(pins, pins), [])

    def test_without_digest(self):
        with self.assertRaisesRegex(
            RequirementsError, r"lock, line 2: 'b==1' has no exact version or no sha256; write"
        ):
            requirements.parse_lock(f"a==1 --hash=sha256:{DIGEST}\nb==1\n", "lock")

    def test_twice(self):
        line = f"a==1 --hash=sha256:{DIGEST}\n"
        with self.assertRaisesRegex(RequirementsError, "lock, line 2: a is pinned twice; write"):
            requirements.parse_lock(line + line, "lock")

    def test_truncated(self):
        with self.assertRaisesRegex(RequirementsError, "lock, line 1: the file ends after a backslash"):
            requirements.parse_lock("a==1 \\\n", "lock")

    def test_differences(self):
        old = {"a": Pin("a", "1", (DIGEST,)), "b": Pin("b", "1", (DIGEST,)), "c": Pin("c", "1", (DIGEST,))}
        new = {"b": Pin("b", "2", (DIGEST,)), "c": Pin("c", "1", ("f" * 64,)), "d": Pin("d", "3", (DIGEST,))}
        self.assertEqual(
            requirements.differences(old, new),
            ["- a 1", "~ b 1 -> 2", "~ c 1: another archive of the same version", "+ d 3"],
        )


class ReportTest(unittest.TestCase):
    def test_pins(self):
        report = {
            "install": [
                {
                    "metadata": {"name": "Foo_Bar", "version": "1.0"},
                    "download_info": {"archive_info": {"hashes": {"sha256": DIGEST}}},
                }
            ]
        }
        self.assertEqual(requirements.pins_of_report(report, "pip"), {"foo-bar": Pin("foo-bar", "1.0", (DIGEST,))})

    def test_no_archive(self):
        report = {"install": [{"metadata": {"name": "foo", "version": "1"}, "download_info": {"dir_info": {}}}]}
        with self.assertRaisesRegex(RequirementsError, "pip: foo 1 was not found as an archive with a sha256; ask for"):
            requirements.pins_of_report(report, "pip")


if __name__ == "__main__":
    unittest.main()
