"""A gn project through gn, ninja and extraction: objects with embedded bitcode, and the modules of a ThinLTO link."""

import contextlib
import io
import json
import os
import pathlib
import sys
import unittest
import unittest.mock
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from mlgo.corpus.corpus import BITCODE_SUFFIX, Corpus
from mlgo.corpus.gn import make, source_root
from mlgo.run.exit_codes import ExitCode
from tests.corpora.gn_project import FILES
from tests.corpora.project import ODD_NAMES, TOOLS, BuildTestCase

_EMBEDDED, _LINKED = {"clang_embed_bitcode": "true"}, {"lld_emit_index": "true"}
_ASSEMBLY = ".globl low\nlow: ret\n.section .note.GNU-stack\n"


class GnTest(BuildTestCase):
    def setUp(self):
        super().setUp()
        for name, text in {**FILES, "a folder/low.S": _ASSEMBLY, "BUILD.gn": self.targets()}.items():
            path = self.source / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        self.work, self.corpus = self.root / "the work", self.root / "the corpus"

    def targets(self) -> str:
        def listed(names):
            return ", ".join(f'"{name}"' for name in names)

        parts = [name for name in self.names.values() if name != "main.cc"]
        return (
            f'static_library("the parts") {{\n  output_name = "the (parts)"\n'
            f'  sources = [ {listed(parts)}, "a folder/low.S" ]\n}}\n'
            f'source_set("all") {{\n  sources = [ "main.cc" ]\n  deps = [ ":the parts" ]\n}}\n'
        )

    def make(
        self,
        *flags: str,
        gn_args: Mapping[str, str] = MappingProxyType({}),
        toolchain: Mapping[str, pathlib.Path] = MappingProxyType({}),
        fingerprints: Sequence[pathlib.Path] = (),
        expected: ExitCode = ExitCode.DONE,
    ) -> str:
        """What the program prints to standard error."""
        programs = {f"bin/{name}": str(TOOLS[name]) for name in ("clang", "clang++", "ld.lld", "llvm-ar")}
        project = {
            "tree": str(self.source),
            "gn": str(TOOLS["gn"]),
            "ninja": str(TOOLS["ninja"]),
            "python": sys.executable,
            "gn_args": dict(gn_args),
            "toolchain": programs | {name: str(path) for name, path in toolchain.items()},
            "env": {"CC": "../../mlgo_toolchain/bin/clang", "CXX": "../../mlgo_toolchain/bin/clang++"},
            "path": ["bin"],
            "fingerprints": list(map(str, fingerprints)),
        }
        (self.root / "project.json").write_text(json.dumps(project), encoding="utf-8")
        said = io.StringIO()
        # Actions of Bazel's, which run it, have no such variable.
        nowhere = {name: value for name, value in os.environ.items() if name != "BUILD_WORKING_DIRECTORY"}
        with contextlib.redirect_stderr(said), unittest.mock.patch.dict(os.environ, nowhere, clear=True):
            code = make.main(
                [
                    f"--project={self.root / 'project.json'}",
                    f"--work={self.work}",
                    f"--output={self.corpus}",
                    "--licence=MIT",
                    "--jobs=2",
                    *flags,
                ]
            )
        self.assertEqual(code, expected, said.getvalue())
        return said.getvalue()

    @property
    def objects(self) -> pathlib.Path:
        return self.work / "src" / source_root.OUT_FOLDER / "corpus"

    def test_objects_with_bitcode(self):
        said = self.make("--target=//:all", gn_args=_EMBEDDED)
        self.assertIn("1 without bitcode", said)
        objects = [str(path.relative_to(self.objects)) for path in self.objects.rglob("*.o")]
        self.assertEqual(len(objects), len(ODD_NAMES) + 1)
        self.build = self.objects
        self.assert_original_and_moved(self.corpus, [name for name in objects if not name.endswith("low.o")])
        licences = (self.root / "else" / "where" / "corpus_licences.json").read_text(encoding="utf-8")
        self.assertIn('"MIT"', licences)

    def test_a_file_of_the_toolchain_becomes_a_part_of_the_corpus(self):
        blocks = self.root / "elsewhere" / "blocks.txt"
        blocks.parent.mkdir()
        blocks.write_text("!a_function_of_no_module\n!!0\n", encoding="utf-8")
        self.make(
            "--target=//:all",
            gn_args={**_EMBEDDED, "list_of_blocks": '"../../mlgo_toolchain/blocks.txt"'},
            toolchain={"blocks.txt": blocks},
        )
        corpus = Corpus.load(self.corpus)
        self.assertEqual(len(corpus.modules), len(ODD_NAMES))
        (carried,) = corpus.carried_files
        self.assertTrue(carried.endswith("-blocks.txt"), carried)

    def test_modules_of_a_thinlto_link(self):
        self.make("--target=//:all", "--linked", gn_args=_LINKED)
        self.build = self.objects
        modules = [
            str(path.relative_to(self.build)).removesuffix(".3.import.bc") for path in self.build.rglob("*.3.import.bc")
        ]
        self.assertEqual(len(modules), len(ODD_NAMES), modules)
        self.assert_original_and_moved(self.corpus, modules)

    def test_modules_of_the_thinlto_link_of_a_program(self):
        for name in ("unused", "generator"):
            (self.source / f"{name}.cc").write_text(f"int {name}() {{ return 1; }}", encoding="utf-8")
        flags = '"-fuse-ld=lld", "-nostdlib", "-Wl,--unresolved-symbols=ignore-all"'
        linked = f'  deps = [ ":all" ]\n  ldflags = [ {flags} ]\n}}\n'
        with open(self.source / "BUILD.gn", "a", encoding="utf-8") as file:
            file.write(
                f'executable("generator") {{\n  sources = [ "generator.cc" ]\n{linked}'
                f'executable("app") {{\n  data_deps = [ ":generator" ]\n{linked}'
                f'executable("other") {{\n  sources = [ "unused.cc" ]\n{linked}'
            )
        self.make("--target=//:app", "--target=//:other", "--linked", "--program=app", gn_args=_LINKED)
        self.build = self.objects
        self.assertTrue((self.objects / "app").is_file())
        # Was linked before, and its modules are no part of the corpus.
        self.assertTrue((self.objects / "generator").is_file())
        self.assertFalse((self.objects / "other").exists())
        for path in self.objects.rglob("generator.lto.*"):
            path.unlink()  # Objects of its own link, which are called as those of the other.
        modules = [
            str(path.relative_to(self.build)).removesuffix(".3.import.bc") for path in self.build.rglob("*.3.import.bc")
        ]
        self.assertEqual(len(modules), len(ODD_NAMES), modules)
        self.assert_original_and_moved(self.corpus, modules)

    def test_what_program_does_not_go_with(self):
        said = self.make("--target=//:all", "--program=app", expected=ExitCode.USER_ERROR)
        self.assertIn("--program=app --program_output=None: is not supported", said)
        said = self.make("--target=//:all", "--program=app", "--part=1/2", expected=ExitCode.USER_ERROR)
        self.assertIn("--program=app: is not supported with --part", said)

    def test_an_interrupted_build_goes_on_and_another_one_begins_anew(self):
        self.make("--target=//:all", gn_args=_EMBEDDED)
        built = {path: path.stat().st_mtime_ns for path in self.objects.rglob("*.o")}
        first = next(iter(built))
        first.unlink()
        self.make("--target=//:all", gn_args=_EMBEDDED)
        again = {path: path.stat().st_mtime_ns for path in self.objects.rglob("*.o")}
        self.assertEqual({path for path in built if built[path] != again[path]}, {first})
        inputs = self.root / "inputs.json"
        inputs.write_text("{}", encoding="utf-8")
        self.make("--target=//:all", gn_args=_EMBEDDED, fingerprints=[inputs])
        anew = {path: path.stat().st_mtime_ns for path in self.objects.rglob("*.o")}
        self.assertFalse({path for path in again if again[path] == anew.get(path)})

    def test_parts_are_together_the_whole(self):
        embedded = "--target=//:all"
        parts = []
        for number in (1, 2, 3):
            self.work = self.root / f"work of machine {number}"
            said = self.make(embedded, f"--part={number}/3", gn_args=_EMBEDDED)
            self.assertIn(" modules of 2 objects", said)
            objects = [path.name for path in self.objects.rglob("*.o")]
            self.assertEqual(len(objects), (len(ODD_NAMES) + 1) // 3, objects)
            parts.append(self.modules())
        self.work = self.root / "the whole"
        self.make(embedded, "--part=2/3", gn_args=_EMBEDDED)
        self.assertEqual(self.modules(), parts[1])
        kept = {path: path.stat().st_mtime_ns for path in self.objects.rglob("*.o")}
        # The whole reuses the objects of a part, and a part leaves out the objects of the whole.
        self.make(embedded, gn_args=_EMBEDDED)
        self.assertEqual(kept, {path: path.stat().st_mtime_ns for path in kept})
        self.assertEqual(self.modules(), {name: digest for part in parts for name, digest in part.items()})
        self.make(embedded, "--part=2/3", gn_args=_EMBEDDED)
        self.assertEqual(self.modules(), parts[1])

    def modules(self) -> dict[str, bytes]:
        """Name -> digest of each module of the corpus that was made last."""
        return {module.name: module.sha256(BITCODE_SUFFIX) for module in Corpus.load(self.corpus).modules}

    def test_what_has_no_parts(self):
        said = self.make("--target=//:all", "--part=1/2", "--linked", expected=ExitCode.USER_ERROR)
        self.assertIn("--part=1/2: is not supported for a ThinLTO link", said)
        said = self.make("--target=//:all", "--part=9/9", expected=ExitCode.USER_ERROR)
        self.assertIn("--part=9/9: has no object. Give fewer parts", said)

    def test_a_target_that_is_not_there(self):
        said = self.make("--target=//:none", expected=ExitCode.USER_ERROR)
        self.assertRegex(said, r"gn gen of //mlgo_corpus:corpus: failed:\n(.|\n)*//:none")

    def test_a_source_that_does_not_compile(self):
        (self.source / "main.cc").write_text("int broken(", encoding="utf-8")
        said = self.make("--target=//:all", gn_args=_EMBEDDED, expected=ExitCode.USER_ERROR)
        self.assertIn("main.cc", said)
        self.assertIn("compiled objects are kept", said)

    def test_no_bitcode_at_all(self):
        self.make("--target=//:all", expected=ExitCode.NOTHING_PRODUCED)


if __name__ == "__main__":
    unittest.main()
