"""//mlgo:tune --replay on a C program, applied by the packaged clang. Arguments: that clang, its linker, sources."""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

from mlgo.compiler.code_size import code_of_object
from mlgo.corpus import from_bitcode
from mlgo.corpus.command import CompileCommand
from mlgo.run.exit_codes import ExitCode
from tests.end_to_end import command, real_modules

_CLANG, _LINKER, *_SOURCES = (pathlib.Path(argument).absolute() for argument in sys.argv[1:])
del sys.argv[1:]

#: Enough calls, and quick to compile.
_MODULES = ("lapi.c", "lauxlib.c", "ldebug.c", "lstrlib.c", "ltable.c")
_LEVEL = ("-Oz", "-w", "-DLUA_USE_POSIX", "-ffunction-sections")


class ReplayTest(unittest.TestCase):
    folder: pathlib.Path
    sources: dict[str, pathlib.Path]
    said: str

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.sources = {path.name: path for path in _SOURCES if path.name in _MODULES}
        cls.make_corpus("corpus", "-gline-tables-only")
        code, cls.said = cls.tune("corpus", "--compiles=12")
        if code != ExitCode.DONE:
            raise AssertionError(f"exit code {code}:\n{cls.said}")

    @classmethod
    def compile(cls, name, output, *flags):
        done = subprocess.run(
            [_CLANG, *_LEVEL, *flags, "-c", cls.sources[name], "-o", output],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise AssertionError(done.stderr)

    @classmethod
    def make_corpus(cls, name, *flags):
        bitcode = cls.folder / f"{name}.bitcode"
        bitcode.mkdir()
        for source in cls.sources:
            cls.compile(source, bitcode / f"{source}.bc", "-emit-llvm", "-Xclang", "-disable-llvm-passes", *flags)
        paths = from_bitcode.find_bitcode(bitcode)
        from_bitcode.make(bitcode, paths, cls.folder / name, CompileCommand(["-Oz", "-ffunction-sections"]))

    @classmethod
    def tune(cls, corpus, *more):
        return command.run(
            f"--clang={real_modules.development_clang()}",
            f"--linker={_LINKER}",
            f"--corpus={cls.folder / corpus}",
            f"--output_dir={cls.folder / 'out'}",
            "--cache_dir=",
            "--replay",
            *more,
            program="tune",
        )

    def size(self, name, *flags):
        self.compile(name, self.folder / "x.o", "-gline-tables-only", *flags)
        return code_of_object((self.folder / "x.o").read_bytes(), name).code_bytes

    def test_a_stock_clang_makes_the_code_that_was_found(self):
        default = found = replayed = 0
        for name in self.sources:
            default += self.size(name)
            path = self.folder / "out" / "replay" / f"{name}.replay"
            words = (f"={path}", "-scope=Module", "-fallback=NeverInline")
            replayed += self.size(name, *(flag for word in words for flag in ("-mllvm", f"-cgscc-inline-replay{word}")))
            content = (self.folder / "out" / "found" / "objects" / f"{name}.o").read_bytes()
            found += code_of_object(content, name).code_bytes
        print(f"default {default}, found {found}, replayed {replayed} bytes")
        self.assertLess(found, default)
        self.assertLess(abs(replayed - found), 0.1 * (default - found))

    def test_what_is_said(self):
        found = re.search(r"([\d,]+) of ([\d,]+) decisions have a debug location", self.said)
        assert found, self.said
        named, asked = found.groups()
        content = json.loads((self.folder / "out" / "result.json").read_text(encoding="utf-8"))["replayed"]
        self.assertEqual((f"{content['named']:,}", f"{content['decisions']:,}"), (named, asked))
        self.assertGreater(content["named"], 0.9 * content["decisions"])

    def test_a_corpus_without_debug_locations(self):
        self.make_corpus("bare")
        code, said = self.tune("bare", f"--output_dir={self.folder / 'bare_out'}")
        self.assertEqual(code, ExitCode.USER_ERROR)
        self.assertIn("none of the 5 modules of the corpus has any. Make the corpus from a build with", said)


if __name__ == "__main__":
    unittest.main()
