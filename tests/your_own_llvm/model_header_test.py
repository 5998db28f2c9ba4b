"""A policy for LLVM's own build looks at LLVM's own features only."""

import unittest

from mlgo.run.exit_codes import RunError
from mlgo.run.locate import runfile
from release.own_llvm.model_header import check_features, model_header


def folder_of(target: str):
    return runfile(f"tests/policies/{target}/policy.json").parent


class ModelHeaderTest(unittest.TestCase):
    def test_features_of_llvm_are_accepted(self):
        check_features(folder_of("random_eviction_policy"), "regalloc_eviction")
        check_features(folder_of("stock_inlining_policy"), "inlining_for_size")
        # A policy for our compilers that looks at the cost alone.
        check_features(folder_of("threshold_inlining_policy"), "inlining_for_size")

    def test_features_of_ours_are_refused_by_name(self):
        with self.assertRaises(RunError) as caught:
            check_features(folder_of("random_inlining_policy"), "inlining_for_size")
        message = str(caught.exception)
        self.assertIn("looks at is_callee_local, callee_uses_left, ", message)
        self.assertIn("--problem=inlining_for_size+stock", message)

    def test_embeddings_are_refused(self):
        with self.assertRaisesRegex(RunError, "looks at "):
            check_features(folder_of("embeddings_inlining_policy"), "inlining_for_size")

    def test_a_policy_of_another_problem_is_refused(self):
        with self.assertRaisesRegex(RunError, "is for 'regalloc_eviction', not for 'inlining_for_size'"):
            check_features(folder_of("random_eviction_policy"), "inlining_for_size")

    def test_the_class_follows_the_policys_header(self):
        text = model_header("class Given;\n", "mlgo::Given", "InlinerSizeModel")
        self.assertTrue(text.startswith("class Given;\n"))
        self.assertIn("class InlinerSizeModel final {", text)
        self.assertIn("  mlgo::Given Policy;\n", text)


if __name__ == "__main__":
    unittest.main()
