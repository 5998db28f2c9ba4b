import unittest

from tests.your_project import page

_PAGE = """# Title

Text before.

    first "$A"

CMake:

    cmake \\
        -B b
    cat > f <<END
    {"a": 1}

    b
    END
    ninja

Last words:

    for all
"""


class BlocksTest(unittest.TestCase):
    def test_blocks_with_labels_and_whole_commands(self):
        self.assertEqual(
            page.blocks(_PAGE),
            [
                page.Block(None, ('first "$A"',)),
                page.Block("CMake", ("cmake \\\n    -B b", 'cat > f <<END\n{"a": 1}\n\nb\nEND', "ninja")),
                page.Block(None, ("for all",)),
            ],
        )

    def test_a_block_that_ends_within_a_command(self):
        for lines in ("    a \\\n", "    cat <<END\n    x\n"):
            with self.assertRaisesRegex(ValueError, "the block ends within the command"):
                page.blocks(f"T\n\n{lines}")


if __name__ == "__main__":
    unittest.main()
