"""The released tarball: its contents, its provenance, and that the compiler works where it is unpacked."""

import hashlib
import json
import os
import pathlib
import re
import shlex
import subprocess
import tarfile
import tempfile
import unittest
from typing import Any

import lockfile

from mlgo.run.locate import runfile
from release.packaging.testing import machine

#: Of the LLVM that the compiler is made of: "22.1.8".
VERSION = os.environ["LLVM_VERSION"]
MAJOR = VERSION.split(".")[0]

#: glibc's own libraries, versioned together with it, and the newest glibc that Debian 12 has.
GLIBC = {"libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2"}
DEBIAN_12_GLIBC = (2, 36)
POLICY_ON = ["-mllvm", "-regalloc-enable-advisor=release"]
#: Files beside clang for build systems, and the switches that they contain.
CONFIGURATIONS = {
    "mlgo-cold.cfg": "-pgo-cold-func-opt=minsize",
    "mlgo-size.cfg": "-mlgo-search=2",
    "mlgo-speed-arm.cfg": "-regalloc-enable-advisor=release",
    "mlgo-speed.cfg": "-regalloc-enable-advisor=release",
}
#: Files that can be executed.
PROGRAMS = ("bin/clang", "bin/mlgo", "lib/mlgo/record/clang", "lib/mlgo/record/clang-scan-deps")
#: Links to clang, which is each of these programs under its name.
TOOLS = (
    "clang++",
    "clang-cpp",
    "ld.lld",
    "llvm-addr2line",
    "llvm-ar",
    "llvm-nm",
    "llvm-objcopy",
    "llvm-profdata",
    "llvm-ranlib",
    "llvm-size",
    "llvm-strip",
    "llvm-symbolizer",
)
#: A program of two files, of which one comes from an archive: the commands of docs/ship-a-policy.md.
LIBRARY_SOURCE = "int twice(int x) { return 2 * x; }\n"
MAIN_SOURCE = '#include <stdio.h>\nint twice(int);\nint main(void) { return printf("%d\\n", twice(21)) < 0; }\n'
C_SOURCE = (
    '#include <stdio.h>\n#include <stdint.h>\nint main(void) { printf("%d\\n", (int)sizeof(intptr_t)); return 0; }\n'
)
CXX_SOURCE = """#include <algorithm>
#include <iostream>
#include <vector>
int main() {
  std::vector<int> v{3, 1, 2};
  std::sort(v.begin(), v.end());
  for (int x : v) std::cout << x;
  std::cout << std::endl;
}
"""


class TarballTest(unittest.TestCase):
    scratch: pathlib.Path
    archive: pathlib.Path
    members: list[tarfile.TarInfo]
    root: pathlib.Path
    folder: str
    top: pathlib.Path
    provenance: dict[str, Any]

    @classmethod
    def setUpClass(cls):
        cls.scratch = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.archive = runfile(f"release/packaging/mlgo-clang-{VERSION}.tar.gz")
        with tarfile.open(cls.archive) as tar:
            cls.members = tar.getmembers()
        # The root of another machine, with the compiler in an arbitrary folder.
        cls.root = cls.scratch / "root"
        machine.unpack(runfile("release/packaging/compiler_root.tar.gz"), cls.root)
        cls.folder = "srv/some where"
        machine.unpack(cls.archive, cls.root / cls.folder)
        (cls.top,) = (cls.root / cls.folder).iterdir()
        cls.provenance = json.loads((cls.top / "provenance.json").read_text())
        for name, text in (("x.c", C_SOURCE), ("x.cc", CXX_SOURCE), ("m.c", MAIN_SOURCE), ("b.c", LIBRARY_SOURCE)):
            (cls.root / "src" / name).write_text(text)

    def run_here(self, *arguments):
        done = subprocess.run(
            [str(word) for word in arguments],
            cwd=self.root / "src",
            env={},
            capture_output=True,
            text=True,
            timeout=300,
        )
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])
        return done.stdout

    def definition(self):
        return self.provenance["predicate"]["buildDefinition"]

    def test_one_folder_without_time_or_user(self):
        self.assertEqual({member.name.split("/")[0] for member in self.members}, {f"mlgo-clang-{VERSION}"})
        self.assertEqual(len({member.mtime for member in self.members}), 1)
        self.assertEqual(
            {(member.uid, member.gid, member.uname, member.gname) for member in self.members}, {(0, 0, "", "")}
        )
        for member in self.members:
            path = member.name.partition("/")[2]
            expected = 0o777 if member.issym() else 0o755 if member.isdir() or path in PROGRAMS else 0o644
            self.assertEqual(oct(member.mode), oct(expected), member.name)
        names = {member.name.partition("/")[2] for member in self.members}
        self.assertLessEqual(
            {
                "bin/clang",
                "bin/clang++",
                "README.txt",
                "provenance.json",
                "licences/llvm.txt",
                "licences/mlgo.txt",
                "licences/common/Apache-2.0.txt",
                f"lib/clang/{MAJOR}/include/stdint.h",
                f"lib/clang/{MAJOR}/include/sanitizer/asan_interface.h",
                f"lib/clang/{MAJOR}/lib/linux/libclang_rt.builtins-x86_64.a",
                "share/mlgo/ir2vec_vocabulary.json",
            },
            names,
        )
        # bin/ has nothing that the link left beside the program, such as Bazel's parameter files.
        self.assertEqual(
            {name for name in names if name.startswith("bin/")},
            {"bin/clang", "bin/mlgo", *(f"bin/{name}" for name in (*CONFIGURATIONS, *TOOLS))},
        )

    def test_no_path_of_the_machine_that_built_it(self):
        # The directory of this test is the directory of the build.
        built_in = (
            os.path.realpath(runfile("release/packaging/compiler_root.tar.gz")).partition("/execroot/")[0].encode()
        )
        self.assertGreater(len(built_in), 1)
        for path in self.top.rglob("*"):
            if path.is_file():
                self.assertNotIn(built_in + b"/", path.read_bytes(), path)

    def test_needs_only_a_glibc_as_old_as_debian_12s(self):
        readelf = runfile("release/packaging/readelf")
        dynamic = self.run_here(readelf, "--dynamic", self.top / "bin/clang")
        needed = set(re.findall(r"Shared library: \[(.*?)\]", dynamic))
        self.assertIn("libc.so.6", needed)
        self.assertLessEqual(needed, GLIBC)
        self.assertNotRegex(dynamic, "RUNPATH|RPATH")
        versions = re.findall(
            r"Name: GLIBC_(\d+)\.(\d+)", self.run_here(readelf, "--version-info", self.top / "bin/clang")
        )
        self.assertTrue(versions)
        self.assertLessEqual(max((int(major), int(minor)) for major, minor in versions), DEBIAN_12_GLIBC)

    def test_provenance_is_of_this_compiler(self):
        (subject,) = self.provenance["subject"]
        self.assertEqual(
            subject["digest"]["sha256"], hashlib.sha256((self.top / subject["name"]).read_bytes()).hexdigest()
        )
        self.assertIn(subject["digest"]["sha256"], (self.top / "README.txt").read_text())
        version = self.run_here(self.top / "bin/clang", "--version")
        self.assertIn(f"version {self.definition()['internalParameters']['llvm']}", version)
        for policy in self.definition()["externalParameters"]["policies"]:
            self.assertIn(f"sha256:{policy['sha256'][:16]}", version)
            self.assertIn(policy["training_run"], version)

    def test_provenance_names_what_it_is_made_of(self):
        locked = {entry.sha256 for entry in lockfile.load(runfile("third_party/debian/lock.json")).all_entries()}
        debian = [item for item in self.definition()["resolvedDependencies"] if item["uri"].startswith("pkg:deb/")]
        self.assertLessEqual({item["digest"]["sha256"] for item in debian}, locked)
        # LLVM's archives and source, the sysroot, the linked archives, the run-time libraries: each is found
        # differently.
        self.assertLessEqual(
            {
                f"llvm-{MAJOR}-dev",
                f"llvm-toolchain-{MAJOR}",
                "libc6-dev",
                f"liblld-{MAJOR}",
                "libzstd-dev",
                f"libclang-rt-{MAJOR}-dev",
                "python3.11-minimal",
            },
            {item["name"] for item in debian},
        )

    def test_works_where_it_is_unpacked(self):
        lld = runfile("release/packaging/ld.lld")
        for compiler, source, says in (("clang", "x.c", "8\n"), ("clang++", "x.cc", "123\n")):
            program = self.scratch / f"here-{compiler}"
            # Statically, so that the program also runs on machines other than Debian 12.
            self.run_here(
                self.top / "bin" / compiler,
                f"--sysroot={self.root}",
                f"--ld-path={lld}",
                "-static",
                "-O2",
                *POLICY_ON,
                source,
                "-o",
                program,
            )
            self.assertEqual(self.run_here(program), says)

    def test_flags_of_a_build_system_serve_compiles_and_links(self):
        lld = runfile("release/packaging/ld.lld")
        clang = [self.top / "bin/clang", f"--sysroot={self.root}", "-Werror", "-Oz"]
        for name, switch in CONFIGURATIONS.items():
            flags = [f"--config={name}"]
            self.run_here(*clang, *flags, "-c", "x.c", "-o", self.scratch / "with_file.o")
            self.run_here(*clang, "-mllvm", switch, "-c", "x.c", "-o", self.scratch / "with_switch.o")
            self.assertEqual(
                (self.scratch / "with_file.o").read_bytes(), (self.scratch / "with_switch.o").read_bytes(), name
            )
            program = self.scratch / name
            self.run_here(*clang, *flags, f"--ld-path={lld}", "-static", self.scratch / "with_file.o", "-o", program)
            self.assertEqual(self.run_here(program), "8\n")

    def test_works_on_another_debian_12(self):
        entered, how = machine.enter(self.root)
        if entered is None:
            self.skipTest(f"chroot and user namespaces are unavailable on this machine ({how})")
        print(f"entered by {how}")
        for compiler, source, says in (("clang", "x.c", "8\n"), ("clang++", "x.cc", "123\n")):
            tool = f"/{self.folder}/{self.top.name}/bin/{compiler}"
            path = {"PATH": "/usr/bin"}
            entered.run([tool, "-O2", *POLICY_ON, source, "-o", "there"], "/src", path)
            self.assertEqual(entered.run(["/src/there"]), says)
            # With clang's own run-time libraries.
            entered.run([tool, "-O1", "-fsanitize=undefined", source, "-o", "there"], "/src", path)
            self.assertEqual(entered.run(["/src/there"]), says)

    def tool(self, name):
        return self.top / "bin" / name

    def test_every_tool_is_what_its_name_says(self):
        for name in TOOLS:
            said = self.run_here(self.tool(name), "--version")
            self.assertIn("LLD" if name == "ld.lld" else VERSION, said, name)
            self.assertEqual("clang version" in said, name.startswith("clang"), said)
        # As distributions call them.
        (self.root / "src/x86_64-linux-gnu-llvm-ar-22").symlink_to(self.tool("llvm-ar"))
        self.assertNotIn("clang version", self.run_here(self.root / "src/x86_64-linux-gnu-llvm-ar-22", "--version"))

    def test_archives_and_thin_lto(self):
        clang = [self.tool("clang"), f"--sysroot={self.root}", "-O2", "-flto=thin", "-static"]
        self.run_here(*clang, "-c", "m.c", "b.c")
        self.run_here(self.tool("llvm-ar"), "rcs", "libb.a", "b.o")
        # The index of the archive, which GNU ar without a plug-in of this LLVM leaves out.
        self.assertIn("twice in b.o", self.run_here(self.tool("llvm-nm"), "--print-armap", "libb.a"))
        program = self.scratch / "thin"
        policies = ["-Wl,-mllvm,-regalloc-enable-advisor=release", "-Wl,-mllvm,-enable-ml-inliner=release"]
        self.run_here(*clang, "-fuse-ld=lld", "m.o", "libb.a", *policies, "-o", program)
        self.assertEqual(self.run_here(program), "42\n")
        # The linker found is the one beside clang.
        jobs = subprocess.run(
            [*clang, "-fuse-ld=lld", "-###", "m.o"], cwd=self.root / "src", env={}, capture_output=True, text=True
        )
        self.assertIn(f'"{self.tool("ld.lld")}"', jobs.stderr)

    def test_objects(self):
        self.run_here(self.tool("clang"), f"--sysroot={self.root}", "-g", "-c", "b.c", "-o", "objects.o")
        self.assertIn("T twice", self.run_here(self.tool("llvm-nm"), "objects.o"))
        self.assertRegex(self.run_here(self.tool("llvm-size"), "objects.o"), r"\d+\s+objects.o")
        self.assertIn("b.c:1", self.run_here(self.tool("llvm-symbolizer"), "--obj=objects.o", "0x4"))
        self.run_here(self.tool("llvm-objcopy"), "--redefine-sym=twice=double_it", "objects.o")
        self.assertIn("T double_it", self.run_here(self.tool("llvm-nm"), "objects.o"))
        self.run_here(self.tool("llvm-strip"), "objects.o")
        self.assertNotIn("double_it", self.run_here(self.tool("llvm-nm"), "objects.o"))

    def test_profiles(self):
        program = self.scratch / "profiled"
        clang = [self.tool("clang"), f"--sysroot={self.root}", "-O2", "-static", "-fuse-ld=lld"]
        raw = self.scratch / "profiled.profraw"
        self.run_here(*clang, f"-fprofile-generate={raw}", "m.c", "b.c", "-o", program)
        self.assertEqual(self.run_here(program), "42\n")
        files = [raw] if raw.is_file() else sorted(raw.iterdir())
        self.run_here(self.tool("llvm-profdata"), "merge", "-o", "x.profdata", *files)
        self.run_here(*clang, "-fprofile-use=x.profdata", "-Werror", "m.c", "b.c", "-o", program)
        self.assertEqual(self.run_here(program), "42\n")

    def follow_recipe(self, entered, tools):
        """Runs the commands of the section about LTO as they stand in the documentation; what the program prints."""
        page = runfile("docs/ship-a-policy.md").read_text(encoding="utf-8")
        section = page.partition("### ThinLTO and full LTO\n")[2].partition("\n##")[0]
        setting, *commands = [line.strip() for line in section.splitlines() if line.startswith("    ")]
        self.assertEqual(setting, 'export PATH="DIR/bin:$PATH"')
        self.assertEqual(len(commands), 3, commands)
        for name, text in (("a.cpp", MAIN_SOURCE), ("b.cpp", LIBRARY_SOURCE)):
            (self.root / "src" / name).write_text(text)
        for command in commands:
            program, *words = shlex.split(command)
            entered.run([f"{tools}/{program}", *words], "/src", {"PATH": f"{tools}:/usr/bin"})
        return entered.run(["/src/app"])

    def test_tools_on_another_debian_12(self):
        entered, how = machine.enter(self.root)
        if entered is None:
            self.skipTest(f"chroot and user namespaces are unavailable on this machine ({how})")
        tools, path = f"/{self.folder}/{self.top.name}/bin", {"PATH": "/usr/bin"}
        entered.run([f"{tools}/clang", "-O2", "-flto=thin", "-c", "m.c", "b.c"], "/src", path)
        entered.run([f"{tools}/llvm-ar", "rcs", "libthere.a", "b.o"], "/src", path)
        link = [f"{tools}/clang", "-O2", "-flto=thin", "-fuse-ld=lld"]
        entered.run([*link, "m.o", "libthere.a", "-o", "there"], "/src", path)
        self.assertEqual(entered.run(["/src/there"]), "42\n")
        self.assertEqual(self.follow_recipe(entered, tools), "42\n")
        for sanitizer in ("address", "undefined"):
            flags = [f"-fsanitize={sanitizer}", "-fuse-ld=lld", "-g"]
            entered.run([f"{tools}/clang++", *flags, "x.cc", "-o", "there"], "/src", path)
            # The address sanitizer reads /proc, which this root does not have; that it links is what is tested.
            if sanitizer != "address":
                self.assertEqual(entered.run(["/src/there"]), "123\n")


if __name__ == "__main__":
    unittest.main()
