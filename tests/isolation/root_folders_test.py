import sys
import unittest

from tests.isolation import root_folders


class RootFoldersTest(unittest.TestCase):
    def test_packages_of_a_simulation(self):
        text = "Reading...\nInst libc6 (2.42-1 Debian:testing [amd64])\nConf libc6 (2.42-1)\nInst bash (5)\n"
        self.assertEqual(root_folders.packages(text), ["bash", "libc6"])

    def test_failed_program_is_named_with_its_words(self):
        with self.assertRaisesRegex(root_folders.RootFolderError, "the step: exit code 3: no space"):
            root_folders.run([sys.executable, "-c", "print('no space'); raise SystemExit(3)"], "the step")


if __name__ == "__main__":
    unittest.main()
