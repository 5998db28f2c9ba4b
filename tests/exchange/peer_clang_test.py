"""A clang with policies of tf-agents inside takes the decisions of the development clang with the same policies."""

import os
import subprocess
import unittest

from mlgo.corpus.command import compile_command
from mlgo.corpus.corpus import Corpus
from mlgo.policy.greedy_model import write_greedy_model
from mlgo.policy.peer_policy import load_any_policy
from mlgo.problems.problem import load_problem
from mlgo.run import locate
from tests.exchange.exchange_case import CLANG, ExchangeCase

_RELEASE_FLAGS = {
    "inlining_for_size": "-enable-ml-inliner=release",
    "regalloc_eviction": "-regalloc-enable-advisor=release",
}


class PeerClangTest(ExchangeCase):
    def compiled(self, clang: str, module, flags: list[str]) -> bytes:
        output = self.folder / "a.o"
        words = compile_command(module.command, str(module.bitcode_file(self.folder)), str(output), flags)
        subprocess.run([clang, *words], check=True)
        return output.read_bytes()

    def check(self, name: str, level: str, policy: str) -> None:
        release = str(locate.runfile("tests/exchange/peer_clang"))
        problem = load_problem(name)
        found, _ = load_any_policy(locate.runfile(f"tests/exchange/{policy}/saved_model.pb").parent, problem)
        model = write_greedy_model(found, problem, self.folder / "work", "peer")
        changed = 0
        for module in Corpus.load(self.extract(level, 4)).modules:
            log = str(self.folder / "log")
            by_tflite = self.compiled(CLANG, module, problem.development_flags(log, str(model)))
            by_aot = self.compiled(release, module, ["-mllvm", _RELEASE_FLAGS[name]])
            self.assertEqual(by_aot, by_tflite, module.name)
            changed += by_aot != self.compiled(release, module, [])
        self.assertGreater(changed, 0, "the policy decides as the default, so the test shows nothing")

    def test_inlining(self):
        self.check("inlining_for_size", "Oz", "peer_inlining_policy")

    def test_eviction(self):
        self.check("regalloc_eviction", "O2", "peer_eviction_policy")


if __name__ == "__main__":
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    unittest.main()
