"""bin/mlgo of the tarball in front of a build: its outputs are those of the compiler, and what it measures is true."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

from mlgo.corpus.elf import CODE_FLAGS, ElfFile
from mlgo.run.locate import runfile
from release.packaging.testing import machine

#: Of the LLVM that the compiler is made of: "22.1.8".
VERSION = os.environ["LLVM_VERSION"]

#: Several folders, parallel compiles, three spellings of -o, an archive found by -l, a response file and a source that
#: are deleted, assembly, a source given to a link.
BUILD = """set -e
flags="--sysroot=$ROOT -O2"
mkdir -p out/lib
cc $flags -c lib/a.c -o out/lib/a.o & first=$!
cc $flags -MD -MF out/b.d -c lib/b.c -oout/lib/b.o & second=$!
wait $first
wait $second
(cd out/lib && gcc $flags -c ../../lib/c.c)
cp lib/c.c temporary.c
cc $flags -Dextra=temporary -c temporary.c --output=out/temporary.o
rm temporary.c
cc $flags -c start.S -o out/start.o
llvm-ar rcs out/libx.a out/lib/a.o out/lib/b.o out/lib/c.o
cc $flags -c 'main file.c' -o 'out/main file.o'
printf '%s\\n' '"out/main file.o"' out/start.o out/temporary.o > out/link.rsp
cc $flags -static -fuse-ld=lld @out/link.rsp -Lout -lx -o out/program
rm out/link.rsp
cc $flags -shared -fPIC -nostdlib -fuse-ld=lld shared.c -o out/libshared.so
"""
SOURCES = {
    "build.sh": BUILD,
    "lib/a.c": """static int sum(int *x, int n) { int s = 0; for (int i = 0; i < n; i++) s += x[i] * 3; return s; }
int a(int *x, int n) { for (int i = 0; i < n; i++) x[i] = x[i] * 2 + n;
    return sum(x, n) + sum(x, n / 2) + sum(x, n / 3); }
int never(int *x, int n) { return sum(x, n) + 7 * n; }
""",
    "lib/b.c": '#include "b.h"\nint b(int x) { return B * x; }\n',
    "lib/b.h": "#define B 4\n",
    "lib/c.c": "#ifndef extra\n#define extra c\n#endif\nint extra(int x) { return x + 1; }\n",
    "main file.c": """int a(int *, int), b(int), c(int), temporary(int), assembled(void);
int main(int n, char **v) { int x[9] = {n, 2, 3}; return (a(x, 9) + b(n) + c(n) + temporary(n) + assembled()) & 63; }
""",
    "start.S": '.globl assembled\nassembled: movl $5, %eax\nret\n.section .note.GNU-stack,"",@progbits\n',
    "shared.c": "int shared(int x) { return 3 * x; }\n",
}
#: Writes what Cachegrind would: as many instructions as the program has bytes.
SIZE = '$(wc -c < "$(command -v "$1")")'
COUNTER = f"""#!/bin/sh
while :; do
    case $1 in
    --cachegrind-out-file=*) out=${{1#*=}} ;;
    -*) ;;
    *) break ;;
    esac
    shift
done
for process in 1 2; do
    printf 'events: Ir Dr Dw\\nsummary: %s 10 5\\n' "{SIZE}" > "${{out%\\%p}}$process"
done
"$@" || [ $? -ge 1 ]
"""


def code_bytes(path):
    """Bytes of executable sections."""
    sections = ElfFile.of_bytes(path.read_bytes()).sections
    return sum(section.size for section in sections if section.flags & CODE_FLAGS == CODE_FLAGS)


class SmallerTest(unittest.TestCase):
    scratch: pathlib.Path
    root: pathlib.Path
    top: pathlib.Path
    count: int

    @classmethod
    def setUpClass(cls):
        cls.scratch = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.root = cls.scratch / "root"
        machine.unpack(runfile("release/packaging/compiler_root.tar.gz"), cls.root)
        machine.unpack(runfile(f"release/packaging/mlgo-clang-{VERSION}.tar.gz"), cls.scratch / "some where")
        (cls.top,) = (cls.scratch / "some where").iterdir()
        cls.count = 0

    def setUp(self):
        type(self).count += 1
        self.project = self.scratch / f"project {self.count}"
        for name, text in SOURCES.items():
            path = self.project / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        self.environment = {"ROOT": str(self.root), "PATH": f"{self.top / 'bin'}:/usr/bin:/bin"}

    def mlgo(self, *arguments, code=0):
        command = [sys.executable, self.top / "bin/mlgo", *arguments]
        done = subprocess.run(
            command, cwd=self.project, env=self.environment, capture_output=True, text=True, timeout=600, check=False
        )
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def outputs(self):
        return {
            str(path.relative_to(self.project)): path.read_bytes()
            for path in (self.project / "out").rglob("*")
            if path.is_file()
        }

    def direct(self):
        """What the script makes with the compiler itself under the names cc and gcc."""
        links = self.scratch / "links"
        links.mkdir(exist_ok=True)
        for name in ("cc", "gcc"):
            if not (links / name).exists():
                (links / name).symlink_to(self.top / "bin/clang")
        path = f"{links}:{self.environment['PATH']}"
        subprocess.run(["sh", "build.sh"], cwd=self.project, env={**self.environment, "PATH": path}, check=True)
        return self.outputs()

    def result(self):
        return json.loads((self.project / "mlgo/mlgo.json").read_text())

    def test_a_build(self):
        expected = self.direct()
        self.assertIn("out/program", expected)
        subprocess.run(["rm", "-r", self.project / "out"], check=True)
        said = self.mlgo("smaller", "--program=program", "--budget=100", "--", "sh", "build.sh")
        self.assertEqual(self.outputs(), expected)
        result = self.result()
        self.assertEqual(result["program"], "out/program")
        self.assertEqual(sorted(result["sources"]), ["lib/a.c", "lib/b.c", "lib/c.c", "main file.c"])
        self.assertEqual(result["as_built"], {"start.S": "is assembly", "temporary.c": "is no longer there"})
        rows = {row["name"]: row for row in result["rows"]}
        left = [row["name"] for row in result["rows"] if row["not_measured"]]
        # Units of a few lines may have no better decisions.
        self.assertIn(left, ([], [name for name in rows if "tuned" in name]), said)
        self.assertEqual(rows["as built"]["bytes"]["code"], code_bytes(self.project / "out/program"))
        chosen = rows[result["chosen"]]["bytes"]
        self.assertLess(chosen["code"], rows["as built"]["bytes"]["code"])
        self.assertLess(chosen["file"], rows["as built"]["bytes"]["file"])
        self.assertIn('--config="$PWD"/mlgo/mlgo.cfg', said)
        self.check_what_was_found(chosen)
        self.check_again()

    def check_what_was_found(self, chosen):
        """The build with mlgo.cfg is the one that was measured, with temporary.c compiled too."""
        self.mlgo("build", "--", "sh", "build.sh")
        built = code_bytes(self.project / "out/program")
        self.assertLessEqual(abs(built - chosen["code"]), 16)
        said = self.mlgo("smaller", "--program=program", code=2)
        self.assertIn("was changed after mlgo smaller had recorded its build", said)
        text = (self.project / "mlgo/mlgo.cfg").read_text()
        self.assertNotIn(str(self.scratch), text + (self.project / "mlgo/toolchain.cmake").read_text())

    def check_again(self):
        """After an edit, only what the edit concerns is compiled."""
        self.mlgo("smaller", "--program=program", "--budget=100", "--", "sh", "build.sh")
        objects = self.project / "mlgo/.cache/objects"
        before = {path.name: path.stat().st_mtime_ns for path in objects.iterdir()}
        (self.project / "lib/b.h").write_text("#define B 5\n")
        self.mlgo("smaller", "--program=program", "--budget=100", "--", "sh", "build.sh")
        after = {path.name: path.stat().st_mtime_ns for path in objects.iterdir()}
        same = [name for name in after if before.get(name) == after[name]]
        self.assertGreaterEqual(len(same), len(before) * 2 // 3)
        self.assertNotEqual(set(before), set(after))
        (self.project / "main file.c").write_text(SOURCES["main file.c"] + "\n")
        self.assertIn("was measured before 1 of 4 sources changed", self.mlgo("build", "--", "true"))

    def test_compilers_by_their_paths(self):
        """What a Makefile or a CMakeCache.txt has. A path with blanks cannot be preloaded."""
        plain = self.scratch / "plain"
        if not plain.exists():
            plain.symlink_to(self.top)
        machine_compiler = self.scratch / "machine/gcc"
        machine_compiler.parent.mkdir(exist_ok=True)
        machine_compiler.write_bytes(pathlib.Path("/bin/false").read_bytes())
        machine_compiler.chmod(0o755)
        (self.project / "build.sh").write_text(BUILD.replace("gcc ", f"{machine_compiler} "))
        command = [sys.executable, str(plain / "bin/mlgo"), "smaller", "--program=program", "--", "sh", "build.sh"]
        done = subprocess.run(
            command, cwd=self.project, env=self.environment, capture_output=True, text=True, timeout=600, check=False
        )
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("lib/c.c", self.result()["sources"])

    def test_a_build_that_is_there_already(self):
        self.direct()
        entries: list[dict[str, str | list[str]]] = [
            {
                "directory": str(self.project),
                "file": name,
                "command": f"cc --sysroot='{self.root}' -O2 -c '{name}' -o {made}",
            }
            for name, made in (("lib/a.c", "out/lib/a.o"), ("lib/b.c", "out/lib/b.o"))
        ]
        entries.append(
            {
                "directory": str(self.project / "out/lib"),
                "arguments": ["gcc", "-O2", "-c", "../../lib/c.c"],
                "file": "c.c",
            }
        )
        (self.project / "compile_commands.json").write_text(json.dumps(entries))
        objects = "'out/main file.o' out/start.o out/temporary.o"
        link = f"cc --sysroot='{self.root}' -static -fuse-ld=lld {objects} -Lout -lx -o out/program"
        before = self.outputs()
        self.mlgo("smaller", "--compile_commands=compile_commands.json", f"--link={link}", "--budget=100")
        self.assertEqual(self.outputs(), before)
        rows = {row["name"]: row for row in self.result()["rows"]}
        self.assertEqual(rows["mlgo's clang, the same options"]["bytes"]["code"], rows["as built"]["bytes"]["code"])
        self.assertLess(rows["-Oz, policy"]["bytes"]["code"], rows["as built"]["bytes"]["code"])
        self.assertEqual(sorted(self.result()["sources"]), ["lib/a.c", "lib/b.c", "lib/c.c"])

    def test_what_a_run_executes(self):
        """With a counter that counts the bytes of the program."""
        self.add_counter(COUNTER)
        said = self.mlgo("faster", "--run=out/program", "--run=sh -c '! \"$0\"' {}", "--", "sh", "build.sh")
        result = self.result()
        self.assertEqual((result["asked"], result["program"]), ("faster", "out/program"))
        first = result["rows"][0]["counts"]
        size = (self.project / "out/program").stat().st_size
        self.assertEqual(first["data references"], 60, said)
        self.assertGreaterEqual(first["instructions"], 2 * size)

    def test_a_profile_of_a_run(self):
        """With a counter to which the program of the fourth count, the one with the profile, executes least."""
        calls = self.scratch / "calls"
        fourth = f"$(echo >> '{calls}'; test $(wc -l < '{calls}') = 4 && echo 5 || echo 9)"
        self.add_counter(
            COUNTER.replace("for process in 1 2; do", f"count={fourth}\nfor process in 1 2; do").replace(SIZE, "$count")
        )
        (self.project / "build.sh").write_text(BUILD.replace("-O2", "-O3"))
        said = self.mlgo("faster", "--budget=100", "--run=sh -c '! \"$0\"' {}", "--", "sh", "build.sh")
        rows = {row["name"]: row for row in self.result()["rows"]}
        self.assertNotIn("-O3", rows)
        for name in ("profile", "profile, ThinLTO"):
            self.assertFalse(rows[name]["not_measured"], said)
            self.assertIn("-fprofile-use=<CFGDIR>/", rows[name]["options"][-1])
        self.assertEqual(self.result()["chosen"], "profile", said)
        self.assertIn("The profile is of the runs that are counted", said)
        (profile,) = (self.project / "mlgo").glob("*.profdata")
        before = code_bytes(self.project / "out/program")
        self.mlgo("build", "--", "sh", "build.sh")
        self.assertLess(code_bytes(self.project / "out/program"), before)
        profile.unlink()
        self.assertIn("Error in reading profile", self.mlgo("build", "--", "sh", "build.sh"))

    def add_counter(self, text):
        tool = self.scratch / "tools/valgrind"
        tool.parent.mkdir(exist_ok=True)
        tool.write_text(text)
        tool.chmod(0o755)
        self.environment["PATH"] = f"{tool.parent}:{self.environment['PATH']}"

    def test_an_estimate_without_a_run(self):
        expected = self.direct()
        self.add_a_function_under_pressure()
        said = self.mlgo("faster", "--budget=100", "--program=out/program", "--", "sh", "build.sh")
        self.assertEqual(self.outputs().keys(), expected.keys())
        first = "This is an estimate by static frequencies, and not a measurement. To measure what a run executes: "
        page = (self.project / "mlgo/report.html").read_text()
        self.assertTrue(said.startswith(f"{first}mlgo faster --run="), said)
        self.assertIn(f"</h1>\n<p>{first}", page)
        rows = {row["name"]: row["estimates"] for row in self.result()["rows"]}
        executed = {name: each["instructions"] + each["data references"] for name, each in rows.items()}
        built, policy, searched = (
            executed[name]
            for name in (
                "mlgo's clang, the same options",
                "policy, callee-saved cost (mlgo-speed.cfg)",
                "policy, callee-saved cost, 18 allocations",
            )
        )
        self.assertEqual(list(rows)[0], "mlgo's clang, the same options")
        self.assertTrue(searched < policy < built, executed)
        self.assertEqual(self.result()["sources"].keys(), {"lib/a.c", "lib/b.c", "lib/c.c", "main file.c"})
        # A second run, with nothing kept, estimates the same.
        for path in (self.project / "mlgo/.cache/units").iterdir():
            path.unlink()
        self.mlgo("faster", "--budget=100", "--program=out/program", "--jobs=1")
        self.assertEqual({row["name"]: row["estimates"] for row in self.result()["rows"]}, rows)

    def add_a_function_under_pressure(self):
        """With more live values than registers, so that allocations differ."""
        values = [f"v{number}" for number in range(24)]
        steps = "".join(f"{one} = {one} * {other} + p[n & 7];\n" for one, other in zip(values, values[1:] + values[:1]))
        pressed = (
            f"long pressed(long *p, int n) {{ long {', '.join(f'{one} = p[{one[1:]}]' for one in values)};\n"
            f"while (n--) {{ {steps} }}\nreturn {' + '.join(values)}; }}\n"
        )
        with open(self.project / "main file.c", "a") as file:
            file.write(pressed)

    def test_an_estimate_of_sources_that_a_link_compiles(self):
        self.mlgo("faster", "--program=out/libshared.so", "--", "sh", "build.sh")
        first, *others = self.result()["rows"]
        self.assertGreater(first["estimates"]["instructions"], 0)
        self.assertEqual(first["estimates"], others[0]["estimates"])

    def test_no_estimate_where_the_link_makes_the_code(self):
        (self.project / "build.sh").write_text(BUILD.replace("-O2", "-O2 -flto"))
        said = self.mlgo("faster", "--program=out/program", "--", "sh", "build.sh", code=2)
        self.assertIn("wrote no executed cost: it has none at -O0, and with -flto", said)
        self.assertIn("Count what a run executes: --run=", said)

    def test_a_killed_run_goes_on(self):
        self.mlgo("smaller", "--program=program", "--", "sh", "build.sh")
        objects = self.project / "mlgo/.cache/objects"
        entries = self.project / "mlgo/.cache/units"
        for folder in (objects, entries):
            for path in folder.iterdir():
                path.unlink()
        command = [sys.executable, str(self.top / "bin/mlgo"), "smaller", "--program=program", "--jobs=1"]
        running = subprocess.Popen(command, cwd=self.project, env=self.environment, stderr=subprocess.DEVNULL)
        while running.poll() is None and not any(entries.iterdir()):
            time.sleep(0.01)
        running.kill()
        running.wait()
        kept = {path.name: path.stat().st_mtime_ns for path in entries.iterdir()}
        self.assertTrue(kept)
        self.mlgo("smaller", "--program=program")
        after = {path.name: path.stat().st_mtime_ns for path in entries.iterdir()}
        self.assertEqual({name: after.get(name) for name in kept}, kept)

    def test_a_shared_library_of_a_source(self):
        self.mlgo("smaller", "--program=out/libshared.so", "--", "sh", "build.sh")
        self.assertEqual((self.result()["program"], list(self.result()["sources"])), ("out/libshared.so", ["shared.c"]))

    def test_a_build_that_fails(self):
        said = self.mlgo("smaller", "--", "sh", "-c", "exit 7", code=7)
        self.assertIn("the build ended with exit code 7", said)

    def test_nothing_linked(self):
        self.assertIn("compiled nothing that mlgo saw", self.mlgo("smaller", "--", "true", code=10))

    def test_a_folder_of_others(self):
        (self.project / "mlgo").mkdir()
        (self.project / "mlgo/notes").write_text("mine")
        said = self.mlgo("smaller", "--", "true", code=2)
        self.assertIn("holds files that mlgo did not write: notes", said)
        self.assertEqual(os.listdir(self.project / "mlgo"), ["notes"])

    def test_before_anything_was_measured(self):
        self.assertIn("mlgo smaller -- COMMAND", self.mlgo("build", "--", "true", code=2))


if __name__ == "__main__":
    unittest.main()
