"""A compile_commands.json with links from ninja's commands, CMake's link.txt or the user."""

import dataclasses
import json
import os
import pathlib
from typing import Any

from mlgo.project.command_line import Compile, Link
from mlgo.project.recorded import adopt, commands_of, read, state, with_kept_objects
from mlgo.project.testing.project_case import ProjectCase
from mlgo.run.exit_codes import RunError


class StatedBuildTest(ProjectCase):
    def setUp(self):
        super().setUp()
        self.database = self.folder / "compile_commands.json"
        self.write("a.modmap", "-DMAP")
        entries = [
            {"directory": ".", "command": "ccache g++ @a.modmap -c a.cc -o sub/a.o", "file": "a.cc"},
            {"directory": "sub", "arguments": ["/usr/bin/cc", "-c", "b c.c"], "file": "b c.c"},
            {"directory": ".", "command": "nvcc -c k.cu -o k.o", "file": "k.cu"},
            {"directory": "."},
        ]
        self.database.write_text(json.dumps(entries))

    def test_compiles(self):
        made, others = commands_of(self.database, ["cc sub/a.o 'sub/b c.o' -lm -o prog"])
        first, second, link = made
        assert isinstance(first, Compile) and isinstance(second, Compile) and isinstance(link, Link)
        self.assertEqual((first.tool, first.words, first.by), ("clang++", ("-DMAP", "a.cc"), "clang"))
        self.assertEqual(first.output, str(self.folder / "sub/a.o"))
        self.assertEqual((second.directory, second.output), (str(self.folder / "sub"), str(self.folder / "sub/b c.o")))
        self.assertEqual(link.output, str(self.folder / "prog"))
        self.assertEqual(link.words, ("sub/a.o", "sub/b c.o", "-lm"))
        self.assertEqual(others[str(self.folder / "k.cu")], "is no compile of clang's: nvcc")
        self.assertEqual(others["entry 3"], "it has neither `command` nor `arguments`")

    def test_objects_that_only_the_link_had(self):
        unit, link = self.unit("a.c", output="a.o"), self.link("x", output="program")
        there, gone, lost = self.write("there.o"), str(self.folder / "gone.o"), str(self.folder / "lost.o")
        kept, own = self.folder / "kept", self.folder / "removed"
        self.write(f"kept{gone}", "object")
        link = dataclasses.replace(link, words=(gone, there, lost, unit.output, "rel.o"))
        copy = f"{own}{gone}"
        for _ in range(2):  # The second link finds what the first one moved.
            made = with_kept_objects([unit, link], kept, own)
            self.assertEqual(made, [unit, dataclasses.replace(link, words=(copy, *link.words[1:]))])
            self.assertEqual(pathlib.Path(copy).read_text(), "object")

    def test_objects_that_no_link_has_any_more_are_deleted(self):
        cache = self.folder / "cache"
        for number in (1, 2):
            gone = f"{self.folder}/absent/{number}/gone.o"
            records = cache / f"records.{number}"
            kept = self.write(f"cache/records.{number}/objects{gone}", "object")
            words = (gone, "-o", "program")
            texts = ["mlgo-record-1", "clang", str(self.folder), str(len(words)), *words]
            texts += ["done", "0", "clang", "", "end"]
            self.write(f"cache/records.{number}/1", "".join(f"{text}\0" for text in texts))
            adopt(cache)
            self.assertFalse(os.path.exists(kept) or records.exists())
            (link,) = read(cache, "smaller").commands
            assert isinstance(link, Link)
            self.assertEqual(link.words, (f"{cache}/removed{gone}",))
            self.assertEqual([str(one) for one in cache.rglob("*.o")], list(link.words))
        self.assertFalse((cache / f"removed{self.folder}/absent/1").exists())

    def test_commands_that_no_program_can_be_given(self):
        words = ["cc", "-c", "a.c", "-o", "a.o"]
        odd: list[dict[str, Any]] = [
            {"arguments": []},
            {"command": ""},
            {"arguments": [*words, "-DX=\0"]},
            {"arguments": [*words, "\ud800"]},
        ]
        odd += [{"arguments": words, key: "a\0b"} for key in ("directory", "file", "output")]
        self.database.write_text(json.dumps([{"directory": ".", "file": f"{n}.c", **one} for n, one in enumerate(odd)]))
        made, others = commands_of(self.database, ["cc a.o -o prog"])
        self.assertEqual(len(made), 1)
        self.assertEqual(others[str(self.folder / "0.c")], "is no compile of clang's: it has no words")
        self.assertEqual(others["entry 2"], "a word of a command holds what none can hold: '-DX=\\x00'")
        self.assertEqual(others["entry 4"], "its `directory` holds what no name of a file can hold")
        self.assertEqual(len(others), len(odd))

    def test_options_that_only_gcc_has(self):
        unknown = "-fno-canonical-system-headers -fipa-pta -fcall-used-rax -fwide-exec-charset=x --other".split()
        said = [*(f"clang: error: unknown argument: '{word}'" for word in unknown)]
        said.append("clang: error: unsupported option '-pass-exit-codes'")
        compiler = self.installed(f'printf "%s" "{chr(10).join(said)}" >&2; exit 1')
        words = ["-fipa-pta", "-DX=-fipa-pta", "-Xclang", "-fipa-pta", "-fcall-used-rax", "-fwide-exec-charset=x"]
        arguments = ["cc", "-fno-canonical-system-headers", *words, "-c", "a.c"]
        self.database.write_text(json.dumps([{"directory": ".", "arguments": arguments, "file": "a.c"}]))
        state(compiler, self.folder, self.database, ["cc -fipa-pta -pass-exit-codes a.o -o p"], self.fail)
        unit, link = read(self.folder, "smaller").commands
        assert isinstance(unit, Compile) and isinstance(link, Link)
        self.assertEqual((unit.words, link.words), ((*words[1:], "a.c"), ("a.o",)))

    def test_link_txt_of_cmake(self):
        self.write("lib/CMakeFiles/x.dir/link.txt", "/usr/bin/c++ -shared -o libx.so a.o\n/usr/bin/ranlib libx.so\n")
        link = commands_of(self.database, [])[0][-1]
        assert isinstance(link, Link)
        self.assertEqual((link.output, link.tool), (str(self.folder / "lib/libx.so"), "clang++"))

    def test_links_behind_other_commands(self):
        self.write("CMakeFiles/x.dir/link.txt", ": && cd lib && /usr/bin/cc a.o -o x && : ; ar qc y.a a.o\n")
        self.assertEqual(commands_of(self.database, [])[0][-1].output, str(self.folder / "lib/x"))

    def test_errors(self):
        with self.assertRaisesRegex(RunError, "has no links, and neither build.ninja nor CMake's link.txt"):
            commands_of(self.database, [])
        (self.folder / "CMakeFiles/x.dir").mkdir(parents=True)
        with self.assertRaisesRegex(RunError, "links nothing"):
            commands_of(self.database, ["ar qc x.a a.o"])
        os.mkfifo(self.folder / "CMakeFiles/x.dir/link.txt")
        with self.assertRaisesRegex(RunError, "cannot be read: it is a pipe, not a file. Configure the folder again"):
            commands_of(self.database, [])
        self.database.write_text("{}")
        with self.assertRaisesRegex(RunError, "is not a list of commands"):
            commands_of(self.database, [])
