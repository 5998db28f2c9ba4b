"""Reading lld's map; tests/end_to_end/evaluate_test.py links with the real linker."""

import pathlib
import sys

from mlgo.compiler.testing.made_up_object import made_up_object
from mlgo.evaluation.corpora import linked_code
from mlgo.run.exit_codes import RunError
from mlgo.run.testing.folder_case import FolderCase

# Written by ld.lld 22.1.8 for two objects, one in a folder with a space and a colon in its name; shortened.
_MAP = """\
             VMA              LMA     Size Align Out     In      Symbol
             2f8              2f8       23     1 .dynstr
             2f8              2f8       23     1         <internal>:(.dynstr)
             320              320       58     1         /o/a.o:(.eh_frame+0x0)
            13c0             13c0       75    16 .text
            13c0             13c0       1e    16         /o/a.o:(.text)
            13c0             13c0       1e     1                 _Z1gi
            13e0             13e0       2f    16         /o/a.o:(.text._Z1fi)
            13e0             13e0       2f     1                 _Z1fi
            1410             1410       25    16         /o/x y:z/b.o:(.text.startup.)
            1430             1430        5     1                 _Z1zv
            1440             1440        6    16 hot_code
            1440             1440        6    16         /o/a.o:(hot_code)
            1440             1440        6     1                 _Z1hi
            1450             1450       10    16 .plt
            1450             1450       10    16         <internal>:(.plt)
            34c8             34c8        c     4 .bss
            34c8             34c8        c     4         /o/a.o:(.bss._ZZ1fiE1a)
"""
_CODE = (".text", "hot_code", ".plt")


class LinkedCodeTest(FolderCase):
    def link_with(self, script):
        """Links an object with a linker that is `script`."""
        return linked_code.link(self.script("ld.lld", script), {"a": pathlib.Path("/o/a.o")}, self.folder)

    def test_a_killed_linker_leaves_half_a_map(self):
        self.file("half", _MAP[: _MAP.index("13e0")])
        with self.assertRaisesRegex(RunError, "ld.lld: was ended from outside, by SIGKILL"):
            self.link_with(f"cp {self.folder}/half {self.folder}/image.map\nkill -9 $$")

    def test_code_sections_are_found_and_nothing_else(self):
        found = linked_code.code_in_map(_MAP, _CODE)
        ours = [(file, size) for file, size in found if file != "<internal>"]
        self.assertEqual(ours, [("/o/a.o", 0x1E), ("/o/a.o", 0x2F), ("/o/x y:z/b.o", 0x25), ("/o/a.o", 6)])

    def test_functions_with_a_section_of_their_own_count_for_their_module(self):
        """As in the object: made_up_object's section, which has code and is .text, plays hot_code."""
        image = self.file("image", made_up_object({"f": 6}))
        map_path = self.file("map", _MAP.replace(".text", ".data").replace("hot_code", ".text"))
        self.assertEqual(linked_code.executable_sections(image), {".text"})
        objects = {"a": pathlib.Path("/o/a.o"), "b": pathlib.Path("/o/x y:z/b.o")}
        self.assertEqual(linked_code.code_of_modules(map_path, image, objects), {"a": 6, "b": 0})
        with self.assertRaisesRegex(RunError, "image map: is no ELF file. Look at the output of the linker"):
            linked_code.executable_sections(map_path)

    def test_names_of_functions_may_have_any_character(self):
        found = linked_code.code_in_map(_MAP, _CODE)
        for name in ("f)(y", "f:(z", "-[A(B) c:]", "f\x1cg h", "f\x85", ":(" * 400_000):
            text = _MAP.replace("_Z1fi", name)
            self.assertNotEqual(text, _MAP)
            self.assertEqual(linked_code.code_in_map(text, _CODE), found, repr(name))
            self.assertEqual(linked_code.functions_in_map(text, _CODE)[1], ("/o/a.o", name, 0x2F))
        # A name that a line end cuts.
        text = _MAP.replace("_Z1hi\n", f"_Z1hi\n 1 1 1 1{' ' * 9}{'/o:(' * 400_000}\n")
        self.assertEqual(linked_code.code_in_map(text, _CODE), found)
        text = _MAP.replace("x y:z", "x:(z")
        self.assertIn(("/o/x:(z/b.o", 0x25), linked_code.code_in_map(text, _CODE, {"/o/x:(z/b.o"}))

    def test_functions_are_found_with_one_name_for_each_place(self):
        line = "            1430             1430        5     1                 _Z1zv\n"
        aliased = _MAP.replace(line, line + line.replace("_Z1zv", "_Z1av"))
        self.assertNotEqual(aliased, _MAP)
        first = [("/o/a.o", "_Z1gi", 0x1E), ("/o/a.o", "_Z1fi", 0x2F)]
        found = [*first, ("/o/x y:z/b.o", "_Z1av", 5), ("/o/a.o", "_Z1hi", 6)]
        self.assertEqual(linked_code.functions_in_map(aliased, _CODE), found)

    def test_a_failing_linker_is_reported_with_its_message(self):
        with self.assertRaisesRegex(RunError, "writes no map of 1 objects: no such thing"):
            self.link_with(f"#!{sys.executable}\nraise SystemExit('no such thing')\n")
        with self.assertRaisesRegex(RunError, "linker .*absent: does not run"):
            linked_code.link(self.folder / "absent", {"a": self.folder / "a.o"}, self.folder)

    def test_an_image_without_code_is_no_result(self):
        with self.assertRaisesRegex(RunError, "holds none of their code"):
            self.link_with(
                f"#!{sys.executable}\nimport sys\n"
                "open([a for a in sys.argv if a[:6] == '--Map='][0][6:], 'w').close()\n"
                f"open(sys.argv[sys.argv.index('-o') + 1], 'wb').write({made_up_object({})!r})\n"
            )
