"""A CMake project with odd file names, built by Ninja: through compile_commands.json, and as a ThinLTO program."""

import shlex
import shutil
import unittest
from collections.abc import Sequence

from mlgo.corpus.corpus import Corpus
from mlgo.corpus.level import cmake_flags, levels_of
from tests.corpora.project import ODD_NAMES, TOOLS, BuildTestCase

_LISTS = """\
cmake_minimum_required(VERSION 3.18)
project(odd C CXX)
add_library(parts STATIC {parts})
add_executable(program main.cc)
target_link_libraries(program parts)
set_target_properties(program PROPERTIES OUTPUT_NAME "a program" LINK_FLAGS "{link}")
"""


class CMakeTest(BuildTestCase):
    # CMake 3.25 puts an apostrophe into compile_commands.json as it is, which no shell could read.
    names = {**ODD_NAMES, "checks.cc": "che cks, (2).cc"}

    def configure(self, flags: str, link_flags: str = "", more: Sequence[str] = ()) -> None:
        parts = " ".join(f'"{name}"' for name in self.names.values() if name != "main.cc")
        (self.source / "CMakeLists.txt").write_text(_LISTS.format(parts=parts, link=link_flags), encoding="utf-8")
        link = f"--ld-path={TOOLS['ld.lld']} -nostdlib -Wl,-e,main -Wl,--unresolved-symbols=ignore-all"
        definitions = {
            "CMAKE_MAKE_PROGRAM": TOOLS["ninja"],
            "CMAKE_C_COMPILER": TOOLS["clang"],
            "CMAKE_CXX_COMPILER": TOOLS["clang++"],
            "CMAKE_AR": TOOLS["llvm-ar"],
            "CMAKE_C_COMPILER_AR": TOOLS["llvm-ar"],
            "CMAKE_CXX_COMPILER_AR": TOOLS["llvm-ar"],
            # llvm-ar makes the index itself.
            "CMAKE_RANLIB": "/bin/true",
            "CMAKE_BUILD_TYPE": "Release",
            "CMAKE_EXPORT_COMPILE_COMMANDS": "ON",
            "CMAKE_TRY_COMPILE_TARGET_TYPE": "STATIC_LIBRARY",
            "CMAKE_C_COMPILER_WORKS": "1",
            "CMAKE_CXX_COMPILER_WORKS": "1",
            "CMAKE_C_FLAGS": flags,
            "CMAKE_CXX_FLAGS": flags,
            "CMAKE_EXE_LINKER_FLAGS": link,
        }
        settings = [f"-D{name}={value}" for name, value in definitions.items()]
        self.run_tool("cmake", "-G", "Ninja", "-S", self.source, "-B", self.build, *settings, *more)

    def levels(self, corpus) -> set[str]:
        return set(levels_of(Corpus.load(corpus)).values())

    def test_compile_commands(self):
        self.configure("-Xclang -fembed-bitcode=all -ffunction-sections -g")
        self.run_tool("ninja", "-C", self.build)
        corpus = self.extract(f"--input={self.build / 'compile_commands.json'}")
        objects = [str(path.relative_to(self.build)) for path in self.build.rglob("*.o")]
        self.assertEqual(len(objects), len(ODD_NAMES))
        self.assert_original_and_moved(corpus, objects)

    def test_the_words_of_error_messages_make_a_corpus_at_their_level(self):
        for level in ("Oz", "O2"):
            # The compiler is not on the search path.
            words = [word for word in shlex.split(cmake_flags(level)) if "_COMPILER=" not in word]
            self.configure("", more=words)
            self.run_tool("ninja", "-C", self.build)
            corpus = self.extract(f"--input={self.build / 'compile_commands.json'}")
            self.assertEqual(self.levels(corpus), {level})
            shutil.rmtree(corpus)

    def test_a_level_in_front_of_that_of_the_build_type_has_no_effect(self):
        self.configure("-Oz -Xclang -fembed-bitcode=all")
        self.run_tool("ninja", "-C", self.build)
        self.assertEqual(self.levels(self.extract(f"--input={self.build / 'compile_commands.json'}")), {"O3"})

    def test_thinlto_modules_are_at_the_level_at_which_they_were_compiled(self):
        save = "-Wl,--save-temps=import -Wl,--save-temps=prelink -Wl,--thinlto-emit-index-files"
        sizes = [f"-DCMAKE_{language}_FLAGS_RELEASE=-Oz" for language in ("C", "CXX")]
        self.configure("-flto=thin -fPIC", save, sizes)
        self.run_tool("ninja", "-C", self.build)
        ninja = [f"--ninja_dir={self.build}", "--target=a program"]
        corpus = self.extract("--thinlto_build=local", f"--obj_base_dir={self.build}", *ninja)
        self.assertIn("-O2", Corpus.load(corpus).command_override or ())
        self.assertEqual(self.levels(corpus), {"Oz"})

    def test_thinlto_program_of_ninja(self):
        save = "-Wl,--save-temps=import -Wl,--save-temps=prelink -Wl,--thinlto-emit-index-files"
        self.configure("-flto=thin -fPIC", save)
        self.run_tool("ninja", "-C", self.build)
        saved = [str(path.relative_to(self.build)) for path in self.build.rglob("*.3.import.bc")]
        modules = [path.removesuffix(".3.import.bc") for path in saved]
        self.assertEqual(len(modules), len(ODD_NAMES), modules)
        ninja = [f"--ninja_dir={self.build}", "--target=a program"]
        corpus = self.extract("--thinlto_build=local", f"--obj_base_dir={self.build}", *ninja)
        self.assertEqual(self.levels(corpus), {"O3"})
        self.assert_original_and_moved(corpus, modules)


if __name__ == "__main__":
    unittest.main()
