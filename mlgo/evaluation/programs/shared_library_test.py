"""A shared library of a small program, with the packaged compiler and linker.

Arguments: clang, ld.lld.
"""

import dataclasses
import json
import pathlib
import sys

from mlgo.evaluation.programs.building import BuildFailure, Toolchain
from mlgo.evaluation.programs.program import load_program
from mlgo.evaluation.programs.switches import measure_shared
from mlgo.evaluation.sides import Side
from mlgo.run.exit_codes import RunError
from mlgo.run.testing.folder_case import FolderCase

CLANG, LINKER = (pathlib.Path(sys.argv.pop(1)).absolute() for _ in range(2))

_SOURCES = {
    "tree/library.c": "int shown(int x) { return x * 3; }\nint hidden(int x) { return x * x * x + shown(x); }\n",
    "main.c": "int shown(int x);\nint main(void) { return shown(1); }\n",
    "tree/library.map": "{ global: shown; absent; local: *; };\n",
}


class SharedLibraryTest(FolderCase):
    def setUp(self):
        super().setUp()
        for name, content in _SOURCES.items():
            self.file(name, content)

    def program(self, **more):
        fields = {"name": "p", "root": "tree", "sources": ["*.c"], "mains": ["main.c"], "runs": [{"name": "go"}]}
        return load_program(self.file("p.json", json.dumps({**fields, **more})), {})

    def measured(self, name, program, *flags):
        folder = self.folder / name
        folder.mkdir()
        toolchain = Toolchain(None, LINKER, CLANG, 1)
        size = measure_shared(toolchain, Side("default", CLANG), program, folder, flags)
        return size, (folder / "library.so").read_bytes()

    def test_exports_decide_what_stays(self):
        whole, content = self.measured("whole", self.program())
        chosen, scripted = self.measured("chosen", self.program(exports="library.map"))
        self.assertIn(b"\0hidden\0", content)
        self.assertIn(b"\0shown\0", scripted)
        self.assertNotIn(b"\0hidden\0", scripted)
        # What the program alone has is no part of the library.
        self.assertNotIn(b"\0main\0", content)
        self.assertLess(chosen["shared_code_bytes"], whole["shared_code_bytes"])
        self.assertEqual(whole["shared_file_bytes"], len(content))
        self.assertLess(whole["shared_xz_bytes"], whole["shared_file_bytes"])

    def test_equal_builds_have_equal_bytes(self):
        self.assertEqual(self.measured("one", self.program())[1], self.measured("two", self.program())[1])

    def test_a_script_that_is_not_there_is_refused(self):
        with self.assertRaisesRegex(RunError, "has the version script 'none.map' in `exports`, which is not in"):
            self.program(exports="none.map")

    def test_the_digest_of_a_program_has_no_exports(self):
        program = self.program()
        self.assertEqual(dataclasses.replace(program, exports=self.folder).digest(), program.digest())

    def test_a_linker_that_fails_is_reported(self):
        with self.assertRaisesRegex(BuildFailure, "linking library.so"):
            self.measured("wrong", self.program(), "-Wl,--no-such-option")
