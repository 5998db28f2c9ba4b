import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import zipfile

from toolchains.bazel import relocation
from toolchains.bazel.errors import LauncherError
from toolchains.bazel.testing import packages

FINAL = pathlib.Path("/srv/me/.cache/px")


class TreeTest(unittest.TestCase):
    """Works on a tree of stand-ins, and with a patchelf that writes its arguments into the file it is given."""

    def setUp(self):
        scratch = self.enterContext(tempfile.TemporaryDirectory())
        self.tree = pathlib.Path(scratch) / "tree"
        for files in packages.bazel_packages().values():
            for name, content in files.items():
                path = self.tree / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
        patchelf = pathlib.Path(scratch) / "patchelf.py"
        patchelf.write_text("import sys\nopen(sys.argv[-1], 'w').write(' '.join(sys.argv[1:-1]))\n")
        self.patchelf = [sys.executable, str(patchelf)]

    def relocate(self):
        relocation.relocate(self.tree, FINAL, self.patchelf)

    def text(self, name):
        return (self.tree / name).read_text()

    def test_programs_get_the_final_loader_and_libraries(self):
        self.relocate()
        expected = (
            f"--set-interpreter {FINAL}/{relocation.LOADER} --force-rpath --set-rpath "
            f"{FINAL}/{packages.JAVA}/lib:{FINAL}/{relocation.LIBRARIES}"
        )
        for name in (relocation.CLIENT, relocation.HELPERS + "/linux-sandbox", packages.JAVA + "/bin/java"):
            self.assertEqual(self.text(name), expected, name)

    def test_libraries_are_left_alone(self):
        self.relocate()
        self.assertEqual(
            (self.tree / relocation.LIBRARIES / "libgrpc.so.1").read_bytes(), packages.elf_bytes(["libc.so.6"])
        )

    def test_the_c_locale_of_the_servers_java_keeps_each_byte_of_a_path(self):
        java = self.tree / packages.JAVA / "bin" / "java"
        library = self.tree / relocation.LIBRARIES / "libc.so.6"
        size = library.stat().st_size
        self.relocate()
        self.assertTrue(library.read_bytes().endswith(b"\0ISO-8859-1\0\0\0\0\0rest"))
        self.assertEqual(library.stat().st_size, size)
        java.write_text('#!/bin/sh\nprintf "%s\\n" "$LC_ALL" "$@"\n')
        java.chmod(0o755)
        moved = self.tree.rename(self.tree.with_name("Käse 日本"))
        done = subprocess.run(
            [moved / relocation.SERVER_JAVA / "bin" / "java", "a b", b"\xff"],
            env={"LC_ALL": "de_DE.UTF-8", "PATH": ""},
            stdout=subprocess.PIPE,
            check=True,
        )
        self.assertEqual(done.stdout, b"C\na b\n\xff\n")

    def test_a_c_library_with_another_name_of_the_character_set(self):
        library = self.tree / relocation.LIBRARIES / "libc.so.6"
        for content, times in ((packages.elf_bytes(), 0), (packages.elf_bytes() + b"\0ANSI_X3.4-1968\0" * 2, 2)):
            library.write_bytes(content)
            with self.assertRaisesRegex(
                LauncherError,
                rf"libc\.so\.6: has the character set of the C locale {times} times, not once\. .*set BAZEL",
            ):
                relocation.keep_bytes_of_paths(self.tree, packages.JAVA)

    def test_class_path_is_absolute_complete_and_restores_the_version(self):
        self.relocate()
        lines = self.text(f"{relocation.INSTALL_BASE}/bazel_classpath_debian_depends.txt").splitlines()
        self.assertEqual(
            lines,
            [
                f"{FINAL}/{relocation.JARS}/{name}"
                for name in ("guava.jar", "failureaccess.jar", "bazel-build-data.jar")
            ],
        )
        with zipfile.ZipFile(self.tree / relocation.JARS / "bazel-build-data.jar") as jar:
            self.assertIn(b"build.label=7.7.1\n", jar.read("build-data.properties"))

    def test_jars_nobody_reaches_are_removed(self):
        os.symlink("failureaccess.jar", self.tree / relocation.JARS / "failureaccess-1.0.jar")
        self.relocate()
        self.assertEqual(
            sorted(os.listdir(self.tree / relocation.JARS)), ["bazel-build-data.jar", "failureaccess.jar", "guava.jar"]
        )

    def test_a_reached_jar_behind_a_link_stays(self):
        jars = self.tree / relocation.JARS
        os.rename(jars / "guava.jar", jars / "guava-33.jar")
        os.symlink("guava-33.jar", jars / "guava.jar")
        self.relocate()
        self.assertTrue((jars / "guava.jar").is_file())

    def test_a_library_only_the_servers_native_code_needs_is_missed(self):
        (self.tree / relocation.LIBRARIES / "libblake3.so.0").unlink()
        with self.assertRaisesRegex(
            LauncherError,
            r"^shared libraries of Debian's Bazel: not in the locked packages: "
            r"libblake3\.so\.0 \(needed by native/libunix_jni\.so\)\. Add their packages to .*packages\.json",
        ):
            self.relocate()

    def test_changed_packages_are_named(self):
        for name, text in (
            (relocation.CLIENT, "usr/bin/bazel: the packages hold no Bazel client"),
            (packages.JAVA + "/bin/java", "usr/lib/jvm: the packages hold no Java runtime"),
            (f"{relocation.INSTALL_BASE}/A-server.jar", "A-server.jar: cannot be read"),
            (f"{packages.JAVA}/lib/libnio.so", "libnio.so: cannot be read"),
        ):
            with self.subTest(name=name):
                content = (self.tree / name).read_bytes()
                (self.tree / name).unlink()
                with self.assertRaisesRegex(LauncherError, text + r".*set BAZEL to a Bazel >= 7\.7, < 8"):
                    self.relocate()
                (self.tree / name).write_bytes(content)

    def test_a_failing_patchelf_is_named_with_its_words(self):
        self.patchelf = [sys.executable, "-c", "print('no room'); raise SystemExit(3)"]
        with self.assertRaisesRegex(LauncherError, "usr/bin/bazel: patchelf ended with 3: no room"):
            self.relocate()


class ClassPathTest(unittest.TestCase):
    def test_folded_manifest_lines(self):
        jar = packages.jar_bytes("a.jar\r\n  b.jar ../c.jar")
        self.assertEqual(relocation.class_path_of(jar), ["a.jar", "b.jar", "c.jar"])

    def test_a_circle_ends(self):
        jars = {"a.jar": packages.jar_bytes("b.jar"), "b.jar": packages.jar_bytes("a.jar c.jar")}
        self.assertEqual(relocation.class_path_closure(["a.jar"], jars.get), ["a.jar", "b.jar"])


if __name__ == "__main__":
    unittest.main()
