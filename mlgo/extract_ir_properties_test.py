"""//mlgo:extract_ir on builds that are not ordinary: what its closing lines say, and what the corpus keeps."""

import contextlib
import io
import json
import os
from unittest import mock

from mlgo import extract_ir, make_corpus
from mlgo.corpus.corpus import Corpus
from mlgo.corpus.extraction.testing import toolbox
from mlgo.run.exit_codes import ExitCode

_SOURCE = """
static int callee{0}(int x) {{ return x * 3 + {0}; }}
int caller{0}(int a, int b) {{ return callee{0}(a) + callee{0}(b); }}
"""


class ExtractPropertiesTest(toolbox.ToolboxTest):
    def setUp(self):
        super().setUp()
        self.enterContext(mock.patch.dict(os.environ, {"BUILD_WORKING_DIRECTORY": str(self.folder)}))
        self.made = 0

    def object(self, name: str, *flags: str) -> None:
        """An object of a source of its own, below the folder `build`."""
        self.made += 1
        source = self.file(f"build/{name}.c", _SOURCE.format(self.made))
        self.run_tool("clang", "-c", *flags, source, "-o", name, folder="build")

    def extract(self, *flags: str, expected: ExitCode = ExitCode.DONE) -> str:
        said = io.StringIO()
        with contextlib.redirect_stderr(said):
            always = ["--input=build", "--input_type=directory", "--output_dir=out", "--workers=1"]
            code = extract_ir.main([*always, *flags])
        self.assertEqual(code, expected, said.getvalue())
        return said.getvalue()

    def report(self) -> dict:
        return json.loads((self.folder / "out/extraction_report.json").read_text())

    def test_bitcode_that_the_driver_embedded_is_optimised(self):
        embed = ("-Xclang", "-fembed-bitcode=all")
        self.object("a.o", "-Oz", "-fembed-bitcode")
        self.object("b.o", "-Oz", *embed)
        self.run_tool("clang", "-Oz", "-c", "-emit-llvm", "b.o.c", "-o", "c.bc", folder="build")
        # Bitcode that was optimised by another command than the one that embeds it.
        flags = ("-Oz", *embed, "-Wno-unused-command-line-argument")
        self.run_tool("clang", *flags, "-c", "c.bc", "-o", "c.o", folder="build")
        said = self.extract()
        self.assertRegex(said, r"note: 2 of 3 modules hold bitcode that the optimiser has run on.*\(a\.o, c\.o\)")
        self.assertEqual(self.report()["properties"], {"optimised": ["a.o", "c.o"]})

    def test_bitcode_in_bitcode(self):
        self.object("a.o", "-Oz", "-Xclang", "-fembed-bitcode=all", "-save-temps=obj")
        self.object("b.o", "-Oz", "-Xclang", "-fembed-bitcode=all")
        said = self.extract()
        self.assertEqual(self.report()["counts"], {"holds_itself": 1})
        self.assertIn("1 whose bitcode holds a copy of itself: build them without -save-temps: a.o", said)
        self.assertIn("1 failed (first: a.o: holds a copy of itself", said)

    def test_what_makes_results_incomparable(self):
        embed = ("-Xclang", "-fembed-bitcode=all")
        self.object("asan.o", "-O2", *embed, "-fsanitize=address")
        self.object("coverage.o", "-Oz", *embed, "-fprofile-instr-generate", "-fcoverage-mapping")
        self.object("g.o", "-O3", *embed, "-g")
        self.object("outliner.o", "-Oz", *embed, "-mno-outline")
        self.object("threshold.o", "-Oz", *embed, "-mllvm", "-inline-threshold=500")
        self.object("plain.o", "-Oz", *embed)
        said = self.extract()
        for part in (
            r"1 of 6 modules are built with sanitizers; .*\(-fsanitize=address: asan\.o\)",
            r"1 of 6 modules are instrumented for coverage.*: coverage\.o\)",
            r"1 of 6 modules change the compiler's heuristic; .*\(-mllvm -inline-threshold=500: threshold\.o\)",
            r"1 of 6 modules are compiled with outlining.*outliner\.o\)",
            r"1 of 6 modules have debug information; .*: g\.o\)",
            r"optimisation levels: 4 modules at -Oz, 1 modules at -O2, 1 modules at -O3",
        ):
            self.assertRegex(said, part)
        self.assertNotIn("plain.o", json.dumps(self.report().get("properties")))

    def test_the_policy_of_a_build_is_named_and_not_kept(self):
        self.object("a.o", "-Oz", "-Xclang", "-fembed-bitcode=all")
        # The packaged clang has no policy: its command is what a clang with one records.
        words = (self.folder / "build/a.o.cmd", self.folder / "build/a.o")
        self.run_tool("llvm-objcopy", f"--dump-section=.llvmcmd={words[0]}", words[1], "/dev/null")
        recorded = words[0].read_bytes() + b"-mllvm\0-enable-ml-inliner=release\0-mllvm\0-mlgo-search=8\0"
        words[0].write_bytes(recorded)
        self.run_tool("llvm-objcopy", f"--update-section=.llvmcmd={words[0]}", words[1])
        said = self.extract()
        expected = r"1 of 1 modules were built with a policy, .*\(-mllvm -enable-ml-inliner=release: a\.o\)"
        self.assertRegex(said, expected)
        self.assertEqual(self.report()["properties"], {"policy": ["a.o"]})
        (module,) = Corpus.load(self.folder / "out").modules
        self.assertNotIn("-mllvm", module.command)

    def test_objects_that_no_score_can_be_read_from(self):
        self.object("win.o", "-Oz", "-Xclang", "-fembed-bitcode=all", "--target=x86_64-pc-windows-msvc")
        said = self.extract(f"--llvm_objcopy_path={self.tool('llvm-objcopy')}")
        self.assertRegex(said, r"1 of 1 modules are for targets without ELF objects.*win\.o\)")

    def test_lto_objects_by_kind_and_webassembly(self):
        self.object("a.o", "-Oz", "-Xclang", "-fembed-bitcode=all")
        self.object("full.o", "-Oz", "-flto=full")
        self.object("thin.o", "-Oz", "-flto=thin")
        self.object("ir.o", "-Oz", "-emit-llvm")
        self.file("build/empty.o", b"")
        self.file("build/wasm.o", b"\0asm\1\0\0\0")
        said = self.extract()
        for part in (
            "1 that are bitcode of full LTO (build with -flto=thin or without LTO; see Full LTO in docs/corpora.md)",
            "1 that are bitcode of ThinLTO (link with -Wl,--save-temps=import; see --thinlto_build): thin.o",
            "1 that are bitcode themselves (-emit-llvm; //mlgo:make_corpus takes .bc files): ir.o",
            "1 that are empty files: empty.o",
            "1 of WebAssembly, for which nothing here is measured (compile for Linux): wasm.o",
            "done, 1 modules of 6 objects, 5 failed",
        ):
            self.assertIn(part, said)

    def test_advice_is_that_of_the_kind_of_lto(self):
        self.object("full.o", "-Oz", "-flto")
        said = self.extract(expected=ExitCode.NOTHING_PRODUCED)
        self.assertIn("Build with -flto=thin and link with", said)
        self.object("full.o", "-Oz", "-flto=thin")
        said = self.extract(expected=ExitCode.NOTHING_PRODUCED)
        self.assertIn("Link with -Wl,--save-temps=import", said)
        self.assertNotIn("Build with -flto=thin", said)

    def test_a_full_lto_link_saves_no_modules(self):
        self.object("full.o", "-Oz", "-flto")
        flags = ("--thinlto_build=local", "--obj_base_dir=build", "--output_dir=out")
        said = io.StringIO()
        with contextlib.redirect_stderr(said):
            self.assertEqual(extract_ir.main([*flags]), ExitCode.NOTHING_PRODUCED)
        self.assertRegex(said.getvalue(), r"has no \*\.3\.import\.bc below it.*full LTO \(-flto\) saves none")

    def test_bitcode_files(self):
        folder = self.folder / "bc"
        folder.mkdir()
        for name, *flags in (("raw", "-Xclang", "-disable-llvm-passes"), ("optimised",)):
            self.made += 1
            source = self.file(f"{name}.c", _SOURCE.format(self.made))
            self.run_tool("clang", "-Oz", "-emit-llvm", *flags, "-c", source, "-o", folder / f"{name}.bc")
        self.object("s.o", "-Oz", "-Xclang", "-fembed-bitcode=all", "-save-temps=obj")
        (self.folder / "build/s.o.bc").rename(folder / "saved.bc")
        said = io.StringIO()
        with contextlib.redirect_stderr(said):
            make_corpus.run([f"--input_dir={folder}", f"--output_dir={self.folder}/out", "--default_args=-Oz"])
        self.assertRegex(said.getvalue(), r"note: 1 of 2 modules hold bitcode that the optimiser has.*\(optimised\)")
        self.assertIn("left out: saved.bc holds a copy of itself", said.getvalue())
