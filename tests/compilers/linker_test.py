"""The linker of a release clang writes the packaged linker's images; link-time optimisation asks its policies."""

import pathlib
import subprocess
import tempfile
import unittest

from mlgo.problems.problem import load_problem
from mlgo.run.locate import runfile

KINDS = ("", "-flto=thin", "-flto")
RELEASE = ("release/clang.llvm/bin/ld.lld",)
ALONE = ("release/lld",)
# Under this name lld does not know whose linker it stands for.
PACKAGED = ("tests/compilers/packaged_ld.lld", "-flavor", "gnu")
OBJCOPY = "release/clang.llvm/bin/llvm-objcopy"
POLICY_ON = load_problem("regalloc_eviction").release_flags()
_VALUES = 24


def c_source(name: str) -> str:
    """A function `name` with a loop in which more values are live than there are registers."""
    values = [f"v{n}" for n in range(_VALUES)]
    first = " ".join(f"unsigned {value} = data[{n}];" for n, value in enumerate(values))
    inside = " ".join(f"v{n} += v{(7 * n + 3) % _VALUES} ^ (v{(5 * n + 1) % _VALUES} >> 3);" for n in range(_VALUES))
    result = " ^ ".join(values)
    return f"unsigned {name}(unsigned *data, unsigned n) {{ {first} while (n--) {{ {inside} }} return {result}; }}\n"


class LinkerTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def run_tool(self, program: str, *arguments: str) -> None:
        done = subprocess.run(
            [runfile(program), *arguments], cwd=self.folder, capture_output=True, text=True, timeout=300, check=False
        )
        self.assertEqual((done.returncode, done.stdout + done.stderr), (0, ""), program)

    def compile_sources(self, kind: str) -> None:
        for name in ("first", "second"):
            (self.folder / f"{name}.c").write_text(c_source(name))
            self.run_tool("release/clang", "-O2", "-fPIC", *kind.split(), "-c", f"{name}.c")

    def linked(self, linker: tuple[str, ...], *flags: str) -> tuple[bytes, bytes]:
        """(the image without the section that names the linker, this section)."""
        program, *flavour = linker
        self.run_tool(program, *flavour, "-shared", *flags, "first.o", "second.o", "-o", "image")
        self.run_tool(OBJCOPY, "--dump-section=.comment=comment", "image")
        self.run_tool(OBJCOPY, "--remove-section=.comment", "image")
        return (self.folder / "image").read_bytes(), (self.folder / "comment").read_bytes()

    def test_images_are_those_of_the_packaged_linker(self):
        for kind in KINDS:
            with self.subTest(kind or "plain"):
                self.compile_sources(kind)
                wanted, packaged_comment = self.linked(PACKAGED)
                found, comment = self.linked(RELEASE)
                self.assertIs(found == wanted, True)
                # The vendor of the packaged linker is not ours. Merged strings come in the order of hashes.
                named = packaged_comment.replace(b"Linker: Debian LLD", b"Linker: LLD")
                self.assertEqual(sorted(comment.split(b"\0")), sorted(named.split(b"\0")))
                self.assertNotEqual(comment, packaged_comment)

    def test_link_time_optimisation_asks_the_policy(self):
        for kind in KINDS[1:]:
            with self.subTest(kind):
                self.compile_sources(kind)
                without, with_policy = (self.linked(RELEASE, *flags)[0] for flags in ((), POLICY_ON))
                self.assertIs(with_policy == without, False)

    def test_the_linker_without_clang_is_the_same(self):
        names = [
            runfile(program).parent / "ld.lld"
            for program in ("release/clang.llvm/bin/clang", "release/lld.llvm/bin/ld.lld")
        ]
        said = [subprocess.run([name, "--version"], capture_output=True, check=True).stdout for name in names]
        self.assertIn(b"policy: regalloc_eviction", said[0])
        self.assertEqual(said[0], said[1])
        self.compile_sources("-flto=thin")
        self.assertEqual(self.linked(ALONE, *POLICY_ON), self.linked(RELEASE, *POLICY_ON))
        self.run_tool("release/lld.llvm/bin/llvm-ar", "rcs", "both.a", "first.o", "second.o")
        listed = subprocess.run(
            [runfile("release/lld.llvm/bin/llvm-nm"), "both.a"], cwd=self.folder, capture_output=True, check=True
        )
        self.assertIn(b" T second", listed.stdout)


if __name__ == "__main__":
    unittest.main()
