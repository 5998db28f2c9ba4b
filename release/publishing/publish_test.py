"""A release of made-up files: what is written, what is refused, and that a refusal writes nothing."""

import hashlib
import io
import json
import os
import pathlib
import subprocess
import tarfile
import tempfile
import unittest

from mlgo.run.exit_codes import RunError
from release.publishing.publish import SUMS, published_name, write_release

VERSION = "22.1.8"
CLANG = b"made-up clang"


def statement(clang: bytes = CLANG) -> dict:
    """Provenance of a compiler with one policy, from one Debian and one Python package."""
    digest = "0123456789abcdef" * 4
    return {
        "subject": [{"name": "bin/clang", "digest": {"sha256": hashlib.sha256(clang).hexdigest()}}],
        "predicate": {
            "buildDefinition": {
                "externalParameters": {
                    "policies": [{"problem": "regalloc_eviction", "training_run": "a run", "sha256": digest}]
                },
                "resolvedDependencies": [
                    {"uri": "pkg:deb/debian/zlib1g@1.2~3-1?arch=amd64&distro=bookworm", "digest": {"sha256": digest}},
                    {"uri": "pkg:pypi/gin-config@0.5.0", "digest": {"sha256": digest[::-1]}},
                ],
            }
        },
    }


class PublishTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.target = self.folder / "release"
        (self.folder / "image.oci.tar").write_bytes(b"an image")
        self.write_statement(statement())
        with tarfile.open(self.folder / f"mlgo-clang-{VERSION}.tar.gz", "w:gz") as tar:
            member = tarfile.TarInfo(f"mlgo-clang-{VERSION}/bin/clang")
            member.size = len(CLANG)
            tar.addfile(member, io.BytesIO(CLANG))

    def write_statement(self, content: object) -> None:
        (self.folder / "provenance.json").write_text(json.dumps(content), encoding="utf-8")

    def publish(self, key: str | None = None) -> list[str]:
        files = [path for path in self.folder.iterdir() if path.is_file()]
        artifacts = {published_name(path.name, VERSION): path for path in files}
        return write_release(self.target, artifacts, VERSION, key)

    def assert_refused(self, wrong: str, key: str | None = None) -> None:
        before = sorted(self.folder.rglob("*"))
        with self.assertRaisesRegex(RunError, wrong):
            self.publish(key)
        self.assertEqual(sorted(self.folder.rglob("*")), before)

    def test_everything_has_its_name_and_its_sum(self):
        names = self.publish()
        top = f"mlgo-clang-{VERSION}"
        self.assertEqual(names, [SUMS, *(f"{top}.{end}" for end in ("cdx.json", "intoto.json", "oci.tar", "tar.gz"))])
        done = subprocess.run(
            ["sha256sum", "--check", "--strict", SUMS], cwd=self.target, capture_output=True, check=False
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(done.stdout.splitlines()), len(names) - 1)

    def test_the_bill_of_materials_names_packages_and_policies(self):
        self.publish()
        bill = json.loads((self.target / f"mlgo-clang-{VERSION}.cdx.json").read_bytes())
        self.assertEqual((bill["bomFormat"], bill["specVersion"]), ("CycloneDX", "1.6"))
        found = {part["name"]: (part["type"], part.get("version"), part.get("purl")) for part in bill["components"]}
        self.assertEqual(
            found,
            {
                "zlib1g": ("library", "1.2~3-1", "pkg:deb/debian/zlib1g@1.2~3-1?arch=amd64&distro=bookworm"),
                "gin-config": ("library", "0.5.0", "pkg:pypi/gin-config@0.5.0"),
                "regalloc_eviction": ("machine-learning-model", None, None),
            },
        )
        self.assertEqual(
            bill["metadata"]["component"]["hashes"], [{"alg": "SHA-256", "content": hashlib.sha256(CLANG).hexdigest()}]
        )

    def test_equal_files_give_equal_bytes(self):
        self.publish()
        first = {path.name: path.read_bytes() for path in self.target.iterdir()}
        self.target = self.folder / "again"
        self.publish()
        self.assertEqual({path.name: path.read_bytes() for path in self.target.iterdir()}, first)

    def test_a_release_is_never_changed(self):
        self.publish()
        before = {path.name: path.stat().st_mtime_ns for path in self.target.iterdir()}
        self.assert_refused("is there already")
        self.assertEqual({path.name: path.stat().st_mtime_ns for path in self.target.iterdir()}, before)

    def test_provenance_of_another_compiler_is_refused(self):
        self.write_statement(statement(b"another clang"))
        self.assert_refused("is not of the compiler in")

    def test_provenance_without_its_fields_is_refused(self):
        contents: list[list | dict] = [[], {}, {"subject": []}, statement() | {"predicate": {}}]
        for broken in contents:
            with self.subTest(broken=broken):
                self.write_statement(broken)
                self.assert_refused("is not that of a compiler")

    def test_a_damaged_tarball_is_refused(self):
        tarball = self.folder / f"mlgo-clang-{VERSION}.tar.gz"
        for content, wrong in ((tarball.read_bytes()[:60], "cannot be read"), (b"", "cannot be read")):
            with self.subTest(size=len(content)):
                tarball.write_bytes(content)
                self.assert_refused(wrong)

    def test_an_empty_file_is_refused(self):
        (self.folder / "image.oci.tar").write_bytes(b"")
        self.assert_refused("is empty")

    def test_without_a_signature_nothing_is_written(self):
        programs = self.folder / "programs"
        programs.mkdir()
        path = os.environ.get("PATH", os.defpath)
        self.addCleanup(os.environ.__setitem__, "PATH", path)
        os.environ["PATH"] = str(programs)
        self.assert_refused("gpg is not installed", "me")
        os.environ["PATH"] = f"{programs}:{path}"
        (programs / "gpg").write_text("#!/bin/sh\nexit 2\n", encoding="utf-8")
        (programs / "gpg").chmod(0o755)
        self.assert_refused("gpg ended with exit code 2", "me")

    def test_the_sums_are_signed(self):
        programs = self.folder / "programs"
        programs.mkdir()
        # A stand-in for gpg, which writes what it was told to sign where it was told to.
        (programs / "gpg").write_text(
            "#!/bin/sh\nfor word; do case $word in --output=*) out=${word#--output=};; esac; last=$word; done\n"
            'sed "s/^/$2 /" "$last" > "$out"\n',
            encoding="utf-8",
        )
        (programs / "gpg").chmod(0o755)
        path = os.environ.get("PATH", os.defpath)
        self.addCleanup(os.environ.__setitem__, "PATH", path)
        os.environ["PATH"] = f"{programs}:{path}"
        self.assertIn(f"{SUMS}.asc", self.publish("me"))
        sums = (self.target / SUMS).read_text(encoding="ascii")
        signature = (self.target / f"{SUMS}.asc").read_text(encoding="ascii")
        self.assertEqual(signature, "".join(f"me {line}\n" for line in sums.splitlines()))


if __name__ == "__main__":
    unittest.main()
