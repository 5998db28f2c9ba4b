"""What cc1 is told for what ld.lld was told; tests/corpora/thinlto_test.py compares the objects themselves."""

import unittest

from mlgo.corpus.thinlto.lld_options import BackEnd, back_end
from mlgo.run.exit_codes import RunError

ALWAYS = ["-ffunction-sections", "-fdata-sections", "-faddrsig"]
VECTORS = ["-vectorize-loops", "-vectorize-slp"]


def read(line: str) -> BackEnd:
    return back_end(line.split(), lambda option, path: f"files/{path}")


class BackEndTest(unittest.TestCase):
    def options(self, line: str) -> list[str]:
        found = read(line)
        self.assertEqual(found.differences, (), line)
        return list(found.options)

    def test_line_of_a_driver(self):
        found = read(
            "--hash-style=gnu --build-id -m elf_x86_64 -pie -dynamic-linker /lib64/ld.so -o prog -L/usr/lib a.o"
            " -plugin-opt=mcpu=x86-64 -plugin-opt=O3 -plugin-opt=thinlto --save-temps -O2 -z now -lc"
        )
        expected = ["-target-cpu", "x86-64", "-O3", *VECTORS, "-mrelocation-model", "pic", *ALWAYS]
        self.assertEqual(found, BackEnd(tuple(expected), "elf_x86_64", ()))

    def test_nothing_said(self):
        self.assertEqual(self.options("a.o -o prog"), ["-O2", *VECTORS, "-mrelocation-model", "static", *ALWAYS])

    def test_relocation_model(self):
        for line, model in (
            ("-shared", "pic"),
            ("--shared", "pic"),
            ("-pie", "pic"),
            ("-pie --no-pie", "static"),
            ("-no-pie -pie", "pic"),
            ("-Bshareable", "pic"),
            ("-mllvm -relocation-model=dynamic-no-pic -pie", "dynamic-no-pic"),
        ):
            options = self.options(line)
            self.assertEqual(options[options.index("-mrelocation-model") + 1], model, line)

    def test_options_with_a_counterpart(self):
        for line, expected in (
            ("-mllvm -enable-matrix", ["-mllvm", "-enable-matrix"]),
            ("--mllvm=-inline-threshold=3", ["-mllvm", "-inline-threshold=3"]),
            ("-plugin-opt=-enable-matrix", ["-mllvm", "-enable-matrix"]),
            ("-plugin-opt=-vector-library=LIBMVEC", ["-fveclib=libmvec"]),
            ("-plugin-opt=-debugger-tune=lldb", ["-debugger-tuning=lldb"]),
            ("-plugin-opt=-emulated-tls", ["-femulated-tls"]),
            ("-plugin-opt=-unique-section-names=0", ["-fno-unique-section-names"]),
            ("-plugin-opt=-function-sections=0 -plugin-opt=-data-sections=1", []),
            ("-plugin-opt=-pass-remarks=inline -plugin-opt=-time-passes", []),
            ("-mllvm -mattr=+avx,-fma", ["-target-feature", "+avx", "-target-feature", "-fma"]),
            ("--lto-basic-block-sections=all", ["-fbasic-block-sections=all"]),
            ("--lto-basic-block-sections=b.txt", ["-fbasic-block-sections=list=files/b.txt"]),
            ("--lto-sample-profile=s.prof", ["-fprofile-sample-use=files/s.prof"]),
            ("-plugin-opt=sample-profile=s.prof", ["-fprofile-sample-use=files/s.prof"]),
            (
                "-plugin-opt=cs-profile-path=c.profdata",
                ["-fprofile-instrument-use=csllvm", "-fprofile-instrument-use-path=files/c.profdata"],
            ),
            (
                "-plugin-opt=cs-profile-generate -plugin-opt=cs-profile-path=/d/%m.profraw",
                ["-fprofile-instrument=csllvm", "-fprofile-instrument-path=/d/%m.profraw"],
            ),
            ("--lto-whole-program-visibility --thinlto-jobs=3 --thinlto-cache-dir=/c --lto-obj-path=/o", []),
        ):
            options = self.options(line)
            self.assertEqual(options[options.index("-faddrsig") + 1 :], expected, line)

    def test_differences_are_told(self):
        for line, why in (
            ("--lto-O1", "--lto-O1 with code generation at level 2"),
            ("--lto-O0", "--lto-O0 with code generation at level 2"),
            ("--lto-CGO3", "--lto-O2 with code generation at level 3"),
            ("--lto-newpm-passes=instcombine", "cc1 runs the default pipeline"),
            ("--load-pass-plugin=p.so", "its passes do not run"),
            ("-plugin-opt=dwo_dir=d", "split DWARF"),
            ("-mllvm -float-abi=soft", "-float-abi=soft: cc1 has no option for it"),
            ("-mllvm -enable-ml-inliner=release", "-enable-ml-inliner: something else than the heuristic decided"),
            ("-mllvm -mlgo-search=8", "-mlgo-search: something else than the heuristic decided"),
            ("-r", "relocation model of each module"),
        ):
            (difference,) = read(line).differences
            self.assertIn(why, difference)
        self.assertEqual(read("--lto-O3 --lto-CGO3").differences, ())
        self.assertNotIn("-enable-ml-inliner=release", read("-mllvm -enable-ml-inliner=release").options)

    def test_wrong_lines(self):
        for line, why in (("a.o -mllvm", "last option -mllvm: lacks its value"), ("--lto-O4", "--lto-O4: is no level")):
            with self.assertRaisesRegex(RunError, why):
                read(line)
