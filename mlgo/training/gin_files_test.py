"""A gin file of others sets values; whatever else it asks for is refused before gin sees it."""

import os
import pathlib
import tempfile
import unittest

import gin

from mlgo.run.exit_codes import RunError
from mlgo.training.gin_files import set_configuration
from mlgo.training.settings import RunSettings

# Fourfold on each line; gin has no answer in two minutes.
_NESTED = "a0 = 1\n" + "".join(f"a{n} = [{', '.join([f'%a{n - 1}'] * 4)}]\n" for n in range(1, 12))
_DEEP = "a0 = 1\n" + "".join(f"a{n} = %a{n - 1}\n" for n in range(17, 0, -1))


class GinFilesTest(unittest.TestCase):
    def setUp(self):
        self.addCleanup(gin.clear_config)
        self.path = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()), "users.gin")

    def test_values_and_macros_are_set(self):
        self.path.write_text("SEED = 5\nRunSettings.seed = %SEED\nRunSettings:\n  iterations = 4\n")
        set_configuration([self.path], ["RunSettings.iterations = 7"])
        self.assertEqual((RunSettings().seed, RunSettings().iterations), (5, 7))

    def test_what_is_more_than_values_is_refused_and_not_executed(self):
        proof = self.path.with_name("executed")
        module = self.path.with_name("mischief.py")
        module.write_text(f"open({str(proof)!r}, 'w').close()")
        self.path.with_name("other.gin").write_text("")
        for text, message in (
            ("import mischief", "imports the module mischief, which would run it"),
            ("from os import path", "imports the module os.path"),
            ("include 'other.gin'", "includes the file 'other.gin'"),
            ("RunSettings.seed = @gin.singleton()", r"refers to code: @gin.singleton\(\)"),
            ("RunSettings.seed = [1, {'a': (@RunSettings,)}]", "refers to code: @RunSettings"),
            ("RunSettings.seed = " + "[" * 5000, "has brackets inside brackets, more than 32 deep, in line 1"),
            ("RunSettings.seed = [", "is not written in gin's syntax"),
            ("a = %b\nb = %a\nRunSettings.seed = %a", "has macros that name each other: a -> b -> a"),
            ("a = [%a]", "has macros that name each other: a -> a"),
            ("a/macro.value = 1", "sets macro, which is gin's own"),
            ("a/gin.macro.value = %a", "sets gin.macro, which is gin's own"),
            (_NESTED, "stands for more than 10,000 values, at a7"),
            (_DEEP, "has macros inside macros, more than 16 deep, at a17"),
            ("RunSettings.seed = " + '"a" ' * 100_000, ".*has 400,?019 .*, more than the 65,?536 allowed"),
            ("RunSettings.seed = " + '"" ' * 11_000, "has more than 10,000 words and signs"),
            ("RunSettings.seed = " + "9" * 5000, "has the number 9999999999.* in line 1, which is too large"),
            ("\nRunSettings.seed = -1e999", "has the number 1e999... in line 2, which is too large"),
            ("RunSettings.seed = {[1]: 2}", "is not written in gin's syntax: unhashable type"),
        ):
            with self.subTest(text[:40]):
                self.path.write_text(text)
                with self.assertRaisesRegex(RunError, rf"^gin file \(.*users.gin\): {message}.*\. Write every setting"):
                    set_configuration([self.path], [])
                with self.assertRaisesRegex(RunError, f"^--gin_bindings: {message}"):
                    set_configuration([], [text])
        self.assertFalse(proof.exists())

    def test_files_that_are_no_files(self):
        with self.assertRaisesRegex(RunError, "gin file .*does not exist. Write"):
            set_configuration([self.path], [])
        os.mkfifo(self.path)
        with self.assertRaisesRegex(RunError, "gin file .*it is a pipe, not a file. Write"):
            set_configuration([self.path], [])

    def test_errors_name_the_file(self):
        self.path.write_text("NoClass.seed = 1\n")
        with self.assertRaisesRegex(ValueError, "users.gin"):
            set_configuration([self.path], [])
