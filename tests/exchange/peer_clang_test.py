"""A clang to ship with policies that tf-agents saved inside."""

import os
import subprocess
import unittest

from mlgo.corpus.corpus import Corpus
from mlgo.policy.greedy_model import write_greedy_model
from mlgo.policy.peer_policy import load_any_policy
from mlgo.problems.problem import load_problem
from mlgo.run import locate
from tests.exchange.exchange_case import CLANG, ExchangeCase

_INLINING = "peer_inlining_policy"
#: With these, the default inlines nothing; a policy does not look at the threshold.
_NEVER = ["-mllvm", "-inline-threshold=-1000"]


class PeerClangTest(ExchangeCase):
    def compiled(self, clang: str, module, flags: list[str]) -> bytes:
        output = self.folder / "a.o"
        words = module.command.arguments(str(module.bitcode_file()), str(output), flags)
        subprocess.run([clang, *words], check=True)
        return output.read_bytes()

    def model(self, name: str, policy: str) -> str:
        """The policy as the development clang runs it."""
        found, _ = load_any_policy(locate.runfile(f"tests/exchange/{policy}/saved_model.pb").parent, load_problem(name))
        return str(write_greedy_model(found, load_problem(name), self.folder / "work", "peer"))

    def test_inlining_decides_as_in_the_development_clang(self):
        problem = load_problem("inlining_for_size")
        development = problem.development_flags(str(self.folder / "log"), self.model(problem.name, _INLINING))
        changed = 0
        for module in Corpus.load(self.extract("Oz", 4)).modules:
            by_tflite = self.compiled(CLANG, module, [*development, *_NEVER])
            by_aot = self.compiled(_release(), module, ["-mllvm", "-enable-ml-inliner=release", *_NEVER])
            self.assertEqual(by_aot, by_tflite, module.name)
            changed += by_aot != self.compiled(_release(), module, _NEVER)
        self.assertGreater(changed, 0, "the policy decides as the default, so the test shows nothing")

    def test_eviction_is_decided_by_the_policy(self):
        # Not compared with the development clang: tf-agents' networks compute with floats, which the two backends round
        # differently, and candidates with equal features tie.
        on, changed = ["-mllvm", "-regalloc-enable-advisor=release"], 0
        for module in Corpus.load(self.extract("O2", 4)).modules:
            by_aot = self.compiled(_release(), module, on)
            self.assertEqual(by_aot, self.compiled(_release(), module, on), module.name)
            changed += by_aot != self.compiled(_release(), module, [])
        self.assertGreater(changed, 0, "the policy decides as the default, so the test shows nothing")


def _release() -> str:
    return str(locate.runfile("tests/exchange/peer_clang"))


if __name__ == "__main__":
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    unittest.main()
