from mlgo.compiler.verification.originals import finder, original_object
from mlgo.run.testing.folder_case import FolderCase

NATIVE, BITCODE = b"\x7fELF...", b"BC\xc0\xde..."


def ar(*members: tuple[str, bytes]) -> bytes:
    archive = b"!<arch>\n"
    for name, content in members:
        archive += f"{name + '/':<16}{0:<12}{0:<6}{0:<6}{644:<8}{len(content):<10}`\n".encode()
        archive += content + b"\n" * (len(content) % 2)
    return archive


class OriginalObjectTest(FolderCase):
    def test_object_of_the_same_name(self):
        self.file("a b/it's (1).o", NATIVE)
        self.assertEqual(original_object(self.folder, "a b/it's (1).o"), NATIVE)
        self.assertEqual(finder(self.folder)("a b/it's (1).o"), NATIVE)
        self.assertIsNone(finder(self.folder)("a b/other.o"))
        self.assertIsNone(original_object(self.folder, "nowhere/other.o"))

    def test_local_thinlto(self):
        self.file("d/x.o", BITCODE)
        self.assertIsNone(original_object(self.folder, "d/x.o"))
        self.file("d/app.lto.x.o", NATIVE)
        self.file("d/app.lto.xx.o", b"another")
        self.assertEqual(original_object(self.folder, "d/x.o"), NATIVE)
        self.file("d/lib y.a", ar(("z.o", BITCODE)))
        self.assertIsNone(original_object(self.folder, "d/lib y.a(z.o at 8)"))
        self.file("d/app.lto.lib y.a(z.o at 8).o", NATIVE)
        self.assertEqual(original_object(self.folder, "d/lib y.a(z.o at 8)"), NATIVE)

    def test_member_of_an_archive(self):
        self.file("lib/all (1).a", ar(("a (2).o", NATIVE), ("b.o", b"\x7fELF second"), ("b.o", b"\x7fELF third!")))
        self.assertEqual(original_object(self.folder, "lib/all (1).a(a (2).o)"), NATIVE)
        place = 8 + 60 + len(NATIVE) + len(NATIVE) % 2 + 60 + len("?ELF second") + 1
        self.assertEqual(original_object(self.folder, f"lib/all (1).a(b.o at {place})"), b"\x7fELF third!")
        self.assertIsNone(original_object(self.folder, "lib/all (1).a(c.o)"))
        self.file("broken.a", b"!<arch>\nnonsense" * 9)
        self.assertIsNone(original_object(self.folder, "broken.a(c.o)"))

    def test_two_programs_of_one_object(self):
        self.file("x.o", BITCODE)
        self.file("one.lto.x.o", NATIVE)
        self.file("two.lto.x.o", NATIVE)
        self.assertIsNone(original_object(self.folder, "x.o"))
