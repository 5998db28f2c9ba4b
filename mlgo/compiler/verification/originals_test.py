"""Where a module's original object is, in each kind of build."""

import pathlib
import tempfile
import unittest

from mlgo.compiler.verification.originals import finder, original_object

NATIVE, BITCODE = b"\x7fELF...", b"BC\xc0\xde..."


def ar(*members: tuple[str, bytes]) -> bytes:
    archive = b"!<arch>\n"
    for name, content in members:
        archive += f"{name + '/':<16}{0:<12}{0:<6}{0:<6}{644:<8}{len(content):<10}`\n".encode()
        archive += content + b"\n" * (len(content) % 2)
    return archive


class OriginalObjectTest(unittest.TestCase):
    def setUp(self):
        self.build = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def write(self, name: str, content: bytes) -> pathlib.Path:
        path = self.build / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        return path

    def test_object_of_the_same_name(self):
        self.write("a b/it's (1).o", NATIVE)
        self.assertEqual(original_object(self.build, "a b/it's (1).o"), NATIVE)
        self.assertEqual(finder(self.build)("a b/it's (1).o"), NATIVE)
        self.assertIsNone(finder(self.build)("a b/other.o"))
        self.assertIsNone(original_object(self.build, "nowhere/other.o"))

    def test_local_thinlto(self):
        self.write("d/x.o", BITCODE)
        self.assertIsNone(original_object(self.build, "d/x.o"))
        self.write("d/app.lto.x.o", NATIVE)
        self.write("d/app.lto.xx.o", b"another")
        self.assertEqual(original_object(self.build, "d/x.o"), NATIVE)
        self.write("d/lib y.a", ar(("z.o", BITCODE)))
        self.assertIsNone(original_object(self.build, "d/lib y.a(z.o at 8)"))
        self.write("d/app.lto.lib y.a(z.o at 8).o", NATIVE)
        self.assertEqual(original_object(self.build, "d/lib y.a(z.o at 8)"), NATIVE)

    def test_member_of_an_archive(self):
        self.write("lib/all (1).a", ar(("a (2).o", NATIVE), ("b.o", b"\x7fELF second"), ("b.o", b"\x7fELF third!")))
        self.assertEqual(original_object(self.build, "lib/all (1).a(a (2).o)"), NATIVE)
        place = 8 + 60 + len(NATIVE) + len(NATIVE) % 2 + 60 + len("?ELF second") + 1
        self.assertEqual(original_object(self.build, f"lib/all (1).a(b.o at {place})"), b"\x7fELF third!")
        self.assertIsNone(original_object(self.build, "lib/all (1).a(c.o)"))
        self.write("broken.a", b"!<arch>\nnonsense" * 9)
        self.assertIsNone(original_object(self.build, "broken.a(c.o)"))

    def test_two_programs_of_one_object(self):
        self.write("x.o", BITCODE)
        self.write("one.lto.x.o", NATIVE)
        self.write("two.lto.x.o", NATIVE)
        self.assertIsNone(original_object(self.build, "x.o"))
