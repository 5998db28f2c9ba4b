"""A program prints what the files of its policies record; the README lists the slots."""

import hashlib
import json
import pathlib
import tempfile
import unittest

from mlgo.policy.identity import Identity
from mlgo.problems.slots import policy_slots
from release import slot

DIGEST = "3a919e78925b42fa5f75ea1f202a272562caf60c78364ef4f717179fcf270d74"


class SlotTest(unittest.TestCase):
    def test_provenance(self):
        who = Identity("regalloc_eviction", "seed 1, iteration 55", DIGEST)
        self.assertEqual(slot.provenance(who, "cpp"), "run seed 1, iteration 55, sha256:3a919e78925b42fa, backend cpp")

    def test_unit(self):
        who = Identity("regalloc_eviction", 'a "run"', DIGEST)
        policy = slot.CompiledPolicy(who, "mlgo::EvictionPolicy", "policy.h")
        unit = slot.slot_unit([policy], "regalloc_eviction", "aot", "EvictionSlot")
        self.assertIn('#include "policy.h"\n', unit)
        self.assertIn('const mlgo::PolicySlot mlgo::EvictionSlot = {"regalloc_eviction", Policies, 1};', unit)
        self.assertIn('    "",\n        "regalloc_eviction",\n        "run a \\042run\\042, sha256:', unit)
        self.assertIn("mlgo::CompiledPolicy<mlgo::EvictionPolicy>::create", unit)

    def test_several_policies_keep_their_order(self):
        policies = [
            slot.CompiledPolicy(Identity(problem, f"run {name}", DIGEST), f"mlgo::{name.upper()}", f"{name}.h", name)
            for name, problem in (("b", "inlining_for_size"), ("a", "inlining_for_size+ir2vec.75.2f057ba5bf719820"))
        ]
        unit = slot.slot_unit(policies, "inlining_for_size", "cpp", "InliningSlot")
        self.assertIn('#include "b.h"\n#include "a.h"\n', unit)
        self.assertRegex(
            unit, r'(?s)"b",.*run b,.*mlgo::B>::create,\s+"",\s+"",.*"a",.*run a,.*mlgo::A>.*"75\.2f057ba5bf719820"'
        )
        self.assertIn('mlgo::InliningSlot = {"inlining_for_size", Policies, 2};', unit)

    def test_a_policy_for_targets_names_them(self):
        who = Identity("regalloc_eviction", "run", DIGEST)
        policies = [
            slot.CompiledPolicy(who, "mlgo::A", "a.h", "a"),
            slot.CompiledPolicy(who, "mlgo::B", "b.h", "b", ("aarch64", "arm")),
        ]
        unit = slot.slot_unit(policies, "regalloc_eviction", "cpp", "EvictionSlot")
        self.assertRegex(unit, r'(?s)mlgo::A>::create,\s+"",\s+"",.*mlgo::B>::create,\s+"aarch64 arm",\s+"",')

    def test_strings_survive(self):
        self.assertEqual(slot.cpp_string('a"\\?\n\u00e9'), '"a\\042\\134\\077\\012\\303\\251"')

    def run_on(self, folder: pathlib.Path) -> int:
        return slot.main(
            [
                "--name=",
                "--architectures=",
                f"--policy={folder}",
                "--problem=regalloc_eviction",
                "--backend=aot",
                "--cpp_class=mlgo::EvictionPolicy",
                "--header=policy.h",
                "--slot=EvictionSlot",
                f"--unit={folder / 'unit.cpp'}",
            ]
        )

    def test_foreign_model_is_known_by_its_digest(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "saved_model.pb").write_bytes(b"graph")
            self.assertEqual(self.run_on(folder), 0)
            digest = hashlib.sha256(b"graph").hexdigest()[:16]
            self.assertIn(f"run not recorded, sha256:{digest}, backend aot", (folder / "unit.cpp").read_text())

    def test_readme_lists_the_slots(self):
        readme = pathlib.Path(__file__).with_name("README.md").read_text(encoding="utf-8")
        rows = [
            f"| `{name}` | `//models/{fields['problem']}:policy` | `-mllvm -{fields['advisor_flag']}=release` |"
            for name, fields in policy_slots().items()
        ]
        self.assertIn("\n".join(["|---|---|---|", *rows, ""]), readme)

    def test_record_of_another_model_is_refused(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "saved_model.pb").write_bytes(b"graph")
            (folder / "policy.json").write_text(json.dumps({"sha256": {"saved_model.pb": DIGEST}}))
            self.assertEqual(self.run_on(folder), 2)
            self.assertFalse((folder / "unit.cpp").exists())


if __name__ == "__main__":
    unittest.main()
