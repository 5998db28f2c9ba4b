"""What recorded commands make."""

import unittest

from mlgo.project.build import Build
from mlgo.project.command_line import Archive, Compile, Header, Link, compiles_of, understand
from mlgo.project.recording import Record


def commands(text, tool="clang", code=0, directory="/p"):
    return understand(Record(tool, directory, tuple(text.split()), code, "clang", 1.0, 0))


class CommandLineTest(unittest.TestCase):
    def compile(self, text):
        (found,) = commands(text)
        self.assertIsInstance(found, Compile)
        return found

    def link(self, text, **fields):
        (found,) = commands(text, **fields)
        self.assertIsInstance(found, Link)
        return found

    def test_spellings_of_the_output(self):
        for words in ("-o o/a.o", "-oo/a.o", "--output=o/a.o", "--output o/a.o"):
            found = self.compile(f"-c s/a.c {words}")
            self.assertEqual((found.output, found.words), ("/p/o/a.o", ("s/a.c",)), words)
        self.assertEqual(self.compile("-c s/a.b.cc").output, "/p/a.b.o")

    def test_what_names_outputs_is_left_out(self):
        found = self.compile("-MD -MT x -MF x.d -Wp,-MMD,y.d -c a.c -o a.o -Wall -DX=1")
        self.assertEqual(found.words, ("a.c", "-Wall", "-DX=1"))

    def test_several_sources_make_several_objects(self):
        found = commands("-c a.c -O2 b.c")
        self.assertEqual([one.output for one in found], ["/p/a.o", "/p/b.o"])
        self.assertEqual([one.words for one in found], [("a.c", "-O2"), ("-O2", "b.c")])

    def test_what_a_link_with_sources_compiles(self):
        link = self.link("-O2 s/a.c x.o b.S -Llib -lx -x c++ b -o p")
        found = compiles_of(link)
        words = [("-O2", "s/a.c", "-Llib", "-x", "c++"), ("-O2", "-Llib", "-x", "c++", "b")]
        self.assertEqual([one.words for one in found], words)
        self.assertEqual([one.source for one in found], ["/p/s/a.c", "/p/b"])
        self.assertEqual([one.output for one in found], ["/p/p(/p/s/a.c)", "/p/p(/p/b)"])
        self.assertEqual([one.seconds for one in found], [0.5, 0.5])
        self.assertEqual(compiles_of(self.link("a.o -o p")), [])

    def test_languages(self):
        self.assertTrue(self.compile("-c a.S").assembles)
        self.assertTrue(self.compile("-c -x assembler-with-cpp a.c").assembles)
        self.assertFalse(self.compile("-c -x c a.txt").assembles)
        # The object of a C++20 module that was compiled for its importers before.
        self.assertEqual(self.compile("-O2 -c m.pcm -o m.o").source, "/p/m.pcm")

    def test_what_makes_no_object(self):
        for words in ("-E a.c", "-fsyntax-only -x c++-header a.h", "--version", "-M a.c"):
            self.assertEqual(commands(words), [], words)
        for source in ("-", "/dev/stdin", "/dev/fd/63"):
            self.assertEqual(commands(f"-x c -c {source} -o a.o"), [], source)
        self.assertEqual(commands("-c a.c", code=1), [])

    def test_precompiled_headers(self):
        for words, source, output, kept in (
            ("-c -x c++-header s/a.h -o o/a.pch", "s/a.h", "o/a.pch", "-x c++-header s/a.h"),
            (
                "-x c++-header -Xclang -emit-pch -o p.pch -c p.hxx.cxx",
                "p.hxx.cxx",
                "p.pch",
                "-x c++-header -Xclang -emit-pch p.hxx.cxx",
            ),
            ("a.h -oa.h.gch", "a.h", "a.h.gch", "a.h"),
            ("-MD a.h", "a.h", "a.h.pch", "a.h"),
        ):
            header = Header(f"/p/{source}", f"/p/{output}", "clang", "/p", tuple(kept.split()), 1.0)
            self.assertEqual(commands(words), [header], words)
            self.assertEqual(Build([header]).headers, {header.output: header})
        self.assertEqual([header.words for header in commands("a.h b.h")], [(), ()])
        self.assertEqual(commands("-x c-header - -o a.pch"), [])

    def test_links(self):
        found = self.link("a.o lib/libx.a -ly -Wl,-Map=x.map -shared -o libz.so")
        self.assertEqual(found.output, "/p/libz.so")
        self.assertEqual(found.words, ("a.o", "lib/libx.a", "-ly", "-shared"))
        for text, kept in (
            ("--gc-sections,-Map,x.map,--cref,-z,now", ["-Wl,--gc-sections,-z,now"]),
            ("--dependency-file=d,-M", []),
            ("--Map=x,--no-undefined,--print-map", ["-Wl,--no-undefined"]),
            ("-Map -Wl,x.map -Wl,-z -Wl,now", ["-Wl,-z", "-Wl,now"]),
            ("-z,now -Xlinker -Map -Xlinker x.map -Xlinker --cref", ["-Wl,-z,now"]),
            ("-z,now -Xlinker -Map=a,b -Xlinker -O1 b.o", ["-Wl,-z,now", "-Xlinker", "-O1", "b.o"]),
        ):
            self.assertEqual(self.link(f"a.o -Wl,{text}").words, ("a.o", *kept))
        for text in ("-Map x.map", "--Map=x.map", "-Map -M", "-M --cref", "--dependency-file x"):
            found = self.link(f"a.o {text} -z now -o b", tool="ld")
            self.assertEqual((found.output, found.words), ("/p/b", ("a.o", "-z", "now")), text)
        found = self.link("a.o lib/libx.a -ly -Wl,-Map=x.map -shared -o libz.so")
        self.assertEqual((found.sources, self.link("a.o").output), ((), "/p/a.out"))
        self.assertEqual(self.link("a.c b.o -o prog").sources, ("/p/a.c",))
        self.assertEqual(self.link("-r a.o -o b.o", tool="ld").output, "/p/b.o")
        self.assertEqual(self.link("-shared -Wl,--whole-archive,x.a,-s -o b.so").output, "/p/b.so")
        self.assertEqual(commands("-Wl,--version -Wl,-x.a -o b"), [])

    def test_archives(self):
        made = [Archive("/p/l/x.a", ("/p/a.o", "/o/b.o"))]
        for words in (
            "rcs l/x.a a.o /o/b.o",
            "-cq l/x.a a.o /o/b.o",
            "--thin rcsD l/x.a a.o /o/b.o",
            "rb m.o l/x.a a.o /o/b.o",
        ):
            self.assertEqual(commands(words, tool="ar"), made, words)
        for words in ("d x.a a.o", "x x.a a.o", "s x.a", "--version", "-t x.a q.o", "rcs x.a", ""):
            self.assertEqual(commands(words, tool="ar"), [], words)
        self.assertEqual(commands("rcs x.a a.o", tool="ar", code=1), [])

    def test_a_script_is_no_source(self):
        self.assertEqual(self.link("a.o -Wl,--version-script,x.map -T x.c -o a").sources, ())
