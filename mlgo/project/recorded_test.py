"""A compile_commands.json with links from ninja's commands, CMake's link.txt or the user."""

import json
import unittest

from mlgo.project.command_line import Compile, Link
from mlgo.project.recorded import commands_of
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
        with self.assertRaisesRegex(RunError, "links nothing"):
            commands_of(self.database, ["ar qc x.a a.o"])
        self.database.write_text("{}")
        with self.assertRaisesRegex(RunError, "is not a list of commands"):
            commands_of(self.database, [])


if __name__ == "__main__":
    unittest.main()
