"""Limits and memory of a machine, read from made-up figures of the kernel."""

import unittest
from unittest import mock

from mlgo.compiler.machine import may_have_refused, unusable_limits
from mlgo.compiler.request import CompileLimits
from mlgo.run.testing.folder_case import FolderCase


class LimitsTest(unittest.TestCase):
    def test_limits(self):
        self.assertIsNone(unusable_limits(CompileLimits()))
        with mock.patch("resource.getrlimit", lambda _: (1, 1 << 30)):
            wrong = f"its hard limit RLIMIT_AS is {1 << 30}, and a compile may use {8 << 30}"
            self.assertEqual(unusable_limits(CompileLimits()), wrong)
            self.assertIsNone(unusable_limits(CompileLimits(address_space_bytes=1 << 30, log_bytes=1 << 30)))


class MemoryTest(FolderCase):
    def refused(self, mode: str, limit_kb: int, committed_kb: int, wanted_bytes: int) -> bool:
        limits = f"CommitLimit:    {limit_kb} kB\nCommitted_AS:   {committed_kb} kB\n"
        self.file("sys/vm/overcommit_memory", f"{mode}\n")
        self.file("meminfo", f"MemTotal: 9 kB\n{limits}HugePages_Free: 0\n")
        return may_have_refused(wanted_bytes, self.folder)

    def test_only_strict_accounting_refuses(self):
        self.assertFalse(self.refused("0", 100, 90, 1 << 20))
        self.assertFalse(self.refused("1", 100, 90, 1 << 20))
        self.assertTrue(self.refused("2", 100, 90, 1 << 20))
        self.assertFalse(self.refused("2", 2000, 90, 1 << 20))

    def test_this_machine(self):
        self.assertIsInstance(may_have_refused(1), bool)
