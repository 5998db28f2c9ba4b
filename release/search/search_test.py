"""A release clang that searches for better inlining decisions in each compile."""

import concurrent.futures
import pathlib
import re
import resource
import subprocess
import tempfile
import unittest

from mlgo.problems.problem import load_problem
from mlgo.run.locate import runfile

CLANG, OPT = "release/clang", "release/opt"
POLICY_ON = load_problem("inlining_for_size").release_flags()
#: Otherwise the default decides in `made.c` as the policy does.
KEEP_BY_DEFAULT = ["-mllvm", "-inline-threshold=-100"]
_FAMILIES = 6


def search_flags(tries: int) -> list[str]:
    return ["-mllvm", f"-mlgo-search={tries}"]


def c_source(attribute: str = "") -> str:
    """Helpers of few instructions but many bytes, which the default inlines, and others that fold in each call."""
    source = ["extern int data[]; extern volatile int port[];"]
    for n in range(_FAMILIES):
        cases = " ".join(f"case {k}: return data[{n + k}] * {k + 3} + x;" for k in range(6))
        stores = " ".join(f"port[{8 * n + k}] = {0x12345678 + k};" for k in range(4))
        source += [
            f"static {attribute} int fold{n}(int which, int x) {{ switch (which) {{ {cases} }} return x; }}",
            f"static {attribute} void long{n}(void) {{ {stores} }}",
        ]
        for k in range(5):
            folded = f"fold{n}({k}, x) + fold{n}({k + 1}, x)"
            frame = "volatile char room[256]; room[x & 255] = 1;"
            source.append(f"{attribute} int caller{n}_{k}(int x) {{ {frame} long{n}(); return {folded}; }}")
    return "\n".join(source) + "\n"


class SearchTest(unittest.TestCase):
    folder: pathlib.Path

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        (cls.folder / "one.h").write_text("#define ONE 1\n")
        (cls.folder / "made.c").write_text('#include "one.h"\n' + c_source())
        (cls.folder / "fast.c").write_text(c_source())
        (cls.folder / "mixed.c").write_text(c_source("__attribute__((minsize))") + "int fast(int x) { return x; }\n")
        (cls.folder / "alone.c").write_text("int f(int x) { return x; }\nint g(int x) { return x + 1; }\n")
        (cls.folder / "data.c").write_text("int data[100] = {1};\n")

    def run_clang(self, *words: str, **more) -> subprocess.CompletedProcess:
        return subprocess.run(
            [runfile(CLANG), *words], cwd=self.folder, capture_output=True, timeout=600, check=False, **more
        )

    def compiled(
        self, *words: str, source: str = "made.c", level: str = "-Oz", action: str = "-c", **more
    ) -> tuple[bytes, str]:
        """(output, stderr) of a compile that must succeed. Its output is a pipe, so no temporary file takes part."""
        done = self.run_clang(level, *words, action, source, "-o", "-", **more)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout, done.stderr.decode()

    def object(self, *words: str, **more) -> bytes:
        content, said = self.compiled(*words, **more)
        self.assertEqual(said, "")
        return content

    def bytes_of(self, content: bytes) -> int:
        """The bytes of code in an object file, by its section table."""
        tool = runfile(CLANG).resolve().with_name("llvm-size")
        done = subprocess.run([tool, "-A", "-"], input=content, capture_output=True, check=True, timeout=60)
        return sum(int(size) for size in re.findall(rb"^\.text\S*\s+(\d+)", done.stdout, re.MULTILINE))

    def test_the_object_is_smaller(self):
        least = min(self.bytes_of(self.object()), self.bytes_of(self.object(*POLICY_ON)))
        sizes = [self.bytes_of(self.object(*search_flags(tries))) for tries in (2, 4, 8, 16)]
        for size in sizes:
            self.assertLessEqual(size, least)
        self.assertLess(sizes[2], least)

    def test_the_object_is_that_of_a_compile_with_these_decisions(self):
        taken = ["-mllvm", "-mlgo-decisions-taken=taken"]
        for tries in (8, 16):
            searched = self.object(*search_flags(tries))
            self.assertEqual(self.object(*search_flags(tries), *taken), searched)
            self.assertEqual(self.object("-mllvm", "-mlgo-decisions=taken"), searched)
            (self.folder / "taken").unlink()

    def test_a_released_compile_that_is_the_best_is_that_compile(self):
        for source in ("alone.c", "made.c"):
            plain = [self.object(source=source), self.object(*POLICY_ON, source=source)]
            self.assertIn(self.object(*search_flags(2), source=source), plain)
        self.assertEqual(self.object(*search_flags(8), source="alone.c"), self.object(source="alone.c"))

    def test_a_remark_says_what_the_search_did(self):
        for tries in (2, 8):
            content, said = self.compiled(*search_flags(tries), "-Rpass=mlgo-search")
            self.assertEqual(content, self.object(*search_flags(tries)))
            after, before, compiles = re.findall(
                r"remark: made.c: (\d+) bytes of code, by default (\d+); (\d+) compiles \[-Rpass=mlgo-search\]", said
            )[0]
            self.assertEqual(said.count("remark:"), 1)
            self.assertEqual(int(after), self.bytes_of(content))
            self.assertEqual(int(before), self.bytes_of(self.object()))
            self.assertLessEqual(int(compiles), tries + 1)

    def test_two_compiles_give_the_smaller_one(self):
        """Whichever of the two is expected to be smaller, and generated first."""
        for source, words in (("made.c", []), ("made.c", KEEP_BY_DEFAULT), ("alone.c", [])):
            plain = [self.object(*words, source=source), self.object(*POLICY_ON, *words, source=source)]
            searched = self.object(*search_flags(2), *words, source=source)
            self.assertEqual(searched, min(plain, key=self.bytes_of))

    def test_where_both_decide_alike_there_is_one_compile(self):
        (self.folder / "alike.c").write_text(
            "static int once(int x) { return x * 3; }\n"
            "int f(int x) { return once(x); }\n"
            "int g(int x) { return f(x); }\n"
        )
        for source, words, compiles in (("alone.c", [], 1), ("alike.c", [], 1), ("made.c", KEEP_BY_DEFAULT, 2)):
            content, said = self.compiled(*search_flags(2), *words, "-Rpass=mlgo-search", source=source)
            plain = [self.object(*words, *policy, source=source) for policy in ([], POLICY_ON)]
            size, by_default = self.bytes_of(content), self.bytes_of(plain[0])
            self.assertIn(f"remark: {source}: {size} bytes of code, by default {by_default}; {compiles} compiles", said)
            self.assertEqual([content == one for one in plain].count(True), 3 - compiles)

    def test_two_compiles_for_speed_and_size(self):
        """Where not all functions are minsize, the default leaves analyses that the policy's compile does not have."""
        for source, level in (("made.c", "-Os"), ("mixed.c", "-O2"), ("mixed.c", "-Oz")):
            for words in ([], KEEP_BY_DEFAULT):
                plain = [self.object(*words, *policy, source=source, level=level) for policy in ([], POLICY_ON)]
                searched = self.object(*search_flags(2), *words, source=source, level=level)
                self.assertIn(searched, plain)
                self.assertEqual(self.bytes_of(searched), min(map(self.bytes_of, plain)), (source, level))

    def test_jumps_to_near_functions_are_counted(self):
        near = "\n".join(
            f"static __attribute__((noinline)) int t{n}(int x) {{ return h{n}(x) + {n}; }}\n"
            f"int u{n}(int x) {{ port[{n}] = x; return t{n}(x + {n}); }}"
            for n in range(8)
        )
        helpers = "\n".join(f"static int h{n}(int x) {{ return port[x] * {n + 3} + port[{n}]; }}" for n in range(8))
        (self.folder / "near.c").write_text(f"extern volatile int port[];\n{helpers}\n{near}\n{c_source()}")
        searched, said = self.compiled(*search_flags(8), "-Rpass=mlgo-search", source="near.c")
        self.assertEqual(int(re.findall(r"near.c: (\d+) bytes", said)[0]), self.bytes_of(searched))

    def test_one_try_is_no_search(self):
        self.assertEqual(self.object(*search_flags(1)), self.object())
        self.assertEqual(self.object(*search_flags(1), *POLICY_ON), self.object(*POLICY_ON))

    def test_the_start_is_the_same_with_the_policy_on(self):
        self.assertEqual(self.object(*search_flags(4)), self.object(*search_flags(4), *POLICY_ON))

    def test_equal_objects_side_by_side(self):
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            objects = set(pool.map(lambda _: self.object(*search_flags(8)), range(4)))
        self.assertEqual(len(objects), 1)

    def test_outputs_and_messages_of_one_compile(self):
        words = ["-Oz", "-c", "made.c", "-Wframe-larger-than=16", "-g", "-gsplit-dwarf", "-fstack-usage"]
        outputs = ["made.o", "made.d", "made.dwo", "made.su"]
        made = []
        for flags in ([], search_flags(8)):
            done = self.run_clang(*words, "-MD", "-MF", "made.d", "-o", "made.o", *flags)
            self.assertEqual(done.returncode, 0, done.stderr)
            made.append((done.stderr.decode(), {name: (self.folder / name).read_bytes() for name in outputs}))
            for name in outputs:
                (self.folder / name).unlink()
        (said, files), (said_searching, files_searching) = made
        self.assertEqual(files_searching["made.d"], files["made.d"])
        self.assertIn(b"one.h", files["made.d"])
        # Each function has its message once, whichever functions are left.
        functions = re.findall(r"warning: stack frame size .* in '(\w+)'", said_searching)
        self.assertGreater(len(functions), _FAMILIES)
        self.assertEqual(len(functions), len(set(functions)))
        self.assertEqual(sorted(functions), sorted(re.findall(r"limit .* in '(\w+)'", said)))
        usage = files_searching["made.su"].splitlines()
        self.assertEqual(len(usage), len(set(usage)))
        self.assertGreaterEqual(len(usage), len(functions))
        self.assertNotEqual(files_searching["made.o"], files["made.o"])
        self.assertTrue(files_searching["made.dwo"].startswith(b"\x7fELF"))

    def test_nothing_is_left_behind(self):
        before = sorted(self.folder.iterdir())
        self.object(*search_flags(4))
        self.assertEqual(sorted(self.folder.iterdir()), before)

    def test_standard_input(self):
        source = (self.folder / "fast.c").read_bytes()
        from_file = self.object(*search_flags(4), source="fast.c")
        from_input = self.object("-xc", *search_flags(4), source="-", input=source)
        self.assertEqual(self.bytes_of(from_input), self.bytes_of(from_file))

    def test_a_search_writes_no_file(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))

        self.assertEqual(self.object(*search_flags(4), preexec_fn=limit), self.object(*search_flags(4)))

    def test_a_first_try_that_fails_is_told_as_without_search(self):
        (self.folder / "bad.c").write_text(
            'int f(int x) { int y; __asm__("bogus %0, %1" : "=r"(y) : "r"(x)); return y; }\n'
            "int g(int x) { return f(x) + f(x + 1); }\n"
        )
        plain = self.run_clang("-Oz", "-c", "bad.c", "-o", "bad.o")
        done = self.run_clang("-Oz", "-c", "bad.c", "-o", "bad.o", *search_flags(4))
        self.assertNotEqual(plain.returncode, 0)
        self.assertEqual((done.returncode, done.stderr), (plain.returncode, plain.stderr))
        self.assertFalse((self.folder / "bad.o").exists())

    def test_an_error_is_reported_once(self):
        done = self.run_clang("-Oz", "-c", "made.c", "-o", "-", "-Wframe-larger-than=16", "-Werror", *search_flags(4))
        self.assertNotEqual(done.returncode, 0)
        functions = re.findall(r"error: stack frame size .* in '(\w+)'", done.stderr.decode())
        self.assertEqual(len(functions), len(set(functions)))
        self.assertTrue(functions)

    def test_functions_for_speed_are_not_searched(self):
        content, said = self.compiled(*search_flags(4), source="fast.c", level="-O2")
        self.assertEqual(content, self.object(source="fast.c", level="-O2"))
        self.assertEqual(said.count("warning: -mlgo-search: has no effect, because fast.c has no function"), 1)
        self.assertEqual(
            self.object(*search_flags(4), source="data.c", level="-O2"), self.object(source="data.c", level="-O2")
        )

    def test_functions_without_a_name(self):
        listing = self.object("-emit-llvm", "-Xclang", "-disable-llvm-passes", action="-S").decode()
        # All others stay behind it: numbers begin with 0.
        listing = re.sub(r"@caller0_0\b", "@0", listing) + "@table = global ptr @0\n"
        (self.folder / "unnamed.ll").write_text(listing)
        plain = self.object(source="unnamed.ll")
        self.assertEqual(self.object(*search_flags(2), source="unnamed.ll"), plain)
        content, said = self.compiled(*search_flags(4), source="unnamed.ll")
        self.assertEqual(content, plain)
        self.assertEqual(said.count("warning: -mlgo-search: has no effect, because"), 1)
        self.assertIn("has a function without a name", said)

    def test_functions_for_size_in_a_module_for_speed(self):
        searched = self.bytes_of(self.object(*search_flags(8), source="mixed.c", level="-O2"))
        self.assertLess(searched, self.bytes_of(self.object(source="mixed.c", level="-O2")))

    def test_other_outputs_are_those_without_search(self):
        for words in (["-flto"], ["-flto=thin"]):
            content, said = self.compiled(*words, *search_flags(4))
            self.assertEqual(content, self.object(*words), words)
            self.assertEqual(said.count("warning: -mlgo-search: has no effect, because the linker makes the code"), 1)
        content, said = self.compiled("-Xclang", "-emit-llvm-only", *search_flags(4))
        self.assertEqual(content, b"")
        self.assertEqual(said.count("warning: -mlgo-search: has no effect, because this compile makes no code"), 1)
        self.assertEqual(self.object(*search_flags(4), action="-fsyntax-only"), b"")

    def test_assembly_has_the_same_code(self):
        searched, plain = self.bytes_of(self.object(*search_flags(8))), self.bytes_of(self.object())
        (self.folder / "made.s").write_bytes(self.object(*search_flags(8), action="-S"))
        self.assertEqual(self.bytes_of(self.compiled(source="made.s")[0]), searched)
        self.assertNotEqual(searched, plain)
        done = self.run_clang("-Oz", "-c", "-save-temps", *search_flags(8), "made.c", "-o", "saved.o")
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertEqual(self.bytes_of((self.folder / "saved.o").read_bytes()), searched)

    def test_bitcode_is_optimised_with_the_same_decisions(self):
        searched = self.object(*search_flags(8))
        (self.folder / "made.bc").write_bytes(self.object("-emit-llvm", *search_flags(8)))
        self.assertEqual(self.object("-Xclang", "-disable-llvm-passes", source="made.bc"), searched)
        (self.folder / "made.ll").write_bytes(self.object("-emit-llvm", *search_flags(8), action="-S"))
        self.assertEqual(self.object("-Xclang", "-disable-llvm-passes", source="made.ll"), searched)
        self.assertEqual(
            self.object("-emit-llvm", *search_flags(4), source="data.c"), self.object("-emit-llvm", source="data.c")
        )

    def test_refused(self):
        for words, wanted in (
            (search_flags(0), "error: -mlgo-search: 0 compiles write no object. Give 1 or more"),
            ([*search_flags(4), "-mllvm", "-mlgo-decisions=none"], "error: -mlgo-search: -mlgo-decisions has taken"),
        ):
            done = self.run_clang("-Oz", "-c", "made.c", "-o", "made.o", *words)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(wanted, done.stderr.decode())
            self.assertFalse((self.folder / "made.o").exists())

    def test_other_programs_do_not_know_the_option(self):
        linker = str(runfile(CLANG).resolve().with_name("ld.lld"))
        for command in ([str(runfile(OPT)), "-mlgo-search=4", "/dev/null"], [linker, "-mllvm", "-mlgo-search=4"]):
            done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn("Unknown command line argument '-mlgo-search=4'", done.stderr)


if __name__ == "__main__":
    unittest.main()
