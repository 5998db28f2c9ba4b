import unittest

from mlgo.problems import slots
from mlgo.problems.problem import load_problem


class SlotsTest(unittest.TestCase):
    def test_each_slot_determines_the_flags_of_its_problem(self):
        for name, slot in slots.policy_slots().items():
            with self.subTest(name):
                problem = load_problem(slot["problem"])
                self.assertEqual(problem.release_setting, f"//release:{name}")
                self.assertEqual(problem.release_flags(), ["-mllvm", f"-{slot['advisor_flag']}=release"])
                self.assertIn(f"-{slot['interactive_flag']}=base", problem.interactive_flags("base"))

    def test_only_the_inliner_can_be_limited_to_functions_for_size(self):
        for slot in slots.policy_slots().values():
            limits = {"all functions", "functions for size"}
            allowed = limits if slot["advisor_flag"] == "enable-ml-inliner" else {"all functions"}
            self.assertIn(slot["decides_in"], allowed, slot["problem"])

    def test_measured_architectures_are_known(self):
        known = {"aarch64", "arm", "riscv32", "riscv64", "x86_64"}
        for slot in slots.policy_slots().values():
            self.assertLessEqual(set(slot["measured_on"].split()), known)

    def test_flags_of_llvm(self):
        self.assertEqual(load_problem("inlining_for_size").advisor_flag, "enable-ml-inliner")
        self.assertEqual(load_problem("regalloc_eviction").advisor_flag, "regalloc-enable-advisor")

    def test_selectors(self):
        selected = slots.selector_option("inlining_for_size", "arm32-size")
        self.assertEqual(selected, ["-mllvm", "-ml-inliner-model-selector=arm32-size"])
        self.assertEqual(slots.selector_option("regalloc_eviction", ""), [])
        # Another prefix would stand for an option of LLVM (llvm/embedded).
        ours = {slot["selector_flag"] for slot in slots.policy_slots().values()} - {"ml-inliner-model-selector"}
        self.assertEqual([flag for flag in ours if not flag.startswith("mlgo-")], [])

    def test_problem_without_a_slot(self):
        for look_up in (lambda: slots.selector_option("absent", ""), lambda: slots.slot_arguments("absent")):
            with self.assertRaisesRegex(ValueError, "problem absent: has no policy slot; add one to llvm/slots.bzl"):
                look_up()
