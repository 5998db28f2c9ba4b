"""PGO: instrumented, run, merged, used; the corpus contains the profile, and does not need the original."""

import os
import shlex
import subprocess
import unittest

from mlgo.run.exit_codes import ExitCode
from tests.corpora.project import TOOLS, BuildTestCase

# C alone: this program is linked and run, and of the system it needs no more than libc.
_MAIN = """\
int printf(const char *, ...);
long sum_of_table(const long *table, int count);
int main(int count, char **words) {
  long table[9], total = 0;
  for (int i = 0; i < 9; ++i) table[i] = i * count * 37 % 11;
  for (int i = 0; i < 1000; ++i) total += sum_of_table(table, i % 9);
  return printf("%ld\\n", total) < 0;
}
"""


class PgoTest(BuildTestCase):
    names = {"sums.c": "the sums (1).c"}

    def setUp(self):
        super().setUp()
        (self.source / "program.c").write_text(_MAIN, encoding="utf-8")
        self.names = {**self.names, "program.c": "program.c"}

    def profile(self) -> str:
        """Builds with instrumentation, runs, merges; returns the name of the profile in the build folder."""
        objects = self.compile_all("-O2", "-fPIE", "-fprofile-generate")
        sysroot = ["--sysroot", str(TOOLS["sysroot_usr"].parent)] if "sysroot_usr" in TOOLS else []
        runtime = ["-Wl,-u,__llvm_profile_runtime", str(TOOLS["profile_runtime"])]
        linker = [f"--ld-path={TOOLS['ld.lld']}", "-pie", *sysroot]
        self.run_tool("clang", *linker, *objects, *runtime, "-o", "instrumented")
        raw = self.build / "counts.profraw"
        subprocess.run(
            [self.build / "instrumented"], check=True, env={"LLVM_PROFILE_FILE": str(raw)}, stdout=subprocess.DEVNULL
        )
        self.run_tool("llvm-profdata", "merge", "-o", "the profile.profdata", raw)
        os.unlink(raw)
        return "the profile.profdata"

    def test_profile_is_carried(self):
        profile = self.profile()
        without = self.compile_all("-O2")
        plain = [(self.build / name).read_bytes() for name in without]
        objects = self.compile_all("-O2", f"-fprofile-use={self.build / profile}", "-Xclang", "-fembed-bitcode=all")
        (self.build / "params").write_text("\n".join(f"'{name}'" for name in objects), encoding="utf-8")
        corpus = self.extract(f"--input={self.build / 'params'}", "--input_type=params", f"--obj_base_dir={self.build}")
        (carried,) = (corpus / "files").iterdir()
        self.assertTrue(carried.name.endswith("-the profile.profdata"), carried)
        command = (corpus / f"{objects[0]}.cmd").read_bytes().split(b"\0")
        self.assertIn(f"-fprofile-instrument-use-path=files/{carried.name}".encode(), command)
        for name, unguided in zip(objects, plain):
            self.assertNotEqual((self.build / name).read_bytes(), unguided, "the profile changes nothing")
        self.assert_original_and_moved(corpus, objects)

    def test_a_profile_outside_of_the_build_needs_the_flag(self):
        profile = self.root / "elsewhere" / self.profile()
        profile.parent.mkdir()
        (self.build / profile.name).rename(profile)
        objects = self.compile_all("-O2", f"-fprofile-use={profile}", "-Xclang", "-fembed-bitcode=all")
        (self.build / "params").write_text("\n".join(f"'{name}'" for name in objects), encoding="utf-8")
        flags = [f"--input={self.build / 'params'}", "--input_type=params", f"--obj_base_dir={self.build}"]
        self.extract(*flags, code=ExitCode.NOTHING_PRODUCED)
        self.assertEqual(list(self.root.rglob("files/*-the profile.profdata")), [])
        corpus = self.extract(*flags, f"--allow_file_root={profile.parent}")
        self.assertEqual(self.modules_of(corpus), objects)
        self.assertEqual(len(list(corpus.glob("files/*-the profile.profdata"))), 1)

    def test_thinlto_with_a_profile(self):
        """The link command names the profile too: the override carries it."""
        use = f"-fprofile-use={self.build / self.profile()}"
        objects = self.compile_all("-O2", "-fPIC", "-flto=thin", use)
        link = [str(TOOLS["clang"]), f"--ld-path={TOOLS['ld.lld']}", "-flto=thin", "-O2", use, "-nostdlib", "-shared"]
        link += ["-Wl,--unresolved-symbols=ignore-all", *objects, "-o", "program"]
        save = ["-Wl,--save-temps=import", "-Wl,--save-temps=prelink", "-Wl,--thinlto-emit-index-files"]
        self.run_tool("clang", *link[1:], *save)
        corpus = self.extract(
            "--thinlto_build=local", f"--obj_base_dir={self.build}", f"--link_command={shlex.join(link)}"
        )
        (carried,) = (corpus / "files").iterdir()
        description = (corpus / "corpus_description.json").read_text(encoding="utf-8")
        self.assertIn(f'"-fprofile-instrument-use-path=files/{carried.name}"', description)
        self.assert_original_and_moved(corpus, objects)


if __name__ == "__main__":
    unittest.main()
