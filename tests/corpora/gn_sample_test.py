"""A sample of a gn project's compiles with the real gn, ninja and packaged compiler."""

import contextlib
import io
import json
import sys
import unittest

from mlgo.corpus.gn import sample
from mlgo.run.exit import exit_code_of
from mlgo.run.exit_codes import ExitCode
from tests.corpora.gn_project import FILES
from tests.corpora.project import TOOLS, BuildTestCase

_SOURCES = [f"part {number}.cc" for number in range(6)]
_BROKEN = "part 3.cc"
_BUILD = f"""
action("generated") {{
  script = "generate.py"
  outputs = [ "$target_gen_dir/generated.h" ]
  args = [ rebase_path(outputs[0], root_build_dir) ]
}}
source_set("all") {{
  sources = [ {", ".join(f'"{name}"' for name in _SOURCES)} ]
  include_dirs = [ target_gen_dir ]
  deps = [ ":generated" ]
}}
source_set("another") {{
  sources = [ "never.cc" ]
}}
"""
_GENERATE = "import beside, pathlib, sys\npathlib.Path(sys.argv[1]).write_text('constexpr int generated = 1;\\n')\n"


class GnSampleTest(BuildTestCase):
    names: dict[str, str] = {}

    def setUp(self):
        super().setUp()
        texts = {
            name: f'#include "generated.h"\nint f{number}() {{ return generated; }}\n'
            for number, name in enumerate(_SOURCES)
        }
        texts[_BROKEN] = "int broken("
        for name, text in {
            **FILES,
            **texts,
            "never.cc": "",
            "BUILD.gn": _BUILD,
            "generate.py": _GENERATE,
            "beside.py": "",
        }.items():
            path = self.source / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        self.source.joinpath(".gn").write_text(FILES[".gn"] + 'script_executable = "python3"\n', encoding="utf-8")
        (self.root / "stamp").write_text("1", encoding="utf-8")
        self.project = self.root / "project.json"
        self.project.write_text(
            json.dumps(
                {
                    "tree": str(self.source),
                    "gn": str(TOOLS["gn"]),
                    "ninja": str(TOOLS["ninja"]),
                    "python": sys.executable,
                    "gn_args": {},
                    "env": {"CC": "../../mlgo_toolchain/clang", "CXX": "../../mlgo_toolchain/clang++"},
                    "path": [],
                    "placed": {},
                    "fingerprints": [str(self.root / "stamp")],
                    "toolchain": {name: str(TOOLS[name]) for name in ("clang", "clang++")},
                    "targets": ["//:all"],
                }
            ),
            encoding="utf-8",
        )

    def sample(self, *flags: str) -> tuple[int, str]:
        said = io.StringIO()
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
            code = exit_code_of(
                lambda: sample.run([f"--project={self.project}", f"--output_dir={self.root / 'out'}", *flags])
            )
        return code, said.getvalue()

    def report(self) -> dict:
        return json.loads((self.root / "out/report.json").read_text(encoding="utf-8"))

    def test_all_compiles_with_a_broken_one(self):
        code, said = self.sample("--steps=6")
        self.assertEqual(code, ExitCode.DONE, said)
        report = self.report()
        self.assertEqual((report["compiles_of_the_whole"], len(report["compiled"]), report["not_reached"]), (6, 5, []))
        ((path, reason),) = report["failed"].items()
        self.assertIn("part 3", path + reason)
        self.assertIn("error: ", reason)
        self.assertEqual(report["needed"]["failed"], {})
        self.assertGreater(report["extrapolated"]["cpu_hours"], 0)
        self.assertGreater(report["largest_compile_bytes"], 1_000_000)
        self.assertGreater(report["made"]["bytes"], 0)
        self.assertIn("sample: 6 compiles\n", said)
        self.assertIn("6 of 6 C and C++ compiles, seed 1", said)
        self.assertIn("done 5 of 6, 1 failed", said)
        self.assertEqual(list(self.source.rglob("__pycache__")), [])

    def test_only_the_sample_is_built_and_a_larger_one_adds_to_it(self):
        self.assertEqual(self.sample("--steps=2", "--seed=5")[0], ExitCode.DONE)
        small = set(self.report()["sample"])
        self.assertEqual(len(list((self.root / "out").rglob("*.o"))), len(small - {self.broken(small)}))
        self.assertEqual(self.sample("--steps=4", "--seed=5")[0], ExitCode.DONE)
        self.assertLess(small, set(self.report()["sample"]))
        (record,) = self.root.joinpath("out").rglob("compiled.jsonl")
        before = record.read_bytes()
        record.write_bytes(before + b'{"object": "unfini')
        self.assertEqual(self.sample("--steps=2", "--seed=5")[0], ExitCode.DONE)
        self.assertEqual(record.read_bytes(), before, "compiled what was compiled")

    def broken(self, paths) -> str:
        return next((path for path in paths if "part 3" in path), "")

    def test_a_generator_that_fails(self):
        (self.source / "generate.py").write_text("raise SystemExit('gives up: no error message')", encoding="utf-8")
        code, said = self.sample("--steps=6")
        self.assertEqual(code, ExitCode.NOTHING_PRODUCED, said)
        self.assertIn("gives up", said)

    def test_flags(self):
        code, said = self.sample("--steps=7")
        self.assertEqual((code, "--steps=7: is not between 1 and 6" in said), (ExitCode.USER_ERROR, True), said)
        code, said = self.sample("--minutes=0")
        self.assertEqual((code, "--minutes=0.0" in said), (ExitCode.USER_ERROR, True), said)
        self.project.write_text("{}", encoding="utf-8")
        code, said = self.sample()
        self.assertEqual((code, "is not whole" in said), (ExitCode.USER_ERROR, True), said)


if __name__ == "__main__":
    unittest.main()
