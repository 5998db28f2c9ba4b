"""Overrides written for clang's driver: which are, and which of their options the driver is given."""

import unittest

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mlgo.compiler.driver_command import DriverOptions, driver_options, is_for_driver
from mlgo.corpus.options.parsing import CommandError

#: As ml-compiler-opt's document about Chromium has it.
CHROMIUM = (
    "-fPIC -mllvm -instcombine-lower-dbg-declare=0 -mllvm -import-instr-limit=30 -no-canonical-prefixes -O2 -nostdlib++"
    " --sysroot=/absent/sysroot -c"
).split()

_HOSTILE = (
    "-fplugin=/tmp/evil.so",
    "-fplugin=evil.so",
    "-fpass-plugin=evil.so",
    "-fplugin-arg-a-b=c",
    "-B/tmp",
    "-specs=x",
    "--config=x.cfg",
    "--gcc-toolchain=/tmp",
    "-gcc-toolchain=x",
    "-gen-cdb-fragment-path",
    "-MJx.json",
    "-MD",
    "-save-temps",
    "-wrapper",
    "-fuse-ld=evil",
    "-fno-integrated-as",
    "-fno-integrated-cc1",
    "-fcrash-diagnostics-dir=x",
    "-fsave-optimization-record",
    "-ftime-trace=x",
    "-fproc-stat-report=x",
    "-fmodules-cache-path=x",
    "-fprofile-generate",
    "-fopenmp-targets=nvptx64",
    "-march=native",
    "-mtune=native",
    "--offload-arch=native",
    "@words",
    "-Wp,-MD,x",
    "-Wa,-x",
    "-Wl,-plugin,x",
    "-fprofile-use=/etc/passwd",
    "-fsanitize-ignorelist=/etc/passwd",
    "-mllvm=-load=x",
    "-x",
    "--driver-mode=cl",
    "-###",
    "-ccc-gcc-name",
    "a.c",
    "/tmp/a.c",
    "-",
    "",
    "-fPIC\n-B/tmp",
)


class DriverOptionsTest(unittest.TestCase):
    def test_which_overrides_are_for_the_driver(self):
        for words in (CHROMIUM, ["-O2", "-c"], ["-fPIC", "-O2"], ["-nostdlib++"]):
            self.assertTrue(is_for_driver(words), words)
        for words in ([], ["-cc1", "-fPIC"], ["-O2"], ["-O2", "-mllvm", "-stats"], ["-O2", "-mllvm"]):
            self.assertFalse(is_for_driver(words), words)

    def test_the_document_s_example(self):
        self.assertEqual(
            driver_options(CHROMIUM),
            DriverOptions(
                ("-fPIC", "-O2", "-c"),
                ("-mllvm", "-instcombine-lower-dbg-declare=0", "-mllvm", "-import-instr-limit=30"),
            ),
        )
        self.assertEqual(
            driver_options(["-march=armv7-a", "-target", "arm-linux-androideabi23", "-Xclang", "-fno-x"]),
            DriverOptions(("-march=armv7-a", "--target=arm-linux-androideabi23"), ("-fno-x",)),
        )

    def test_what_bitcode_does_not_need_is_left_out(self):
        words = "-Wall -Wno-error=x -std=c++20 -I/x -isystem /y --sysroot /z -DA=b -pthread -O2 -isysroot /q".split()
        self.assertEqual(driver_options(words), DriverOptions(("-O2",), ()))

    def test_hostile_options_are_refused_by_name(self):
        for word in _HOSTILE:
            with self.subTest(word), self.assertRaisesRegex(CommandError, "has the driver's option .*more than change"):
                driver_options(["-O2", word, "-c"])

    def test_an_option_without_its_argument_is_refused(self):
        for word in ("-mllvm", "-Xclang", "-target", "--sysroot"):
            with self.assertRaisesRegex(CommandError, f"ends after {word}"):
                driver_options(["-c", word])

    @settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(st.lists(st.sampled_from([*CHROMIUM, "-target", *_HOSTILE]) | st.text(max_size=12), max_size=6))
    def test_the_driver_gets_single_words_without_a_path(self, words):
        try:
            found = driver_options(words)
        except CommandError:
            return
        for word in found.for_driver:
            self.assertRegex(word, r"\A--?[\w.,:+=-]+\Z")
            self.assertNotIn(word, _HOSTILE)


if __name__ == "__main__":
    unittest.main()
