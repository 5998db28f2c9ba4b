"""What preprocessed sources provide and require, and the command line with a fake preprocessor."""

import io
import json
import os
from contextlib import redirect_stderr, redirect_stdout

from mlgo.project.scan_modules import main, rules
from mlgo.project.testing.project_case import ProjectCase

#: Prints the source, writes its words and a dependency file; fails where the source is absent.
FAKE = """#!/bin/sh
echo "$*" > "${0%/*}/words"
[ "$2" = source.cpp ] || exit 3
printf 'module;\\n# 1 "header"\\nexport module m;\\n  import other.thing;\\n'
"""


def named(text, kind):
    (rule,) = rules(text, "a.o", "/s/a.cpp")["rules"]
    return [(entry["logical-name"], entry.get("is-interface")) for entry in rule.get(kind, ())]


class ScanModulesTest(ProjectCase):
    def test_what_is_provided(self):
        for text, provided in (
            ("export module a.b;", [("a.b", True)]),
            ("module;\nint i;\nexport  module a : part ;", [("a:part", True)]),
            ("module a:internal;", [("a:internal", False)]),
            ("module a;", []),
            ("export module a [[deprecated]];\nmodule :private;", [("a", True)]),
            ("int module = 1; // export module x;\nmodule_t m;\nexport int f();", []),
        ):
            self.assertEqual(named(text, "provides"), provided, text)

    def test_what_is_required(self):
        for text, required in (
            ("import a;\nexport import b.c;\nimport a;", ["a", "b.c"]),
            ("module a;\nimport :part;", ["a", "a:part"]),
            ("export module a:one;\nimport :two;", ["a:two"]),
            ("int import_x;\nimports;\nimport = 1;\nf(import);", []),
        ):
            self.assertEqual([name for name, _ in named(text, "requires")], required, text)

    def test_the_format(self):
        self.assertEqual(
            rules("export module m;\nimport n;", "a.o", "/s/a.cpp"),
            {
                "revision": 0,
                "rules": [
                    {
                        "primary-output": "a.o",
                        "provides": [{"is-interface": True, "logical-name": "m", "source-path": "/s/a.cpp"}],
                        "requires": [{"logical-name": "n"}],
                    }
                ],
                "version": 1,
            },
        )

    def test_a_command_of_cmake(self):
        compiler = self.program("clang++", FAKE)
        more = ["-c", "-o", "a.o", "-MT", "a.ddi", "-MD", "-MF", "a.d"]
        with redirect_stdout(io.StringIO()) as printed:
            self.assertEqual(main(["-format=p1689", "--", str(compiler), "c++", "source.cpp", *more]), 0)
        (rule,) = json.loads(printed.getvalue())["rules"]
        self.assertEqual((rule["primary-output"], rule["requires"]), ("a.o", [{"logical-name": "other.thing"}]))
        self.assertEqual(rule["provides"][0]["source-path"], os.path.abspath("source.cpp"))
        self.assertEqual((self.folder / "words").read_text(), "c++ source.cpp -MT a.ddi -MD -MF a.d -E\n")
        with redirect_stdout(io.StringIO()) as printed:
            self.assertEqual(main(["--", str(compiler), "c++", "absent.cpp", *more]), 3)
        self.assertEqual(printed.getvalue(), "")

    def test_without_a_command(self):
        with redirect_stderr(io.StringIO()) as said:
            self.assertEqual(main(["-format=p1689"]), 2)
        self.assertIn("has no command. Write it behind --", said.getvalue())
