"""A test case with a small corpus of C++, compiled by the development clang, and with commands run as by ./bazelw."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

from tests.end_to_end import command

CLANG = str(pathlib.Path(sys.argv.pop(1)).absolute())

_HEADER = """
inline int twice(int x) { return x + x; }
inline int much(int *p, int n) { int s = 0; for (int i = 0; i < n; ++i) s += twice(p[i]) * 3 - p[n - i]; return s; }
"""
_SOURCE = """
{header}
static int local{n}(int *p) {{ return much(p, {n} + 5) + much(p, 7); }}
struct S{n} {{ int a[40]; int all(); int some(int x); }};
int S{n}::some(int x) {{ return twice(a[x]) + local{n}(a); }}
int S{n}::all() {{
  int b[24], s = 0;
  for (int i = 0; i < 24; ++i) b[i] = some(i) + a[i] * a[39 - i];
  for (int i = 0; i < 24; ++i) for (int j = 0; j < 24; ++j) s += b[i] * b[j] + a[i] / (1 + b[(i + j) % 24]);
  return s + much(b, 24) + local{n}(b);
}}
long pressure{n}(long *p, long n) {{
  long {names};
  for (long i = 0; i < n; ++i) {{ {updates} }}
  return {total};
}}
"""
_VALUES = 24
#: More values live in a loop than x86-64 has registers.
_PRESSURE = {
    "names": ", ".join(f"v{i} = p[{i}]" for i in range(_VALUES)),
    "updates": " ".join(f"v{i} += v{(i * 7 + 3) % _VALUES} * p[i + {i}];" for i in range(_VALUES)),
    "total": " ^ ".join(f"v{i}" for i in range(_VALUES)),
}


class ExchangeCase(unittest.TestCase):
    """Attributes: folder: a temporary folder, in which commands run."""

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def build(self, level: str, modules: int) -> pathlib.Path:
        """A build with bitcode in its objects; returns compile_commands.json."""
        build, entries = self.folder / "build", []
        build.mkdir()
        for n in range(modules):
            source = build / f"s{n}.cc"
            source.write_text(_SOURCE.format(n=n, header=_HEADER, **_PRESSURE), encoding="utf-8")
            words = [CLANG, f"-{level}", "-Xclang=-fembed-bitcode=all", "-c", source.name, "-o", f"s{n}.o"]
            subprocess.run(words, cwd=build, check=True)
            entries.append({"directory": str(build), "command": " ".join(words), "file": str(source)})
        (build / "compile_commands.json").write_text(json.dumps(entries), encoding="utf-8")
        return build / "compile_commands.json"

    def run_well(self, program: str, *flags: str) -> str:
        code, said = self.run_command(program, *flags)
        self.assertEqual(code, 0, said)
        return said

    def run_command(self, program: str, *flags: str) -> tuple[int, str]:
        """Runs a command as `./bazelw run` does from `folder`; returns its exit code and everything it said."""
        return command.run(*flags, program=program, folder=self.folder)

    def extract(self, level: str, modules: int) -> pathlib.Path:
        corpus = self.folder / "corpus"
        self.run_well(
            "extract_ir",
            "--cmd_filter=^-O2|-Os|-Oz$",
            f"--input={self.build(level, modules)}",
            "--input_type=json",
            f"--output_dir={corpus}",
        )
        return corpus
