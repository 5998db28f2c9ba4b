"""Objects found by output and by content, in archives of several kinds; programs that were linked."""

import dataclasses
import os
import pathlib

from mlgo.project.answer import KEEP
from mlgo.project.build import Build, built_name, choose, linked_inputs, members_of, own_libraries, programs_of
from mlgo.project.command_line import Archive
from mlgo.project.compiler import Compiler
from mlgo.project.compiling import Compiled, Units
from mlgo.project.relinking import Parts, Relinker
from mlgo.project.testing.project_case import ProjectCase, elf_of_code
from mlgo.run.exit_codes import ExitCode, RunError


def member(name, content):
    return f"{name:<16}{0:<12}{0:<6}{0:<6}{644:<8}{len(content):<10}`\n".encode() + content + b"\n" * (len(content) % 2)


class BuildTest(ProjectCase):
    def made(self, name, content=None, by="clang"):
        """A unit `name`.c with an object `name`.o; None: the object is gone."""
        self.write(f"{name}.c")
        if content is not None:
            self.write(f"{name}.o", elf_of_code(content))
        return self.unit(f"{name}.c", output=f"{name}.o", by=by)

    def linked(self, *words, output="program", content=None):
        if content is not None:
            self.write(output, elf_of_code(content, 2))
        return self.link(*words, output=output)

    def program_links(self, *commands):
        return [one.link for one in programs_of(Build(commands))]

    def archive(self, name, *members, magic=b"!<arch>\n"):
        return self.write(name, magic + b"".join(member(one, content) for one, content in members))

    def test_members(self):
        table = member("//", b"a very long name.o/\nx/y.o/\n")
        content = b"!<arch>\n" + member("/", b"\0\0\0\0") + table + member("a.o/", b"odd") + member("/0", b"even")
        found = members_of(pathlib.Path(self.write("x.a", content)))
        self.assertEqual(found, [("a.o", b"odd"), ("a very long name.o", b"even")])
        self.assertEqual(len(members_of(pathlib.Path(self.write("x.a", content[:-30])))), 1)

    def test_a_thin_archive(self):
        self.write("sub/a.o", b"content")
        header = f"{'/0':<16}{0:<12}{0:<6}{0:<6}{644:<8}{7:<10}`\n".encode()
        path = self.write("x.a", b"!<thin>\n" + member("//", b"sub/a.o/\n") + header)
        self.assertEqual(members_of(pathlib.Path(path)), [("a.o", b"content")])

    def test_the_later_of_two_compiles_counts(self):
        first, second = self.made("a", b"1"), self.made("a", b"1", by="other")
        self.assertEqual(Build([first, second]).units[first.output].by, "other")

    def test_parts_of_a_program(self):
        units = [self.made(name, name.encode()) for name in ("main", "moved", "member", "foreign", "unused")]
        os.rename(self.folder / "moved.o", self.folder / "new.o")
        gone = self.made("gone")
        refused = self.made("refused", b"refused", by="other")
        self.archive("libx.a", ("renamed.o", elf_of_code(b"member")), ("gone.o", elf_of_code(b"anything")))
        self.write("foreign.o", elf_of_code(b"made by something else"))
        link = self.linked("main.o", "refused.o", "foreign.o", "-L.", "-lx", "-lc", "unknown.o")
        self.write("unknown.o", elf_of_code(b"unknown"))
        parts = Parts(Build([*units, gone, refused, link]), link)
        names = {os.path.basename(path) for path in parts.units}
        self.assertEqual(names, {"main.o", "member.o", "gone.o", "foreign.o"})
        others = {os.path.basename(path): why for path, why in parts.others.items()}
        self.assertEqual(others, {"refused.c": "clang refuses it", "unknown.o": "no recorded command made it"})

    def test_inputs_that_are_no_files(self):
        unit, others = self.made("a", b"a"), ["zero.o", "folder.o", "pipe.o", "x.a", "source.o"]
        os.symlink("/dev/zero", self.folder / "zero.o")
        (self.folder / "folder.o").mkdir()
        for name in ("pipe.o", "pipe", "source.c"):
            os.mkfifo(self.folder / name)
        header = f"{'pipe.o/':<16}{0:<12}{0:<6}{0:<6}{644:<8}{7:<10}`\n".encode()
        self.write("x.a", b"!<thin>\n" + header)
        self.write("source.o", elf_of_code(b"source"))
        link = self.link("a.o", *others, output="pipe")
        build = Build([unit, self.unit("source.c", output="source.o"), link])
        parts = Parts(build, link)
        self.assertEqual(list(parts.units), [unit.output])
        no_file = ("zero.o", "folder.o", "pipe.o", "source.c")
        self.assertEqual(parts.others, {str(self.folder / name): "is no file" for name in no_file})
        self.assertEqual(built_name(programs_of(build)[0]), "pipe")  # By its objects.

    def test_an_archive_that_another_language_made_is_one_input(self):
        members = [(f"{name}.o/", elf_of_code(name.encode())) for name in ("one", "two")]
        path = self.archive("libr.a", *members)
        parts = Parts(Build([self.made("a", b"a")]), self.linked("a.o", "libr.a"))
        self.assertEqual(parts.others, {path: "no recorded command made its 2 objects"})
        self.assertEqual(list(parts.units), [str(self.folder / "a.o")])
        # The build's own are named one by one.
        self.archive("libr.a", ("a.o/", elf_of_code(b"a")), *members)
        parts = Parts(Build([self.made("a", b"a")]), self.linked("libr.a"))
        self.assertEqual(len(parts.others), 2)

    def test_an_object_that_moved_to_another_suffix(self):
        # With equal content, the unit of another suffix is the one for shared libraries.
        static, moved = self.made("a", b"content"), self.made("objs/a")
        path = self.write("a.lo", elf_of_code(b"content"))
        self.assertEqual(Build([static, moved]).made_object(path), moved)
        self.assertEqual(Build([static]).made_object(path), static)
        self.assertIsNone(Build([moved]).made_object(self.write("b.lo", elf_of_code(b"other"))))
        self.assertIsNone(Build([moved, self.made("more/a")]).made_object(path))

    def test_libraries(self):
        self.write("one/libx.so", elf_of_code(b"", 3))
        self.archive("two/libx.a")
        self.archive("one/liby.a")
        link = self.linked("-Lone", "-Ltwo", "-lx", "-l", "y", "-Wl,-Bstatic", "-lx", "-Wl,two/libx.a,--as-needed")
        found = {place: os.path.relpath(path, self.folder) for place, path in linked_inputs(link).items()}
        expected = {(4, 0): "one/liby.a", (6, 0): "two/libx.a", (7, 1): "two/libx.a"}
        self.assertEqual(found, expected)

    def test_libraries_of_the_build_that_a_program_is_linked_with(self):
        libraries = [
            self.linked("-shared", output=f"l/{name}.so.1.2", content=b"1") for name in ("libx", "liby", "libz")
        ]
        os.symlink("libx.so.1.2", self.folder / "l/libx.so")
        program = self.linked("-L", "l", "-lx", "l/liby.so.1.2", "-lm", output="program", content=b"1")
        programs = programs_of(Build([*libraries, program]))
        (own,) = (one for one in programs if one.link is program)
        self.assertEqual(sorted(map(built_name, own_libraries(own, programs))), ["libx.so.1.2", "liby.so.1.2"])

    def test_programs(self):
        large = self.linked(output="b/program", content=b"12345")
        small = self.linked(output="a/program", content=b"1")
        absent = self.linked(output="absent")
        relocatable = self.linked("-r", output="r.o", content=b"123456789")
        programs = programs_of(Build([small, large, absent, relocatable]))
        self.assertEqual(
            [(one.link, one.code, one.machine) for one in programs], [(large, 5, "x86-64"), (small, 1, "x86-64")]
        )
        self.assertEqual(choose(programs, None, 2).link, large)
        self.assertEqual(choose(programs, "a/program", 2).link, small)
        library = self.linked(output="libx.so.1.2", content=b"1")
        self.assertEqual(choose(programs_of(Build([library, small])), "libx.so", 2).link, library)
        with self.assertRaisesRegex(RunError, "--program=program: names several programs. Choose one of .*/b/program"):
            choose(programs, "program", 2)
        with self.assertRaisesRegex(RunError, "--program=rogram: names no program that the build linked"):
            choose(programs, "rogram", 2)
        for units, wrong in ((0, "compiled nothing that mlgo saw"), (3, "compiled 3 units, and linked no program")):
            with self.assertRaisesRegex(RunError, wrong) as raised:
                choose([], None, units)
            self.assertEqual(raised.exception.exit_code, ExitCode.NOTHING_PRODUCED)

    def test_tests_are_not_what_a_project_is_for(self):
        names = ["latest/tool", "libx.so.1", "x-bench", "examples/y", "tests/.libs/test1", "misc_tests", "xmltest"]
        names.append("Debug/tool")
        links = [self.linked(output=f"test/{name}", content=b"1" * (place + 1)) for place, name in enumerate(names)]
        programs = programs_of(Build(links))
        shown = [os.path.relpath(one.link.output, self.folder / "test") for one in programs]
        self.assertEqual(shown, ["libx.so.1", "latest/tool", *reversed(names[2:])])
        self.assertEqual(self.program_links(*links[-1:]), links[-1:])

    def test_what_writes_profiles_is_not_what_a_project_is_for(self):
        last = self.linked("-fprofile-generate=x", output="large", content=b"123")
        links = [last, self.linked("-fprofile-use", output="small", content=b"1")]
        self.assertEqual(self.program_links(*links), [links[1], last])

    def test_objects_that_the_build_removed(self):
        unit, kept = self.made("gone"), self.made("kept", b"kept")
        link = self.linked("gone.o", "kept.o", "removed.a", "other.o")
        parts = Parts(Build([unit, kept, link]), link)
        self.assertEqual((set(parts.units), parts.absent), ({unit.output, kept.output}, {unit.output}))
        removed = {str(self.folder / name): "was removed after the link" for name in ("removed.a", "other.o")}
        self.assertEqual(parts.others, removed)

    def test_a_folder_that_the_build_removed(self):
        # As pip does; the source lies elsewhere.
        unit = dataclasses.replace(self.made("kept", b"kept"), directory=str(self.folder / "gone"))
        link = self.linked("kept.o")
        parts = Parts(Build([unit, link]), link)
        why = "the folder in which it was compiled was removed after the build"
        self.assertEqual((parts.units, parts.others), ({}, {unit.source: why}))

    def test_an_archive_that_the_build_removed(self):
        unit, kept = self.made("gone"), self.made("kept", b"kept")
        given = [Archive(str(self.folder / "l/libx.a"), members) for members in ((unit.output,), (kept.output, "/z.o"))]
        for words in (("l/libx.a",), ("-Ll", "-lx")):
            link = self.linked(*words, output="program")
            parts = Parts(Build([unit, kept, *given, given[0], link]), link)
            self.assertEqual((set(parts.units), parts.absent), ({unit.output, kept.output}, {unit.output}), words)
            self.assertEqual(parts.others, {"/z.o": "was removed after the link"})
        self.assertEqual(linked_inputs(self.linked("-Ll", "-lx")), {})

    def test_a_link_with_an_archive_that_the_build_removed(self):
        self.program("bin/clang", 'shift; cat "$1" > "$3"\n')
        self.program("bin/llvm-ar", 'xargs cat < "${3#@}" > "$2"\n')
        self.program("bin/llvm-ranlib")
        gone, kept = self.made("gone"), self.made("kept", b"kept")
        archive = Archive(str(self.folder / "libx.a"), (gone.output, kept.output))
        link = self.linked("libx.a")
        parts = Parts(Build([gone, kept, archive, link]), link)
        compiler = Compiler(self.folder)
        units = Units(compiler, self.folder / "cache", {})
        relinker = Relinker(compiler, units, parts, self.folder / "scratch", 1, self.fail)
        made = {gone.output: Compiled(pathlib.Path(self.write("new.o", b"new")), 1.0)}
        linked, _ = relinker.link(link, made, (), "program")
        self.assertEqual(linked.read_bytes(), b"new" + elf_of_code(b"kept"))
        with self.assertRaisesRegex(RunError, "libx.a: was removed, and so was gone.o in it"):
            relinker.link(link, {}, (), "program")
        # An archive that is there, with names that no file can have.
        self.archive("libx.a", ("../", elf_of_code(b"up")), ("gone.o/", elf_of_code(b"gone")), ("./", b"here"))
        relinker.parts = Parts(Build([gone, link]), link)
        linked, _ = relinker.link(link, made, (), "program")
        self.assertEqual(linked.read_bytes(), elf_of_code(b"up") + b"new" + b"here")

    def test_sources_that_a_link_compiles_are_units(self):
        source = self.write("a.c")
        link = dataclasses.replace(self.linked("-O2", "a.c", "-x", "c", "a.c"), sources=(source,))
        parts = Parts(Build([link]), link)
        (output,) = parts.units
        self.assertEqual((parts.absent, parts.compiled_by(link, source)), ({output}, parts.units[output]))
        self.assertIsNone(parts.compiled_by(link, "/other.c"))
        self.write("default.profdata", b"\xfflprofi\x81...")
        made = dataclasses.replace(link, by="gcc")
        self.assertIn("is configured for gcc", Parts(Build([made]), made).others[source])
        for word, why in (
            ("-fopenmp", "needs libomp for -fopenmp"),
            ("-fprofile-use=a.gcda", "clang reads no profile of gcc (.gcda); give it one that llvm-profdata merged"),
            ("-fprofile-use", "clang refuses it"),
        ):
            refused = dataclasses.replace(link, by="other", words=(word, "a.c"))
            self.assertEqual(Parts(Build([refused]), refused).others, {source: why})

    def test_a_program_that_was_renamed(self):
        main, more = self.made("main", b"1234"), self.made("more", b"12")
        small, large = self.linked("more.o", output="small.tmp"), self.linked("main.o", "more.o", output="large.tmp")
        conftest = self.linked("main.o", output="conftest")
        programs = programs_of(Build([main, more, small, large, conftest]))
        self.assertEqual([(one.link, one.code) for one in programs], [(large, 6), (small, 2)])
        self.program("large.tmp", "exec ./large.bin")
        self.assertEqual(self.program_links(main, more, small, large), [large, small])
        there = self.linked("more.o", output="there", content=b"1")
        self.assertEqual(self.program_links(main, more, large, there), [there])

    def test_what_go_links_to_ask_for_is_no_program(self):
        objects = [self.made("main", b"1234"), self.made("more", b"12")]
        asked = [self.linked("main.o", output=name, content=b"1") for name in ("b001/_cgo_.o", "go-link-1/a.out")]
        moved = self.linked("more.o", output="b001/exe/a.out")
        self.assertEqual(self.program_links(*objects, *asked, moved), [moved])
        self.assertIn("mktemp -d /tmp/go-link-", KEEP)

    def test_what_configure_links_to_ask_for_is_no_program(self):
        asked = dataclasses.replace(
            self.linked("conftest.c", output="a.out"), sources=(str(self.folder / "conftest.c"),)
        )
        moved = self.linked("more.o", output="gone")
        self.assertEqual(self.program_links(self.made("more", b"12"), asked, moved), [moved])

    def test_units_without_optimization(self):
        words = ("-c", "-O2 -O0", "-O0 -Os", "--optimize=0", "-O", "-O3 -ObjC")
        units = [self.made(f"u{place}", b"%d" % place) for place in range(len(words))]
        units = [dataclasses.replace(unit, words=tuple(text.split())) for unit, text in zip(units, words)]
        link = self.linked(*(f"u{place}.o" for place in range(len(words))))
        self.assertEqual(Parts(Build([*units, link]), link).unoptimized(), 3)
