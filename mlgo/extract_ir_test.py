"""//mlgo:extract_ir on real objects: one build with every kind of input.

The expected names are those of LLVM's mlgo-utils (22.1.8) for the same inputs; tests note where ours differ.
"""

import contextlib
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from unittest import mock

from mlgo import extract_ir
from mlgo.corpus import corpus as corpus_reader
from mlgo.corpus.extraction.testing import toolbox
from mlgo.run.exit_codes import ExitCode


class ExtractTest(toolbox.ToolboxTest):
    """A small build: objects of three formats, one of assembly, one in an odd folder, an archive."""

    def setUp(self):
        super().setUp()
        self.enterContext(mock.patch.dict(os.environ, {"BUILD_WORKING_DIRECTORY": str(self.folder)}))

    def build(self) -> None:
        for index, output in enumerate(("lib/a.o", "lib/sub/b.o", "odd dir/c d.o", "e.o")):
            level = "-Oz" if output == "e.o" else "-O2"
            source = f"// SPDX-License-Identifier: MIT\nint f{index}(int x) {{ return x * {index}; }}\n"
            self.compiled(output, source, level, folder="build")
        self.file("build/lib/asm.s", ".globl q\nq: ret\n")
        self.run_tool("clang", "-c", "asm.s", "-o", "asm.o", folder="build/lib")
        self.run_tool("llvm-ar", "rcs", "libe.a", "e.o", "lib/a.o", folder="build")

    def extract(self, *flags: str, expected: ExitCode = ExitCode.DONE) -> str:
        """Runs the command into the folder `out`; returns what it said."""
        said = io.StringIO()
        with contextlib.redirect_stderr(said):
            code = extract_ir.main([*flags, "--output_dir=out", "--num_workers=2"])
        self.assertEqual(code, expected, said.getvalue())
        return said.getvalue()

    def names(self) -> list[str]:
        return json.loads((self.folder / "out/corpus_description.json").read_text())["modules"]

    def report(self) -> dict:
        return json.loads((self.folder / "out/extraction_report.json").read_text())

    def tree(self, folder: str = "out") -> dict[str, bytes]:
        root = self.folder / folder
        return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


class InputTypesTest(ExtractTest):
    def test_compile_commands(self):
        self.build()
        directory = str(self.folder / "build")
        entries = [
            {"directory": directory, "command": "clang -O2 -c lib/a.o.c -o lib/a.o", "file": "lib/a.o.c"},
            {"directory": directory, "arguments": ["clang", "-c", "x.c", "-o", "lib/sub/b.o"], "file": "x.c"},
            # mlgo-utils loses this one.
            {"directory": directory, "command": 'clang -c x.c -o "odd dir/c d.o"', "file": "x.c"},
            {"directory": directory, "command": "clang -c lib/asm.s -o lib/asm.o", "file": "lib/asm.s"},
            {"directory": directory, "command": "clang -c x.c -o absent.o", "file": "x.c"},
            {"directory": directory, "command": "cmake -E touch x", "file": "x"},
        ]
        self.file("build/compile_commands.json", json.dumps(entries))
        said = self.extract("--input=build/compile_commands.json", "--licence=Zlib")
        self.assertEqual(self.names(), ["lib/a.o", "lib/sub/b.o", "odd dir/c d.o"])
        files = [f"{name}.{suffix}" for name in self.names() for suffix in ("bc", "cmd")]
        reports = ["corpus_description.json", "corpus_licences.json", "extraction_report.json"]
        self.assertEqual(sorted(self.tree()), [*reports, *files])
        found = json.loads((self.folder / "out/corpus_licences.json").read_text())["modules"]
        self.assertEqual(found, {"lib/a.o": "MIT", "lib/sub/b.o": "Zlib", "odd dir/c d.o": "Zlib"})
        self.assertEqual(self.report()["counts"], {"no_bitcode": 1, "no_object": 1, "missing_object": 1})
        absent = {"name": "absent.o", "kind": "missing_object", "reason": "does not exist"}
        self.assertEqual(self.report()["left_out"][0], absent)
        self.assertIn("1 without bitcode (assembly, or", said)
        self.assertIn("done, 3 modules of 6 objects, 1 failed (first: absent.o: does not exist) -> ", said)
        self.assertNotIn(str(self.folder), "".join(map(str, self.tree().items())))

    def test_linker_parameters(self):
        self.build()
        words = "-o|app|lib/a.o|--start-lib|e.o|--end-lib|libe.a|-z|now|lib/asm.o|odd dir/c d.o|"
        self.file("app.params", words.replace("|", "\n"))
        self.extract("--input=app.params", "--input_type=params", "--obj_base_dir=build")
        self.assertEqual(self.names(), ["e.o", "lib/a.o", "odd dir/c d.o"])
        self.assertEqual(self.report()["counts"], {"no_bitcode": 1, "duplicate": 2})  # The archive has the same two.

    def test_linker_parameters_with_an_archive_only(self):
        self.build()
        self.run_tool("llvm-ar", "rcs", "twice.a", "lib/a.o", folder="build")
        self.run_tool("llvm-ar", "qcS", "twice.a", "lib/sub/b.o", folder="build")
        shutil.copyfile(self.folder / "build/odd dir/c d.o", self.folder / "build/a.o")
        self.run_tool("llvm-ar", "qcS", "twice.a", "a.o", folder="build")
        self.file("app.params", "-o app twice.a")
        self.extract("--input=app.params", "--input_type=params", "--obj_base_dir=build")
        self.assertRegex(" ".join(self.names()), r"^twice\.a\(a\.o at \d+\) twice\.a\(a\.o at \d+\) twice\.a\(b\.o\)$")

    def test_a_thin_archive_names_its_objects(self):
        self.build()
        (self.folder / "build/sub").mkdir()
        self.run_tool("llvm-ar", "rcsT", "sub/thin.a", "lib/a.o", "e.o", folder="build")
        self.file("app.params", "-o app e.o sub/thin.a absent.a")
        self.extract("--input=app.params", "--input_type=params", "--obj_base_dir=build")
        self.assertEqual(self.names(), ["e.o", "lib/a.o"])
        self.assertEqual(self.report()["counts"], {"listed_again": 1, "missing_object": 1})

    def test_llvm_objcopy_on_archives_and_broken_objects(self):
        self.build()
        self.file("build/text.o", "no object")
        self.file("app.params", "-o app lib/asm.o text.o libe.a")
        flags = ("--input=app.params", "--input_type=params", "--obj_base_dir=build")
        self.extract(*flags, f"--llvm_objcopy_path={self.tool('llvm-objcopy')}")
        self.assertEqual(self.names(), ["libe.a(a.o)", "libe.a(e.o)"])
        self.assertEqual(self.report()["counts"], {"no_bitcode": 1, "objcopy_failed": 1})

    def test_objects_one_per_line(self):
        self.build()
        self.file("app.params", "lib/a.o\ne.o\n")
        self.extract("--input=app.params", "--input_type=params", "--obj_base_dir=build")
        self.assertEqual(self.names(), ["e.o", "lib/a.o"])

    def test_directory_of_three_formats(self):
        self.build()
        self.compiled("coff.o", "int c;", "--target=x86_64-pc-windows-msvc", folder="build")
        self.compiled("macho.o", "int m;", "--target=x86_64-apple-darwin", folder="build")
        flags = ("--input=build", "--input_type=directory")
        objcopy = f"--llvm_objcopy_path={self.tool('llvm-objcopy')}"
        elf = ["e.o", "lib/a.o", "lib/sub/b.o", "odd dir/c d.o"]
        self.extract(*flags, "--cmd_section_name=.llvmcmd", "--bitcode_section_name=.llvmbc")
        self.assertEqual(self.names(), elf)
        with_own_reader = self.tree()
        mach_o = ("--cmd_section_name=__LLVM,__cmdline", "--bitcode_section_name=__LLVM,__bitcode")
        self.extract(*flags, *mach_o, objcopy)
        self.assertEqual(self.names(), ["macho.o"])
        self.extract(*flags, objcopy)
        self.assertEqual(self.names(), ["coff.o", *elf])
        for name, content in self.tree().items():
            if name.endswith((".bc", ".cmd")) and not name.startswith("coff."):
                self.assertEqual(content, with_own_reader[name], name)

    def test_bazel_aquery(self):
        self.build()
        actions = [
            {"mnemonic": "CppCompile", "arguments": ["clang", "-c", "lib/a.o.c", "-o", "lib/a.o"]},
            {"mnemonic": "CppLink", "arguments": ["clang", "-o", "app", "lib/a.o", "e.o", "-lm"]},
        ]
        self.file("aquery.json", json.dumps({"actions": actions}))
        for spelling in ("bazel_aquery", "bazel_aqeury"):
            self.extract("--input=aquery.json", f"--input_type={spelling}", "--obj_base_dir=build")
            self.assertEqual(self.names(), ["e.o", "lib/a.o"])

    def test_what_loads_compiles_to_the_same_object(self):
        self.build()
        self.extract("--input=build", "--input_type=directory")
        for module in corpus_reader.Corpus.load(self.folder / "out").modules:
            command = [*module.command, "-o", "again.o", "-x", "ir", str(self.folder / f"out/{module.name}.bc")]
            self.run_tool("clang", *command)
            original = (self.folder / "build" / module.name).read_bytes()
            # The sections with bitcode and command are the original's own; all else is compared.
            for content, target in ((original, "x.o"), ((self.folder / "again.o").read_bytes(), "y.o")):
                self.file(target, content)
                self.run_tool("llvm-objcopy", "--remove-section=.llvmbc", "--remove-section=.llvmcmd", target)
            self.assertEqual((self.folder / "x.o").read_bytes(), (self.folder / "y.o").read_bytes(), module.name)


class ThinLtoTest(ExtractTest):
    def link(self) -> None:
        for name, source in (
            ("sub/f", "int g(int); int f(int x) { return g(x * 3); }"),
            ("g", "int g(int x) { return x ^ 5; }"),
            ("m", "int f(int); void _start(void) { f(3); }"),
        ):
            self.file(f"lto/{name}.c", source)
            self.run_tool("clang", "-O2", "-flto=thin", "-c", f"{name}.c", "-o", f"{name}.o", folder="lto")
        self.run_tool("llvm-ar", "rcs", "lib g.a", "g.o", folder="lto")

    def test_local(self):
        self.link()
        link = ["m.o", "sub/f.o", "lib g.a", "-o", "app"]
        self.run_tool("ld.lld", *link, "--save-temps=import", "--thinlto-emit-index-files", folder="lto")
        said = self.extract("--thinlto_build=local", "--obj_base_dir=lto")
        self.assertIn("warning: global_command_override is <UNSPECIFIED>", said)
        self.assertRegex(" ".join(self.names()), r"^lib g\.a\(g\.o at \d+\) m\.o sub/f\.o$")
        found = sorted(name for name in self.tree() if not name.endswith(".json"))
        self.assertEqual(found, sorted(f"{name}.{suffix}" for name in self.names() for suffix in ("bc", "thinlto.bc")))
        description = json.loads((self.folder / "out/corpus_description.json").read_text())
        self.assertEqual(list(description), ["global_command_override", "has_thinlto", "modules"])
        self.assertEqual(description["global_command_override"], ["<UNSPECIFIED>"])
        self.assertTrue(description["has_thinlto"])
        (self.folder / "lto/m.o.thinlto.bc").unlink()
        command = f"--link_command=ld.lld -m elf_x86_64 {' '.join(link)}"
        said = self.extract("--thinlto_build=local", "--input=lto", "--input_type=directory", command)
        self.assertNotIn("<UNSPECIFIED>", (self.folder / "out/corpus_description.json").read_text())
        self.assertIn("-emit-obj", (self.folder / "out/corpus_description.json").read_text())
        self.assertEqual(self.report()["counts"], {"missing_index": 1})
        actions = [{"mnemonic": "CppLink", "arguments": ["ld.lld", "-m", "elf_x86_64", *link]}]
        self.file("aquery.json", json.dumps({"actions": actions}))
        self.extract("--thinlto_build=local", "--input=aquery.json", "--input_type=bazel_aquery", "--obj_base_dir=lto")
        self.assertIn("-emit-obj", (self.folder / "out/corpus_description.json").read_text())

    def test_distributed(self):
        self.link()
        self.run_tool("ld.lld", "m.o", "sub/f.o", "g.o", "-o", "app", "--thinlto-index-only", folder="lto")
        embed = ("-O2", "-mllvm", "-lto-embed-bitcode=post-merge-pre-opt", "-x", "ir", "-c")
        for name in ("m", "sub/f"):
            index = f"-fthinlto-index={name}.o.thinlto.bc"
            self.run_tool("clang", *embed, index, f"{name}.o", "-o", f"{name}.native.o", folder="lto")
        self.run_tool("clang", *embed, "-fthinlto-index=/dev/null", "g.o", "-o", "g.native.o", folder="lto")
        self.compiled("plain.native.o", "int p;", folder="lto")
        self.file("app.params", "m.native.o\nsub/f.native.o\ng.native.o\nplain.native.o\nm.o\n")
        self.extract("--input=app.params", "--input_type=params", "--obj_base_dir=lto", "--thinlto_build=distributed")
        tree = self.tree()
        self.assertIn("sub/f.native.o", self.names())
        self.assertIn("m.native.o", self.names())
        self.assertEqual(tree["sub/f.native.o.thinlto.bc"], (self.folder / "lto/sub/f.o.thinlto.bc").read_bytes())
        self.assertIn(b"-fthinlto-index=sub/f.native.o.thinlto.bc\0", tree["sub/f.native.o.cmd"])
        counts = self.report()["counts"]
        self.assertEqual((counts["missing_index"], counts["lto_object"]), (1, 1))


class OutcomeTest(ExtractTest):
    def test_filter(self):
        self.build()
        flags = ("--input=build", "--input_type=directory")
        self.extract(*flags, "--cmd_filter=^-Oz$")
        self.assertEqual(self.names(), ["e.o"])
        said = self.extract(*flags, "--cmd_filter=^-O3$", expected=ExitCode.NOTHING_PRODUCED)
        self.assertIn("5 objects: none of them gave a module. Check --cmd_filter", said)
        self.assertFalse((self.folder / "out/corpus_description.json").exists())
        self.assertIn("is no regular expression", self.extract(*flags, "--cmd_filter=(", expected=ExitCode.USER_ERROR))

    def test_max_failures(self):
        self.build()
        self.file("list", "e.o\nabsent1.o\nabsent2.o\n")
        flags = ("--input=list", "--input_type=params", "--obj_base_dir=build")
        said = self.extract(*flags, "--max_failures=1", expected=ExitCode.TOO_MANY_FAILURES)
        self.assertIn("2 of 3 objects failed (first: absent1.o: does not exist)", said)
        self.assertFalse((self.folder / "out/corpus_description.json").exists())
        self.assertEqual(self.report()["failures"], 2)
        self.extract(*flags, "--max_failures=2")
        self.assertEqual(self.names(), ["e.o"])

    def test_objects_of_no_use(self):
        self.build()
        self.run_tool("ld.lld", "-r", "lib/a.o", "e.o", "-o", "merged.o", folder="build")
        self.run_tool("llvm-objcopy", "--remove-section=.llvmcmd", "e.o", "no_command.o", folder="build")
        self.file("build/text.o", "no object")
        os.mkfifo(self.folder / "build/pipe.o")
        self.file("list", f"e.o\nmerged.o\nno_command.o\ntext.o\npipe.o\n../outside.o\n{self.folder}/build/e.o\n")
        self.extract("--input=list", "--input_type=params", "--obj_base_dir=build")
        self.assertEqual(self.names(), ["e.o"])
        expected = {"several_modules": 1, "no_command": 1, "unreadable_object": 2, "name_outside": 1, "listed_again": 1}
        self.assertEqual(self.report()["counts"], expected)
        self.assertEqual(sorted(os.listdir(self.folder)), ["build", "list", "out"])

    def test_a_profile_is_carried(self):
        self.file("p.prof", "p:100:10\n 0: 10\n")
        self.compiled("p.o", "int p(int x) { return x ? 1 : 2; }", "-fprofile-sample-use=../p.prof", folder="build")
        self.file("list", "p.o\n")
        self.extract("--input=list", "--input_type=params", "--obj_base_dir=build")
        self.assertRegex(self.tree()["p.o.cmd"], rb"\0-fprofile-sample-use=files/[0-9a-f]{16}-p\.prof\0")
        (self.folder / "p.prof").unlink()
        self.extract("--input=list", "--input_type=params", "--obj_base_dir=build", expected=ExitCode.NOTHING_PRODUCED)
        self.assertEqual(self.report()["counts"], {"not_portable": 1})
        self.assertNotIn(str(self.folder), str(self.report()))

    def test_flags_that_do_not_go_together(self):
        for flags, expected in (
            ((), "--input: is missing"),
            (("--input=x", "--thinlto_build=local"), "cannot be used with --thinlto_build=local"),
            (("--input=x", "--link_command=ld.lld"), "--link_command: is for --thinlto_build=local only"),
            (("--thinlto_build=local", "--ninja_dir=x"), "do not identify one link"),
            (("--thinlto_build=local", "--cmd_filter=x"), "lld records no commands"),
            (("--input=x", "--num_workers=0"), "is below 1"),
            (("--input=x", "--max_failures=-1"), "is negative"),
            (("--input=x", "--licence=<b>"), "is no SPDX expression"),
            (
                ("--input=absent.json",),
                "absent.json: cannot be read: No such file or directory. give a compile_commands.json",
            ),
            (("--input=.", "--input_type=directory", "--llvm_objcopy_path=no-such-tool"), "is no program"),
        ):
            said = io.StringIO()
            with contextlib.redirect_stderr(said):
                self.assertEqual(extract_ir.main([*flags, "--output_dir=out"]), ExitCode.USER_ERROR, flags)
            self.assertIn(expected, said.getvalue())


class ContinuationTest(ExtractTest):
    def test_same_result_for_any_workers_after_any_kill(self):
        content = self.compiled("build/m0.o", "int f(int x) { return x; }").read_bytes()
        for index in range(1, 200):  # Distinct modules by their main file name, without 200 compiles.
            self.file(f"build/m{index}.o", content.replace(b"m0.o.c", b"%06d" % index))
        flags = ["--input=build", "--input_type=directory"]
        self.extract(*flags)
        expected = self.tree()
        self.assertEqual(len(self.names()), 200)
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        command = [sys.executable, "-m", "mlgo.extract_ir", *flags, "--output_dir=killed", "--num_workers=3"]
        for stop, number in ((1, signal.SIGKILL), (40, signal.SIGINT), (80, signal.SIGKILL)):
            with subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL) as child:
                deadline = time.monotonic() + 60
                while len(list((self.folder / "killed").glob("*.bc"))) < stop and child.poll() is None:
                    self.assertLess(time.monotonic(), deadline)
                child.send_signal(number)
            if not (self.folder / "killed/corpus_description.json").exists():  # Else the signal came too late.
                self.assertIn(child.returncode, (-signal.SIGKILL, ExitCode.INTERRUPTED))
        subprocess.run(command, env=environment, stderr=subprocess.DEVNULL, check=True)
        self.assertEqual(self.tree("killed"), expected)
