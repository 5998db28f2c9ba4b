"""A release of the real files installs with the tools of a machine, and what proves its origin is true of it.

installation_test --installed=DEB --installed=DEB ... and the arguments of :publish

apt, dpkg and tar are those of the machine. //tests/wheel installs the wheel with pip, and
//release/packaging:image_test enters the image.
"""

import argparse
import hashlib
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest
from typing import Any

from mlgo.run import locate
from release.packaging import deb
from release.publishing import publish

SOURCE = "int f(int x) { return x * 3 + 1; }\nint g(int x) { return f(x) + f(x + 1); }\n"
FOLDER = "usr/lib/mlgo-clang-"
#: For an ordinary user, in a root that is thrown away.
DPKG_FLAGS = ["--force-not-root", "--force-unsafe-io", "--log=/dev/null"]
#: Which apt does not make itself.
APT_FOLDERS = ["etc/apt/preferences.d", "var/cache/apt/archives/partial", "var/lib/apt/lists/partial", "var/log/apt"]
#: Of programs of the system: dpkg looks for ldconfig and start-stop-daemon.
PATH = "/usr/sbin:/usr/bin:/sbin:/bin"


class InstallationTest(unittest.TestCase):
    #: Packages of Debian 12 that count as installed, as archives.
    installed: list[pathlib.Path]
    #: Arguments of the command.
    arguments: list[str]
    scratch: pathlib.Path
    release: pathlib.Path
    tarball: pathlib.Path
    package: pathlib.Path
    provenance: dict[str, Any]
    version: str

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.scratch = pathlib.Path(folder.name)
        cls.release = cls.scratch / "release"
        code = publish.main([f"--to={cls.release}", *cls.arguments])
        if code:
            raise AssertionError(f"publish ended with exit code {code}")
        (cls.tarball,) = (path for path in cls.release.glob("mlgo-clang-*.tar.gz"))
        (cls.package,) = cls.release.glob("*.deb")
        (statement,) = cls.release.glob("*.intoto.json")
        cls.provenance = json.loads(statement.read_bytes())
        cls.version = cls.tarball.name.removeprefix("mlgo-clang-").removesuffix(".tar.gz")

    def run_program(self, *words, code=0, **variables):
        """What a program prints that has only the PATH of the system and `variables`."""
        done = subprocess.run(
            [str(word) for word in words],
            cwd=self.scratch,
            env={"PATH": PATH, "LC_ALL": "C.UTF-8", **variables},
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual(done.returncode, code, f"{words}\n{done.stdout}{done.stderr}"[-3000:])
        return done.stdout + done.stderr

    def check_compiler(self, clang, mlgo):
        """Both programs run, and the compiler is that of the provenance, with its policies at work."""
        subject = self.provenance["subject"][0]["digest"]["sha256"]
        self.assertEqual(hashlib.sha256(clang.read_bytes()).hexdigest(), subject)
        self.assertIn(f"clang version {self.version}", self.run_program(clang, "--version"))
        self.assertIn("mlgo smaller", self.run_program(mlgo, "--help"))
        (self.scratch / "x.c").write_text(SOURCE, encoding="ascii")
        self.run_program(clang, "-Werror", "--config=mlgo-size.cfg", "-Oz", "-c", "x.c", "-o", "x.o")
        self.assertEqual((self.scratch / "x.o").read_bytes()[:4], b"\x7fELF")

    def test_every_file_has_its_sum(self):
        names = {path.name for path in self.release.iterdir()}
        said = self.run_program("sh", "-c", 'cd "$0" && sha256sum --check --strict SHA256SUMS', self.release)
        self.assertEqual({line.partition(":")[0] for line in said.splitlines()}, names - {publish.SUMS})
        kinds = {".json", ".deb", ".gz", ".tar", ".txt", ".whl", ""}
        self.assertEqual({pathlib.PurePath(name).suffix for name in names}, kinds, names)

    def test_tar_unpacks_a_compiler_that_runs_there(self):
        folder = self.scratch / "some where"
        folder.mkdir()
        self.run_program("tar", "-xzf", self.tarball, "-C", folder)
        (top,) = folder.iterdir()
        self.assertEqual(top.name, f"mlgo-clang-{self.version}")
        self.check_compiler(top / "bin/clang", top / "bin/mlgo")

    def test_the_package_has_the_files_of_the_tarball(self):
        """With the same content, links and modes; and three programs of the PATH."""
        with tarfile.open(self.tarball, "r|gz") as tar:
            expected = {
                FOLDER + member.name.removeprefix("mlgo-clang-"): described(
                    member, tar.extractfile(member) if member.isreg() else None
                )
                for member in tar
                if not member.isdir()
            }
        found: dict[str, tuple[int, str, str]] = {}
        programs: dict[str, tuple[int, str, str]] = {}
        for member, content in deb.members(self.package):
            self.assertEqual((member.uid, member.gid), (0, 0), member.name)
            if not member.isdir():
                of_path = member.name.startswith("usr/bin/")
                (programs if of_path else found)[member.name] = described(member, content)
        self.assertEqual(sorted(found), sorted(expected))
        self.assertEqual([name for name in found if found[name] != expected[name]], [])
        links = {name: link for name, (_, link, _) in programs.items()}
        bin_folder = f"../lib/mlgo-clang-{self.version}/bin"
        self.assertEqual(
            links,
            {
                "usr/bin/mlgo": f"{bin_folder}/mlgo",
                "usr/bin/mlgo-clang": f"{bin_folder}/clang",
                "usr/bin/mlgo-clang++": f"{bin_folder}/clang++",
            },
        )

    def dpkg(self, root, *words, code=0):
        """Output of dpkg with the system below `root`; an ordinary user owns the files of a package."""
        return self.run_program("dpkg", f"--root={root}", *DPKG_FLAGS, *words, code=code)

    def apt(self, root, *words, code=0):
        """Output of apt with the system below `root`, which knows no mirror."""
        settings = [
            f"Dir={root}",
            "Dir::Bin::dpkg=/usr/bin/dpkg",
            "Dir::Bin::methods=/usr/lib/apt/methods",
            *(f"DPkg::Options::={flag}" for flag in [f"--root={root}", *DPKG_FLAGS]),
            "APT::Sandbox::User=",
            "APT::Architecture=amd64",
            "APT::Architectures=amd64",
            "APT::Install-Recommends=false",
        ]
        for folder in APT_FOLDERS:
            (root / folder).mkdir(parents=True, exist_ok=True)
        options = [word for setting in settings for word in ("-o", setting)]
        return self.run_program("apt-get", *options, "--yes", *words, code=code)

    def system(self, name, packages):
        """A root whose dpkg knows `packages`, archives, as installed; what they need themselves is not asked for."""
        root = self.scratch / name
        for folder in ("info", "updates", "triggers"):
            (root / "var/lib/dpkg" / folder).mkdir(parents=True)
        status = "\n".join(as_installed(deb.control(path)) for path in packages)
        (root / "var/lib/dpkg/status").write_text(status, encoding="utf-8")
        for path in packages:
            (root / "var/lib/dpkg/info" / f"{deb.package_name(path)}.list").write_text("/.\n", encoding="ascii")
        return root

    @unittest.skipUnless(shutil.which("dpkg"), "dpkg is not installed")
    def test_dpkg_installs_and_removes_it(self):
        root = self.system("debian", self.installed)
        before = files_below(root)
        self.dpkg(root, "--install", self.package)
        self.assertRegex(self.dpkg(root, "--status", "mlgo-clang"), "(?m)^Status: install ok installed$")
        self.check_compiler(root / "usr/bin/mlgo-clang", root / "usr/bin/mlgo")
        self.assertIn("libc6", self.dpkg(root, "--status", "libc6"))
        self.dpkg(root, "--purge", "mlgo-clang")
        self.assertEqual(files_below(root), before)

    @unittest.skipUnless(shutil.which("apt-get"), "apt is not installed")
    def test_apt_installs_and_removes_it(self):
        """With nothing but what Debian 12 has, from the file alone."""
        root = self.system("apt", self.installed)
        before = files_below(root)
        said = self.apt(root, "install", self.package)
        self.assertIn("0 upgraded, 1 newly installed, 0 to remove", said)
        self.check_compiler(root / "usr/bin/mlgo-clang", root / "usr/bin/mlgo")
        self.apt(root, "purge", "mlgo-clang")
        self.assertEqual(files_below(root), before)
        older = self.system("older", [path for path in self.installed if deb.package_name(path) != "libc6"])
        self.assertIn("Depends: libc6 (>= 2.36)", self.apt(older, "install", self.package, code=100))

    @unittest.skipUnless(shutil.which("dpkg"), "dpkg is not installed")
    def test_dpkg_asks_for_what_it_needs(self):
        for path in self.installed:
            name = deb.package_name(path)
            with self.subTest(without=name):
                root = self.system(f"without-{name}", [other for other in self.installed if other != path])
                said = self.dpkg(root, "--install", self.package, code=1)
                self.assertRegex(said, rf"depends on {re.escape(name)} \(>= [\d.]+\)")

    def test_the_version_is_the_workspaces(self):
        (workspace,) = re.findall(r"(?m)^Version: .*\+mlgo([\d.]+)$", deb.control(self.package))
        (wheel,) = self.release.glob("*.whl")
        self.assertEqual(wheel.name.split("-")[1], workspace)
        definition = self.provenance["predicate"]["buildDefinition"]
        self.assertEqual(definition["internalParameters"]["workspace"], f"mlgo {workspace}")
        newest = re.search(r"(?m)^## (\d\S*)$", locate.runfile("CHANGELOG.md").read_text(encoding="utf-8"))
        assert newest, "CHANGELOG.md has no section of a version"
        self.assertEqual(newest[1], workspace, "CHANGELOG.md has no section of the version in MODULE.bazel")


def described(member: tarfile.TarInfo, content) -> tuple[int, str, str]:
    """(mode, target of a link, sha256 of the content) of a member. Args: content: bytes, a file, or None."""
    content = content if isinstance(content, bytes) else content.read() if content else b""
    return member.mode, member.linkname, hashlib.sha256(content).hexdigest()


def as_installed(control: str) -> str:
    """What dpkg's status says of a package, without what it needs itself."""
    alone = re.sub(r"(?m)^(?:Pre-)?Depends: .*\n", "", control)
    return re.sub(r"(?m)^(Package: .*)$", r"\1\nStatus: install ok installed", alone).strip() + "\n"


def files_below(root: pathlib.Path) -> set[pathlib.Path]:
    """All files and links below a folder, without dpkg's own."""
    return {path for path in root.rglob("*") if not path.is_dir() and root / "var" not in path.parents}


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--installed", action="append", required=True)
    known, InstallationTest.arguments = parser.parse_known_args()
    InstallationTest.installed = [locate.rlocation(name) for name in known.installed]
    unittest.main(argv=[sys.argv[0]])
