"""Units that read precompiled headers, as CMake, meson, qmake and Makefiles write them."""

from mlgo.project.command_line import Header
from mlgo.project.compiler import Compiler
from mlgo.project.compiling import Units
from mlgo.project.precompiled import headers_of, reads_precompiled_header, words_with_headers, words_with_text
from mlgo.project.testing.project_case import ProjectCase

#: Counts its runs; an object holds its options. A header is refused below -flag=no; a unit is, with such a header.
FAKE = """#!/bin/sh
echo "$*" >> "$(dirname "$0")/runs"
config=${1#--config=} words="$*" list=
while [ $# -gt 0 ]; do
    case $1 in -o) out=$2 ;; -MF) list=$2 ;; esac
    shift
done
case $out in *.pch) ! grep -q flag=no "$config" || exit 1 ;; esac
case $words in *-include-pch*) ! grep -q flag=unit "$config" || { echo "error: differs" >&2; exit 1; } ;; esac
cat "$config" > "$out"
[ -z "$list" ] || echo 'unit.o: a.c' > "$list"
"""


class PrecompiledTest(ProjectCase):
    def words(self, *words, headers=None, reads=True):
        unit = self.unit("a.c", *words)
        self.assertEqual(reads_precompiled_header(unit), reads)
        own = {str(self.folder / made): Header(text, str(self.folder / made)) for made, text in (headers or {}).items()}
        return " ".join(words_with_text(unit, own)[1:])

    def test_cmake_includes_the_text_too(self):
        words = ("-Xclang", "-include-pch", "-Xclang", "x.pch", "-Xclang", "-include", "-Xclang", "x.hxx", "-O2")
        text = "-Xclang -include -Xclang x.hxx -O2"
        self.assertEqual(self.words(*words), text)
        self.assertEqual(self.words(*words, headers={"x.pch": "/x.hxx.cxx"}), f"-include /x.hxx.cxx {text}")

    def test_meson_names_the_compiled_header_alone(self):
        words = ("-DX", "-include-pch", "app.p/p.h.pch", "-include", "config.h")
        self.assertEqual(self.words(*words, headers={"app.p/p.h.pch": "/p.h"}), "-DX -include /p.h -include config.h")

    def test_a_text_with_a_compiled_header_beside_it(self):
        self.write("x.h")
        self.write("x.h.gch")
        self.assertEqual(self.words("-include", "x.h", "-include", "y.h"), "-Xclang -include -Xclang x.h -include y.h")

    def test_a_compiled_header_without_a_text_beside_it(self):
        self.write("app.pch")
        self.assertEqual(self.words("-include", "app", headers={"app.pch": "/stable.h"}), "-include /stable.h")

    def test_a_folder_of_compiled_headers_beside_the_program_of_that_name(self):
        self.write("app")
        self.write("app.gch/c")
        self.assertEqual(self.words("-include", "app", headers={"app.gch/c": "/stable.h"}), "-include /stable.h")

    def test_a_plain_header(self):
        self.assertEqual(self.words("-include", "x.h", "-O2", reads=False), "-include x.h -O2")

    def test_a_header_that_is_precompiled_again(self):
        texts = {str(self.folder / "x.pch"): "/x.h", self.write("x.h.gch"): "/y.h"}
        headers = {path: Header(text, path, words=(text,)) for path, text in texts.items()}
        paths = {path: f"/new{number}" for number, path in enumerate(headers)}
        for words, new in (
            ("-Xclang -include-pch -Xclang x.pch -Xclang -include -Xclang x.h -O2", "/new0"),
            ("-DX -include-pch x.pch -include config.h", "/new0"),
            ("-O2 -include x.h", "/new1"),
        ):
            unit = self.unit(*words.split())
            self.assertEqual(len(headers_of(unit, headers)), 1, words)
            replaced = " ".join(words_with_headers(unit, paths))
            self.assertEqual(replaced, words.replace("-include x.h", "-include-pch /new1").replace("x.pch", new))
            self.assertEqual(headers_of(unit, {}), [])
            unknown = {path: Header(one.source, path) for path, one in headers.items()}
            self.assertEqual(headers_of(unit, unknown), [])


class PrecompilerTest(ProjectCase):
    def setUp(self):
        super().setUp()
        self.program("bin/clang", FAKE)
        header = Header("/x.h", str(self.folder / "x.pch"), "clang", str(self.folder), ("x.h",))
        self.units = Units(Compiler(self.folder), self.folder / "cache", {header.output: header})

    def compile(self, name, *flags):
        self.write(name)
        unit = self.unit(name, "-include-pch", "x.pch")
        runs = self.folder / "bin/runs"
        runs.unlink(missing_ok=True)
        self.assertIsNotNone(self.units.compile(unit, flags).object)
        return runs.read_text().splitlines()

    def test_once_for_all_units_and_for_options_of_the_code(self):
        header, unit = self.compile("a.c", "-flag", "-mllvm -x")
        self.assertIn(" x.h -c -o ", header)
        made = header.split()[header.split().index("-o") + 1]
        self.assertIn(f" a.c -include-pch {made} -c ", unit)
        for name, flags in (("b.c", ("-flag", "-mllvm -x")), ("a.c", ("-flag",))):
            (unit,) = self.compile(name, *flags)
            self.assertIn(f"-include-pch {made} ", unit)
        self.assertEqual(len(self.compile("a.c", "-other")), 2)

    def test_text_where_the_header_or_its_reader_is_refused(self):
        header, unit = self.compile("a.c", "-flag=no")
        self.assertIn(" a.c -include /x.h -c ", unit)
        (again,) = self.compile("b.c", "-flag=no")
        self.assertIn("-include /x.h", again)
        header, refused, unit = self.compile("a.c", "-flag=unit")
        self.assertIn("-include-pch", refused)
        self.assertIn(" a.c -include /x.h -c ", unit)
