"""A search makes the same object on every machine, or ends the compile with one error and without an object."""

import contextlib
import errno
import os
import pathlib
import resource
import signal
import subprocess
import tempfile
import unittest

from mlgo.run.locate import runfile
from tests.compilers import faults, pressure
from tests.compilers.calls import calls_of_helpers

CLANG, LLC = "release/clang", "release/llc"
_POLICY = ("-mllvm", "-regalloc-enable-advisor=release")
_KEEP_BY_DEFAULT = ("-mllvm", "-inline-threshold=-100")
#: Faults that a search meets, whatever the compile itself does.
FAULTS = {
    "clone fails": faults.refuse("clone", errno.EAGAIN),
    "pipe2 fails": faults.refuse("pipe2", errno.EMFILE),
    "the pipe cannot be moved": faults.refuse("fcntl", errno.EMFILE, (1, faults.F_DUPFD_CLOEXEC)),
    "the child cannot follow its parent": faults.refuse("prctl", errno.EPERM, (0, faults.PR_SET_PDEATHSIG)),
    "the child is killed": faults.refuse("prctl", 0, (0, faults.PR_SET_PDEATHSIG)),
    "the child's end is not known": faults.refuse("wait4", errno.ECHILD),
    "dup2 fails": faults.refuse("dup2", errno.EBUSY),
}
#: What a search does not notice.
HARMLESS = {
    "there is no /proc": faults.without_proc(),
    "/proc cannot be read": faults.refuse("getdents64", errno.EIO),
    "closed standard streams": faults.closed_streams,
    "SIGCHLD is ignored": faults.ignored_children,
    "no core": faults.limit(resource.RLIMIT_CORE, 0),
}


class SearchFaultsTest(unittest.TestCase):
    folder: pathlib.Path
    #: Name of a search, whose first word is its option -> the rest of a command, without the search and with it.
    plain: dict[str, list[str]]
    commands: dict[str, list[str]]
    wanted: dict[str, bytes | None]

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        (cls.folder / "size.c").write_text(calls_of_helpers("x"))
        speed = pressure.loop("long", pressure.ARITHMETIC["integer"], 24, seed=1, arms=3)
        (cls.folder / "speed.c").write_text(speed)
        cls.plain = {
            "-mlgo-search": ["-Oz", "size.c"],
            # The default inlines nothing, so that the policy's compile is the smaller one.
            "-mlgo-search of a configuration file": ["-Oz", "size.c", *_KEEP_BY_DEFAULT],
            "-mlgo-allocations": ["-O2", "speed.c", *_POLICY],
        }
        cls.commands = {
            name: [*cls.plain[name], *words]
            for name, words in {
                "-mlgo-search": ["-mllvm", "-mlgo-search=8"],
                "-mlgo-search of a configuration file": ["--config=mlgo-size.cfg"],
                "-mlgo-allocations": ["-mllvm", "-mlgo-allocations=6"],
            }.items()
        }
        cls.wanted = {name: cls.compiled(name)[0] for name in cls.commands}
        assert all(cls.wanted.values()), cls.wanted

    @classmethod
    def compiled(cls, name: str, fault: faults.Fault | None = None) -> tuple[bytes | None, int, str]:
        """The object, if there is one, the status, and the messages."""
        made = cls.folder / "made.o"
        made.unlink(missing_ok=True)
        command = [str(runfile(CLANG)), "--target=x86_64-linux-gnu", "-c", *cls.commands[name], "-o", "made.o"]
        done = subprocess.run(
            command, cwd=cls.folder, capture_output=True, text=True, timeout=300, check=False, preexec_fn=fault
        )
        assert sorted(path.suffix for path in cls.folder.iterdir() if path != made) == [".c", ".c"]
        return made.read_bytes() if made.exists() else None, done.returncode, done.stderr

    def test_an_object_without_search_is_another(self):
        for option, plain in self.plain.items():
            with self.subTest(option):
                command = [str(runfile(CLANG)), "--target=x86_64-linux-gnu", "-c", *plain, "-o", "-"]
                done = subprocess.run(command, cwd=self.folder, capture_output=True, timeout=300, check=True)
                self.assertNotEqual(done.stdout, self.wanted[option])

    def test_faults_end_the_compile(self):
        for option in self.commands:
            for name, fault in FAULTS.items():
                with self.subTest(option, fault=name):
                    made, status, said = self.compiled(option, fault)
                    self.assertIsNone(made)
                    self.assertEqual(status, 1, said)
                    flag = option.split()[0]
                    self.assertRegex(said, rf"error: .*{flag}: the search tries decisions in copies of the compiler")
                    self.assertIn(f"or without the search ({flag}=1)", said)
                    self.assertNotIn("PLEASE submit", said)

    def test_what_is_harmless_changes_nothing(self):
        for option in self.commands:
            for name, fault in HARMLESS.items():
                with self.subTest(option, fault=name):
                    self.assertEqual(self.compiled(option, fault), (self.wanted[option], 0, ""))

    def same_or_none(self, option: str, fault: faults.Fault) -> bool:
        """Whether there is an object, which must be the wanted one."""
        made, status, said = self.compiled(option, fault)
        if status == 0:
            self.assertEqual(made, self.wanted[option], said)
        else:
            self.assertIsNone(made, said)
        return status == 0

    def test_few_descriptors(self):
        for option in self.commands:
            made = [self.same_or_none(option, faults.limit(resource.RLIMIT_NOFILE, count)) for count in range(3, 16)]
            self.assertIn(False, made)
            self.assertTrue(made[-1])

    def test_little_memory(self):
        for option in self.commands:
            made = [
                self.same_or_none(option, faults.limit(resource.RLIMIT_AS, megabytes << 20))
                for megabytes in (300, 320, 340, 360, 400, 500, 1000, 4000)
            ]
            self.assertTrue(made[-1])

    def test_files_of_few_bytes(self):
        for option in self.commands:
            made = [self.same_or_none(option, faults.limit(resource.RLIMIT_FSIZE, size)) for size in (0, 1000, 1 << 20)]
            self.assertTrue(made[-1])

    def test_little_stack(self):
        for option in self.commands:
            self.same_or_none(option, faults.limit(resource.RLIMIT_STACK, 256 << 10))

    def test_signals_from_outside(self):
        words = ["-O2", "speed.c", "-mllvm", "-mlgo-allocations=300"]
        command = [str(runfile(CLANG)), "--target=x86_64-linux-gnu", "-c", *words, "-o", "made.o"]
        for sent in (signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV, signal.SIGABRT, signal.SIGXCPU):
            with (
                self.subTest(sent.name),
                subprocess.Popen(command, cwd=self.folder, stderr=subprocess.PIPE, text=True) as compiler,
            ):
                children = pathlib.Path(f"/proc/{compiler.pid}/task/{compiler.pid}/children")
                # Of so many children, one is hit while it works.
                while compiler.poll() is None:
                    with contextlib.suppress(OSError):
                        for child in children.read_text().split():
                            os.kill(int(child), sent)
                assert compiler.stderr
                said = compiler.stderr.read()
                self.assertEqual(compiler.returncode, 1, said)
                self.assertIn(f"a copy was ended by signal {sent.value} (", said)
                self.assertFalse((self.folder / "made.o").exists())

    def test_llc_too(self):
        listing = ["--target=x86_64-linux-gnu", "-O2", "-S", "-emit-llvm", "speed.c", "-o", "-"]
        made = subprocess.run([str(runfile(CLANG)), *listing], cwd=self.folder, capture_output=True, check=True).stdout
        command = [str(runfile(LLC)), "-O2", "-filetype=obj", "-", "-o", "-", "-mlgo-allocations=6"]
        for fault in (None, FAULTS["clone fails"], FAULTS["the child is killed"]):
            done = subprocess.run(command, input=made, capture_output=True, check=False, timeout=300, preexec_fn=fault)
            self.assertEqual(done.returncode, 1 if fault else 0, done.stderr)
            self.assertEqual(b"" == done.stdout, fault is not None)


if __name__ == "__main__":
    unittest.main()
