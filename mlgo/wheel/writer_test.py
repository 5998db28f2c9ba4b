import base64
import hashlib
import zipfile

from mlgo.run.testing.folder_case import FolderCase
from mlgo.wheel import writer

INFORMATION = "mlgo-1.2.dist-info"


class WriterTest(FolderCase):
    def setUp(self):
        super().setUp()
        self.contents = {"mlgo/a.py": b"x = 1\n", "mlgo/b/tool": b"\x7fELF rest", "mlgo/b/data.json": b"{}"}

    def write(self, name, order=1):
        members = []
        for path, content in list(self.contents.items())[::order]:
            members.append(f"--member={path}={self.file(path.replace('/', '_'), content, 0o755)}")
        licence = self.file("LICENSE", "all rights\n")
        output = self.folder / name
        arguments = ["--name=mlgo", "--version=1.2", "--python=>=3.11", "--tag=py3-none-any", "--requires=numpy>=2"]
        arguments += ["--script=mlgo-do=mlgo.a:run", f"--licence={licence}", f"--output={output}"]
        self.assertEqual(writer.main([*arguments, *members]), 0)
        return output

    def test_every_file_is_recorded(self):
        with zipfile.ZipFile(self.write("mlgo.whl")) as archive:
            record = archive.read(f"{INFORMATION}/RECORD").decode().splitlines()
            rows = dict(row.split(",", 1) for row in record)
            self.assertEqual(sorted(rows), sorted(archive.namelist()))
            self.assertEqual(rows.pop(f"{INFORMATION}/RECORD"), ",")
            for path, row in rows.items():
                content = archive.read(path)
                digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
                self.assertEqual(row, f"sha256={digest},{len(content)}")
            for path, content in self.contents.items():
                self.assertEqual(archive.read(path), content)

    def test_programs_alone_are_executable(self):
        with zipfile.ZipFile(self.write("mlgo.whl")) as archive:
            programs = [entry.filename for entry in archive.infolist() if entry.external_attr >> 16 & 0o111]
        self.assertEqual(programs, ["mlgo/b/tool"])

    def test_metadata(self):
        with zipfile.ZipFile(self.write("mlgo.whl")) as archive:
            text = archive.read(f"{INFORMATION}/METADATA").decode()
            self.assertIn("Name: mlgo\nVersion: 1.2\n", text)
            self.assertIn("\nRequires-Python: >=3.11\nRequires-Dist: numpy>=2\n", text)
            self.assertIn("\nTag: py3-none-any\n", archive.read(f"{INFORMATION}/WHEEL").decode())
            scripts = archive.read(f"{INFORMATION}/entry_points.txt").decode()
            self.assertEqual(scripts, "[console_scripts]\nmlgo-do = mlgo.a:run\n")

    def test_the_same_bytes_again(self):
        self.assertEqual(self.write("one.whl").read_bytes(), self.write("two.whl", order=-1).read_bytes())
