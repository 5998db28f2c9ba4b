"""Tests of wheels.py on archives of a few bytes."""

import io
import pathlib
import tarfile
import tempfile
import unittest
import zipfile

from toolchains.python import wheels
from toolchains.python.wheels import WheelError


def wheel(directory: pathlib.Path, members: dict[str, bytes], name: str = "demo-1-py3-none-any.whl") -> pathlib.Path:
    path = directory / name
    with zipfile.ZipFile(path, "w") as archive:
        for member, content in members.items():
            archive.writestr(member, content)
    return path


def source_archive(directory: pathlib.Path, members: dict[str, bytes]) -> pathlib.Path:
    path = directory / "demo-1.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        for member, content in members.items():
            info = tarfile.TarInfo(member)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return path


class WheelsTest(unittest.TestCase):
    def setUp(self):
        scratch = self.enterContext(tempfile.TemporaryDirectory())
        self.archives = pathlib.Path(scratch, "archives")
        self.root = pathlib.Path(scratch, "root")
        self.archives.mkdir()

    def _made(self) -> set[str]:
        return {str(p.relative_to(self.root)) for p in self.root.rglob("*") if p.is_file()}

    def test_modules_and_data_of_the_wheel(self):
        count = wheels.unpack_wheel(
            wheel(
                self.archives,
                {
                    "demo/__init__.py": b"x = 1\n",
                    "demo/data.txt": b"d",
                    "demo-1.data/purelib/other.py": b"",
                    "demo-1.data/scripts/demo": b"#!python",
                    "demo-1.data/scripts/native": b"\x7fELF program",
                    "mypy/typeshed/os.pyi": b"",
                    "demo-1.dist-info/METADATA": b"m",
                },
            ),
            self.root,
        )
        self.assertEqual(
            self._made(),
            {
                "site/bin/native",
                "site/demo/__init__.py",
                "site/demo/data.txt",
                "site/mypy/typeshed/os.pyi",
                "site/other.py",
                "site/demo-1.dist-info/METADATA",
            },
        )
        self.assertEqual(count, 6)
        self.assertEqual((self.root / "site/bin/native").read_bytes(), b"\x7fELF program")
        self.assertEqual((self.root / "site/demo/__init__.py").read_bytes(), b"x = 1\n")
        self.assertEqual((self.root / "site/other.py").stat().st_mtime, wheels.TIME_STAMP)

    def test_left_out(self):
        wheels.unpack_wheel(
            wheel(
                self.archives,
                {
                    "demo/tests/test_a.py": b"",
                    "demo/a.h": b"",
                    "demo/a.pyi": b"",
                    "demo/__pycache__/a.cpython-311.pyc": b"",
                    "demo/BUILD": b"",
                    "demo-1.dist-info/RECORD": b"",
                    "demo-1.dist-info/direct_url.json": b"",
                    "demo/kept.py": b"",
                },
            ),
            self.root,
        )
        self.assertEqual(self._made(), {"site/demo/kept.py"})

    def test_tensorflow_keeps_its_tests_and_gives_its_headers_away(self):
        wheels.unpack_wheel(
            wheel(
                self.archives,
                {
                    "tensorflow/_api/v2/tests/__init__.py": b"",
                    "tensorflow/include/Eigen/Core.h": b"h",
                    "tensorflow/xla_aot_runtime_src/a.cc": b"c",
                },
            ),
            self.root,
        )
        self.assertEqual(
            self._made(),
            {
                "site/tensorflow/_api/v2/tests/__init__.py",
                "tensorflow_include/Eigen/Core.h",
                "xla_aot_runtime_src/a.cc",
            },
        )

    def test_a_member_that_climbs_out(self):
        for name in ("../evil.py", "/evil.py", "a/../../evil.py"):
            with self.assertRaisesRegex(WheelError, "demo-1-py3-none-any.whl: member .* lies outside .* do not use"):
                wheels.unpack_wheel(wheel(self.archives, {name: b""}), self.root)

    def test_damaged(self):
        path = self.archives / "demo-1-py3-none-any.whl"
        path.write_bytes(b"PK\x03\x04 no archive")
        with self.assertRaisesRegex(WheelError, r"demo-1-py3-none-any.whl: damaged .*pip cache purge"):
            wheels.unpack_wheel(path, self.root)

    def test_encrypted_and_of_unknown_compression(self):
        path = wheel(self.archives, {"demo.data": b"content"})
        content = path.read_bytes()
        wheels.unpack_wheel(path, self.root)
        place = content.index(b"PK\x01\x02")
        for offset, wrong in ((8, "is encrypted"), (10, "compression method")):
            path.write_bytes(content[: place + offset] + b"\x01" + content[place + offset + 1 :])
            with self.assertRaisesRegex(WheelError, f"demo-1-py3-none-any.whl: damaged .*{wrong}.*pip cache purge"):
                wheels.unpack_wheel(path, self.root)

    def test_source_archive_gives_its_packages_only(self):
        count = wheels.unpack_source(
            source_archive(
                self.archives,
                {
                    "demo-1/setup.py": b"raise SystemExit",
                    "demo-1/demo/__init__.py": b"",
                    "demo-1/demo/sub/a.py": b"",
                    "demo-1/tests/__init__.py": b"",
                },
            ),
            self.root,
        )
        self.assertEqual(self._made(), {"site/demo/__init__.py", "site/demo/sub/a.py"})
        self.assertEqual(count, 2)

    def test_source_archive_without_a_package(self):
        with self.assertRaisesRegex(WheelError, "demo-1.tar.gz: holds no Python package; take a wheel"):
            wheels.unpack_source(source_archive(self.archives, {"demo-1/setup.py": b""}), self.root)


if __name__ == "__main__":
    unittest.main()
