"""From link commands as builds have them to the override, with a fake driver and a fake ninja."""

import json
import os
import pathlib
import shlex
from unittest import mock

import hypothesis
from hypothesis import strategies

from mlgo.corpus.thinlto import link_command
from mlgo.corpus.thinlto.link_command import link_override
from mlgo.run.exit_codes import RunError
from mlgo.run.testing.folder_case import FolderCase

LLD = ["-m", "elf_x86_64", "-pie", "-plugin-opt=mcpu=x86-64", "-plugin-opt=O3", "a.o", "-o", "prog"]
OVERRIDE = tuple(
    "-cc1 -triple x86_64-unknown-linux-gnu -target-cpu x86-64 -O3 -vectorize-loops -vectorize-slp"
    " -mrelocation-model pic -ffunction-sections -fdata-sections -faddrsig -emit-obj".split()
)

# No word starts with @: that would be a response file.
_WORDS = strategies.lists(strategies.text("ab-=,;&|<>()'\"\\$`#*é \t\n", min_size=1))


def command_override(link, working_directory, add_file=str):
    return link_override(link, working_directory, add_file)[0]


class LinkCommandTest(FolderCase):
    def setUp(self):
        super().setUp()
        self.build = self.folder / "a build"
        self.build.mkdir()
        self.enterContext(mock.patch.dict(os.environ, {"PATH": os.defpath}))

    def program(self, name: str, script: str) -> str:
        return str(self.script(f"a build/{name}", script))

    def driver(self) -> str:
        """A clang++ that refuses to do anything but say what it would start."""
        return self.program(
            "clang++-22",
            'for last; do :; done\n[ "$last" = -### ] || exit 1\n'
            'echo "clang version 22" >&2; echo "Target: x86_64-unknown-linux-gnu" >&2\n'
            'echo \' "/usr/bin/ld.lld" "-m" "elf_x86_64" "-pie" "-plugin-opt=mcpu=x86-64" "-plugin-opt=O3"'
            ' "-rpath" "\\$ORIGIN/a b"\''
            " >&2\n",
        )

    def test_linker_line(self):
        self.assertEqual(command_override(["/x/ld.lld-22", *LLD], self.build), OVERRIDE)

    def test_driver_is_asked(self):
        self.assertEqual(command_override([self.driver(), "-O3", "a.o"], self.build), OVERRIDE)

    def test_driver_that_misses_objects(self):
        driver = self.driver()
        with open(driver, "a", encoding="utf-8") as file:
            file.write("echo 'error: no such file: *.o' >&2\nexit 1\n")
        self.assertEqual(command_override([f"'{driver}' -O3 *.o"], self.build), OVERRIDE)
        complaining = self.program("clang", "echo 'clang: error: no input files' >&2; exit 1")
        with self.assertRaisesRegex(RunError, "links nothing, says the driver .-###.: clang: error: no input files"):
            command_override([complaining, "-O2"], self.build)

    def test_driver_that_has_no_object_at_all(self):
        answer = 'echo \' "ld.lld" "-m" "elf_x86_64" "-pie" "-plugin-opt=mcpu=x86-64" "-plugin-opt=O3"\''
        script = f'case " $* " in *" /dev/null "*) {answer};; *) echo error: no input files; exit 1;; esac'
        driver = self.program("clang", script)
        self.assertEqual(command_override([driver, "*.o"], self.build), OVERRIDE)

    def test_shell_line(self):
        driver = self.driver()
        for line in (
            f": && '{driver}' -O3 'an object (1).o' -o prog && :",
            f'cd "{self.build}" && A=1 B="2 3" "{driver}" -O3 a.o',
            f"echo starts && '{driver}' -O3 a.o; touch done",
        ):
            self.assertEqual(command_override([line], self.build), OVERRIDE)

    @hypothesis.given(words=_WORDS)
    @hypothesis.settings(deadline=None, max_examples=150)
    def test_quoting_changes_nothing(self, words):
        line = link_command.linker_line([f"true; cd / && {shlex.join(['ld.lld', *words])} && :"], pathlib.Path("/tmp"))
        self.assertEqual((line.arguments, line.working_directory), (tuple(words), pathlib.Path("/")))

    def test_response_files(self):
        (self.build / "inner file").write_text("-plugin-opt=O3 'a (1).o'", encoding="utf-8")
        (self.build / "outer").write_text('-m elf_x86_64\n-pie "@inner file"\n', encoding="utf-8")
        self.assertEqual(command_override(["ld.lld", "@outer", "-plugin-opt=mcpu=x86-64"], self.build), OVERRIDE)
        (self.build / "inner file").write_text("@outer", encoding="utf-8")
        with self.assertRaisesRegex(RunError, "response file .*outer of a command: names itself"):
            command_override(["ld.lld", "@outer"], self.build)
        with self.assertRaisesRegex(RunError, "response file .*gone .*does not exist"):
            command_override(["ld.lld", "@gone"], self.build)

    def test_profile_is_carried(self):
        (self.build / "p.profdata").write_bytes(b"p")
        carried = []

        def add_file(path):
            carried.append(path)
            return "files/01-p.profdata"

        command = command_override(["ld.lld", *LLD, "-plugin-opt=cs-profile-path=p.profdata"], self.build, add_file)
        self.assertIn("-fprofile-instrument-use-path=files/01-p.profdata", command)
        self.assertEqual(carried, [self.build / "p.profdata"])
        with self.assertRaisesRegex(RunError, "--lto-cs-profile-file=q: names the file .*/q, which does not exist"):
            command_override(["ld.lld", *LLD, "-plugin-opt=cs-profile-path=q"], self.build, add_file)

    def test_what_is_no_link_of_lld(self):
        for link, why in (
            (["gcc", "a.o"], "starts neither a linker nor a clang driver"),
            (["lld-link", "a.obj"], "is not of ld.lld"),
            (["true && rm -rf x"], "is empty"),
            (["ld.lld", "a.o"], "-m None: does not tell the target"),
            ([str(self.build / "clang"), "a.o"], "cannot be asked"),
        ):
            with self.assertRaisesRegex(RunError, why):
                command_override(link, self.build)
        silent = self.program("clang", "exit 0")
        with self.assertRaisesRegex(RunError, "links nothing, says the driver"):
            command_override([silent, "-c", "a.c"], self.build)

    def test_ninja(self):
        driver = self.driver()
        lines = [f"'{driver}' -c a.c -o a.o", f": && '{driver}' @prog.rsp -o prog && :", "llvm-ar x"]
        database = [
            {"directory": str(self.build), "command": f"'{driver}' -c a.c", "file": "a.c", "output": "a.o"},
            {"directory": str(self.build), "command": f": && '{driver}' 'a b.o' -o prog && :", "output": "prog"},
        ]
        (self.build / "lines").write_text("\n".join(lines) + "\n", encoding="utf-8")
        (self.build / "database").write_text(json.dumps(database), encoding="utf-8")
        script = '[ "$1" = -C ] && cd "$2"; if [ "$4" = commands ]; then cat lines; else cat database; fi'
        ninja = self.program("ninja", script)
        found = link_command.ninja_link(self.build, "prog", ninja)
        self.assertEqual(found, ((driver, "a b.o", "-o", "prog"), self.build))
        (self.build / "prog.rsp").write_text("x.o", encoding="utf-8")
        self.assertEqual(link_command.ninja_link(self.build, "prog", ninja)[0], (driver, "@prog.rsp", "-o", "prog"))
        # Chromium's link: a script around the driver, an output with a folder that ninja leaves out.
        wrapped = f'"python3" "wrapper.py" --output="./prog" -- \'{driver}\' @gone.rsp -o "./prog"'
        (self.build / "lines").write_text(wrapped, encoding="utf-8")
        self.assertEqual(link_command.ninja_link(self.build, "prog", ninja)[0], (driver, "a b.o", "-o", "prog"))
        (self.build / "lines").write_text("python3 wrapper.py -- echo x -o prog", encoding="utf-8")
        with self.assertRaisesRegex(RunError, "is linked by no command"):
            link_command.ninja_link(self.build, "prog", ninja)
        (self.build / "lines").write_text(lines[0], encoding="utf-8")
        with self.assertRaisesRegex(RunError, "target prog of .*is linked by no command"):
            link_command.ninja_link(self.build, "prog", ninja)
        broken = self.program("broken", "echo unknown target; exit 1")
        with self.assertRaisesRegex(RunError, "broken fails: unknown target"):
            link_command.ninja_link(self.build, "prog", broken)
