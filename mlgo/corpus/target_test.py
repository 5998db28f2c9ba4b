"""Corpora of one program for several targets: the same modules, each compiled for its target."""

import unittest

from mlgo.corpus.corpus import Corpus
from mlgo.run import locate

#: Corpus -> how the triple of its modules' commands begins.
TRIPLES = {"linked_aarch64": "aarch64-", "linked_armv7_thumb": "thumbv7-", "linked_riscv64": "riscv64-"}
#: The same without an operating system.
BARE = {"firmware_thumbv7em": "thumbv7em-", "firmware_riscv32": "riscv32-"}


def corpus(name: str) -> Corpus:
    return Corpus.load(locate.runfile(f"mlgo/corpus/{name}"))


class TargetTest(unittest.TestCase):
    def test_modules_are_the_hosts_and_commands_the_targets(self):
        host = corpus("linked")
        for name, triple in TRIPLES.items():
            with self.subTest(name):
                modules = corpus(name).modules
                self.assertEqual([module.name for module in modules], [module.name for module in host.modules])
                for module, of_host in zip(modules, host.modules):
                    command = list(module.command)
                    self.assertTrue(command[command.index("-triple") + 1].startswith(triple), command)
                    # Bitcode names its target too.
                    self.assertIn(triple.encode(), module.read_bitcode())
                    self.assertNotEqual(module.read_bitcode(), of_host.read_bitcode())
                    self.assertIn("-ffunction-sections", command)

    def test_without_an_operating_system(self):
        for name, triple in BARE.items():
            with self.subTest(name):
                (module,) = corpus(name).modules
                command = list(module.command)
                self.assertTrue(command[command.index("-triple") + 1].startswith(triple), command)
                self.assertIn(triple.encode(), module.read_bitcode())

    def test_every_target_is_another_corpus(self):
        digests = {name: corpus(name).digest for name in ("linked", *TRIPLES)}
        self.assertEqual(len(set(digests.values())), len(digests))
