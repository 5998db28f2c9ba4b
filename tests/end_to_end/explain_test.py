"""//mlgo:explain on real modules, with the real compiler, for inlining and for eviction. Argument: llvm-cxxfilt."""

import json
import os
import pathlib
import re
import shutil
import sys
import tempfile
import unittest

import numpy as np

from mlgo.corpus.corpus import Corpus
from mlgo.learning.linear_network import linear_network
from mlgo.learning.network import NetworkConfig, initial_network
from mlgo.learning.normalization import chosen_normalizer
from mlgo.policy.saved_model import save_policy
from mlgo.problems.inlining_for_size.problem import PROBLEM as INLINING
from mlgo.problems.regalloc_eviction.problem import PROBLEM as EVICTION
from mlgo.run.exit_codes import ExitCode
from tests.end_to_end import command, real_modules

_SPACE = "\N{NARROW NO-BREAK SPACE}"
_CXXFILT = pathlib.Path(sys.argv.pop()).absolute()
_OUTPUTS = ("explanation.json", "explanation.md", "explanation.html")


def _save_policies(folder: pathlib.Path) -> None:
    """The stock inliner (cost_estimate < 5), one that inlines up to a cost of 50, and an evictor of no special form."""
    normalizer = chosen_normalizer({"cost_estimate": (-1000, 0, 5, 50, 1000)}, INLINING)
    like = initial_network(normalizer, 1, NetworkConfig((4,), (4,)))
    for name, bias in (("stock", 2.4), ("eager", 4.2)):
        save_policy(linear_network(like, np.array([-1.0 / 1.5] * 4 + [bias - 1.0])), INLINING, folder / name)
    normalizer = chosen_normalizer({"use_def_density": (0, 0.1, 1), "is_hint": (0, 1)}, EVICTION)
    save_policy(
        initial_network(normalizer, 1, NetworkConfig((8,), (4,), logits_init_factor=4.0)), EVICTION, folder / "evictor"
    )


class ExplainTest(unittest.TestCase):
    folder: pathlib.Path
    inlined: Corpus
    allocated: Corpus

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.inlined = real_modules.smallest("oz_held_out", 4, cls.folder / "oz")
        cls.allocated = real_modules.smallest("held_out", 6, cls.folder / "o2")
        _save_policies(cls.folder)

    def _flags(self, policy: str, *more: str) -> list[str]:
        evicting = policy == "evictor"
        return [
            f"--clang={real_modules.development_clang()}",
            f"--cxxfilt={_CXXFILT}",
            f"--policy={self.folder / policy}",
            f"--problem={EVICTION.name if evicting else INLINING.name}",
            f"--corpus={self.folder / ('o2' if evicting else 'oz')}",
            f"--output_dir={self.folder / 'out' / policy}",
            *more,
        ]

    def _run(self, policy: str, *more: str, expected: ExitCode = ExitCode.DONE) -> str:
        code, said = command.run(*self._flags(policy, *more), program="explain")
        self.assertEqual(code, expected, said)
        self.assertNotIn("Traceback", said)
        return said

    def _summary(self, policy: str) -> dict:
        return json.loads((self.folder / "out" / policy / "explanation.json").read_text(encoding="utf-8"))

    def test_a_clone_of_the_heuristic_differs_nowhere(self):
        said = self._run("stock")
        content = self._summary("stock")
        self.assertGreater(content["decisions"], 50)
        self.assertEqual((content["differs_from_heuristic"]["count"], content["examples"]), (0, []))
        self.assertEqual(content["differs_from_heuristic_in_own_states"]["count"], 0)
        self.assertEqual([each["feature"] for each in content["importance"]], ["cost_estimate"])
        self.assertGreater(content["importance"][0]["changed_decisions"], 0.1)
        self.assertIn(f"0.00{_SPACE}% of ", said)

    def test_what_inlines_more_says_where(self):
        self._run("eager")
        content = self._summary("eager")
        self.assertGreater(content["differs_from_heuristic"]["share"], 0.02)
        for example in content["examples"]:
            self.assertEqual((example["policy_choice"], example["heuristic_choice"]), ("inline", "keep the call"))
            self.assertTrue(5 <= example["features"]["cost_estimate"] < 50, example)
        # One of them, as the decision explorer tells it.
        example = content["examples"][0]
        page = self.folder / "page.html"
        said = self._run(
            "eager",
            f"--module={example['module']}",
            f"--function={example['function']}",
            "--limit=0",
            f"--html={page}",
            "--all_features",
        )
        wanted = rf"Decision {example['decision']}: call of .* \(differs\)\n"
        wanted += r"  policy:    inline, p .*\n  heuristic: keep the call\n"
        self.assertRegex(said, wanted)
        cost = f"{example['features']['cost_estimate']:.0f}"
        self.assertRegex(said, rf"cost_estimate +{cost} ")
        self.assertRegex(said, r"this function: (bytes of code: \d+|nothing is left)")
        self.assertIn(f'<td class="plain number">{cost}</td>', page.read_text(encoding="utf-8"))
        self.assertIn(example["function_demangled"], said)

    def test_an_evictor_is_explained_in_both_compiles(self):
        self._run("evictor")
        content = self._summary("evictor")
        self.assertIsNone(content["differs_from_heuristic_in_own_states"])
        self.assertIsNone(content["formula"])
        self.assertGreater(content["differs_from_heuristic"]["count"], 0)
        example = content["examples"][0]
        said = self._run("evictor", f"--module={example['module']}", f"--function={example['function']}", "--limit=0")
        self.assertRegex(said, rf"Decision {example['decision']} \(differs\)\n  policy:    evict (nothing|at \d+), p ")
        default, own = said.split("In the states of the policy's own compile")
        self.assertNotIn("not known", default)
        self.assertIn("what the heuristic would decide here is not logged", own)
        self.assertRegex(said, r"this function: score: [\d.,]+ under the default, [\d.,]+ under the policy")

    def test_equal_runs_give_equal_bytes_and_go_on_where_they_stopped(self):
        folder = self.folder / "out" / "equal"
        flags = ("--seed=3", "--modules=3", f"--output_dir={folder}")
        self._run("stock", *flags)
        before = {name: (folder / name).read_bytes() for name in _OUTPUTS}
        self.assertEqual(json.loads(before["explanation.json"])["modules"], 3)
        self.assertIn("done before", self._run("stock", *flags))
        shutil.rmtree(folder)
        self.assertNotIn("done before", self._run("stock", *flags, "--workers=1"))
        self.assertEqual({name: (folder / name).read_bytes() for name in _OUTPUTS}, before)

    def test_a_module_that_fails_is_left_out_and_named(self):
        shutil.copytree(self.folder / "oz", self.folder / "broken")
        broken = self.inlined.modules[0].name
        (self.folder / "broken" / f"{broken}.bc").write_bytes(b"BC\xc0\xde and no more")
        output = self.folder / "out" / "broken"
        self._run("stock", f"--corpus={self.folder / 'broken'}", f"--output_dir={output}", "--max_failure_ratio=0.5")
        content = json.loads((output / "explanation.json").read_text(encoding="utf-8"))
        self.assertEqual((list(content["failed"]), content["modules"]), ([broken], 3))
        self.assertNotIn(broken, content["by_module"])
        self.assertIn(
            f"Left out, since they failed: {broken} (", (output / "explanation.md").read_text(encoding="utf-8")
        )

    def test_without_a_function_they_are_listed(self):
        module = max(self.inlined.modules, key=lambda module: module.bitcode_size).name
        said = self._run("eager", f"--module={module}")
        self.assertRegex(said, r"function +decisions +differ +under the policy")
        self.assertTrue(re.search(r"\(.*\) +\d+ +\d+ +\d+", said), "names are not demangled")

    def test_refusals(self):
        module = f"--module={max(self.inlined.modules, key=lambda module: module.bitcode_size).name}"
        for policy, flags, message in (
            ("eager", ["--module=there/is/none"], "is in no name of the 4 modules of corpus"),
            ("eager", ["--module=.cpp"], "could be 4 modules of corpus"),
            ("eager", [module, "--function=no such function"], "is in no name of the"),
            ("eager", [module, "--callsite=no such callee"], "is in no name of the"),
            ("eager", ["--function=main"], "--function: needs --module"),
            ("evictor", [module, "--callsite=main"], "--callsite: is not supported for regalloc_eviction"),
            ("evictor", ["--policy="], "--policy: is not given"),
        ):
            self.assertIn(message, self._run(policy, *flags, expected=ExitCode.USER_ERROR))


if __name__ == "__main__":
    os.environ["TF_USE_LEGACY_KERAS"] = "1"
    unittest.main()
