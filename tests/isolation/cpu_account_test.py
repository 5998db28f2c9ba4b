import os
import subprocess
import sys
import unittest

from mlgo.run.exit_codes import RunError
from tests.isolation.cpu_account import cpu_account

_WORK = "import time\nwhile time.process_time() < 0.2: pass"


class CpuAccountTest(unittest.TestCase):
    def test_ended_processes_count(self):
        try:
            account = self.enterContext(cpu_account(f"mlgo_test_{os.getpid()}"))
        except RunError as error:
            self.skipTest(f"no control group can be made here: {error}")
        # This test is outside of the group; the first process waits for the second.
        script = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {_WORK!r}], check=True)"
        before = account.seconds()
        subprocess.run(account.entering([sys.executable, "-c", script]), check=True)
        alone = account.seconds() - before
        self.assertGreaterEqual(alone, 0.2)
        with account.of_children():
            self.assertEqual(account.process_ids(), [os.getpid()])
            subprocess.run([sys.executable, "-c", _WORK], check=True)
        self.assertGreaterEqual(account.seconds() - before - alone, 0.2)


if __name__ == "__main__":
    unittest.main()
