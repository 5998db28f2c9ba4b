from mlgo.corpus.extraction import licences
from mlgo.run.testing.folder_case import FolderCase


class LicencesTest(FolderCase):
    def test_expressions(self):
        for text, expected in (
            (b"// SPDX-License-Identifier: MIT\nint x;", "MIT"),
            (
                b"/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */",
                "GPL-2.0-only WITH Linux-syscall-note",
            ),
            (b"# SPDX-License-Identifier:\t(MIT OR Apache-2.0) \r\n", "(MIT OR Apache-2.0)"),
            (b"<!-- SPDX-License-Identifier: LicenseRef-x.y+ -->", "LicenseRef-x.y+"),
            (b"// SPDX-License-Identifier: \xff\n", None),
            (b"int x;", None),
        ):
            self.assertEqual(licences.expression_in(text), expected, text)

    def test_flags(self):
        for text in ("MIT", "Apache-2.0 WITH LLVM-exception", "NOASSERTION", "(MIT OR BSD-3-Clause)"):
            self.assertTrue(licences.is_expression(text), text)
        for text in ("", " ", "MIT*/", "<b>", "MIT; rm"):
            self.assertFalse(licences.is_expression(text), text)

    def test_files(self):
        source = self.file("a.c", "\n" * 100 + "// SPDX-License-Identifier: Zlib\n")
        self.assertEqual(licences.of_source(str(source)), "Zlib")
        self.assertIsNone(licences.of_source(str(source.parent / "absent.c")))
        self.assertIsNone(licences.of_source("a\0b"))
