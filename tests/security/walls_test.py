"""What a process can still do that was taken over inside the walls of //development/confinement: nothing harmful.

Each harm is first done without walls, so that a test which attempts it wrongly fails.
"""

import contextlib
import os
import socket
import subprocess
import sys
import unittest
from collections.abc import Iterator

from mlgo.compiler.compile import compiler_environment
from mlgo.compiler.process import (
    Confinement,
    LimitedProcess,
    ProcessOutcome,
    described,
    limited_exec,
    missing_in,
    missing_protections,
    wait_for_end,
)
from mlgo.compiler.testing.scratch_case import ScratchTestCase
from mlgo.run import locate

_REFUSED = 1
_SECONDS = 60
_PRECIOUS = "precious"

# Installs a seccomp filter under which the given calls fail with the given error, then becomes the command.
_WITHOUT_CALLS = """
import ctypes, os, struct, sys
error, calls, command = int(sys.argv[1]), [int(call) for call in sys.argv[2].split(",")], sys.argv[3:]
instruction = struct.Struct("<HBBI")
code = instruction.pack(0x20, 0, 0, 0)  # load the number of the call
for call in calls:
    code += instruction.pack(0x15, 0, 1, call) + instruction.pack(0x06, 0, 0, 0x00050000 | error)
code += instruction.pack(0x06, 0, 0, 0x7FFF0000)
buffer = ctypes.create_string_buffer(code)
class Program(ctypes.Structure):
    _fields_ = [("count", ctypes.c_ushort), ("code", ctypes.c_void_p)]
program = Program(len(code) // 8, ctypes.cast(buffer, ctypes.c_void_p))
libc = ctypes.CDLL(None)
assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, ctypes.byref(program), 0, 0) == 0
os.execv(command[0], command)
"""
_LANDLOCK_CREATE_RULESET = 444
_SECCOMP = 317


class WallsTestCase(ScratchTestCase):
    def setUp(self):
        super().setUp()
        self.outside = self.root / "outside"
        self.outside.mkdir()
        self.precious = self.outside / "file"
        self.restore()
        self.program = str(locate.runfile("tests/security/mischief"))

    def restore(self) -> None:
        """Puts the files outside into the state that harm would change."""
        for path in self.outside.iterdir():
            path.rmdir() if path.is_dir() else path.unlink()
        self.precious.write_text(_PRECIOUS)
        os.chmod(self.precious, 0o600)
        os.utime(self.precious, (1, 1))
        for path in self.work.iterdir():
            path.unlink()

    def assert_unharmed(self) -> None:
        self.assertEqual([path.name for path in self.outside.iterdir()], ["file"])
        status = self.precious.stat()
        self.assertEqual(
            (self.precious.read_text(), status.st_mode & 0o777, status.st_mtime, status.st_nlink),
            (_PRECIOUS, 0o600, 1, 1),
        )
        self.assertEqual(list(self.work.iterdir()), [])

    def run_inside(self, walls: Confinement, *command: str) -> ProcessOutcome:
        with LimitedProcess(
            command, str(self.work), compiler_environment(), _SECONDS, 1 << 32, 1 << 20, walls
        ) as process:
            return wait_for_end(process, _SECONDS)

    def assert_done(self, walls: Confinement, action: str, *words: str) -> None:
        outcome = self.run_inside(walls, self.program, action, *words)
        self.assertEqual(outcome.exit_code, 0, f"{action} with walls {walls}: {outcome.stderr}")

    def assert_refused(self, walls: Confinement, action: str, *words: str) -> None:
        outcome = self.run_inside(walls, self.program, action, *words)
        self.assertEqual(outcome.exit_code, _REFUSED, f"{action} with walls {walls}: {outcome.stderr}")
        self.assertIn("refused: ", outcome.stderr)

    def stopped_by(self, walls: Confinement, *words: str) -> None:
        """The harm succeeds without walls; neither these nor all walls let it happen."""
        with self.subTest(words[0], walls=walls):
            self.restore()
            self.assert_done(Confinement.NONE, *words)
            self.restore()
            for chosen in (walls, Confinement.ALL):
                self.assert_refused(chosen, *words)
                self.assert_unharmed()

    def skip_without_landlock(self, version: int = 1) -> None:
        found = self.described()["landlock"]
        if found < version:
            self.skipTest(f"Landlock {version} is needed, this kernel has {found or 'none'}")

    def described(self) -> dict[str, int]:
        lines = described(self.program).splitlines()
        return {name: int(value) for name, value in (line.split() for line in lines)}


class FilesTest(WallsTestCase):
    def test_work_inside_goes_on(self):
        for walls in Confinement:
            self.assert_done(walls, "work")

    def test_files_outside_are_not_changed(self):
        self.skip_without_landlock(3)
        here, new = str(self.precious), str(self.outside / "new")
        self.stopped_by(Confinement.LANDLOCK, "write", new)
        self.stopped_by(Confinement.LANDLOCK, "append", here)
        self.stopped_by(Confinement.LANDLOCK, "truncate", here)
        self.stopped_by(Confinement.LANDLOCK, "truncate_reading", here)
        self.stopped_by(Confinement.LANDLOCK, "remove", here)
        self.stopped_by(Confinement.LANDLOCK, "make_folder", new)
        self.stopped_by(Confinement.LANDLOCK, "rename", here, new)
        self.stopped_by(Confinement.LANDLOCK, "write", "../outside/new")

    def test_outside_is_not_reachable_through_links(self):
        self.skip_without_landlock()
        self.stopped_by(Confinement.LANDLOCK, "link", str(self.precious), "link")
        self.stopped_by(Confinement.LANDLOCK, "symlink", str(self.precious), "link")
        self.stopped_by(Confinement.LANDLOCK, "fifo", "fifo")

    def test_attributes_outside_are_not_changed(self):
        self.stopped_by(Confinement.FILTER, "chmod", str(self.precious))
        self.stopped_by(Confinement.FILTER, "touch", str(self.precious))


class ExecutionTest(WallsTestCase):
    def test_no_other_program(self):
        program = "/bin/true"
        self.stopped_by(Confinement.FILTER, "execute", program)
        self.stopped_by(Confinement.FILTER, "execute", self.program)
        self.stopped_by(Confinement.FILTER, "execute_memory", program)
        self.stopped_by(Confinement.FILTER, "execute_again", program)

    def test_landlock_alone_stops_other_programs(self):
        self.skip_without_landlock()
        self.stopped_by(Confinement.LANDLOCK, "execute", "/bin/true")

    def test_a_script_executes_but_does_no_other_harm(self):
        self.skip_without_landlock()
        script = self.root / "compiler"
        script.write_text(f'#!/bin/sh\n"{self.program}" "$@"\n')
        script.chmod(0o755)
        self.program = str(script)
        self.assert_done(Confinement.ALL, "execute", "/bin/true")
        self.stopped_by(Confinement.LANDLOCK, "write", str(self.outside / "new"))
        self.stopped_by(Confinement.FILTER, "chmod", str(self.precious))
        self.assertRegex(
            missing_protections(script) or "", "compiler is no ELF program, so compiles can start programs$"
        )


class NetworkTest(WallsTestCase):
    @contextlib.contextmanager
    def listening(self, family: int, kind: int, address) -> Iterator[str]:
        """A socket that takes connections; yields its port."""
        with socket.socket(family, kind) as listener:
            listener.bind(address)
            if kind == socket.SOCK_STREAM:
                listener.listen()
            yield str(listener.getsockname()[1])

    def test_no_connection(self):
        local = ("127.0.0.1", 0)
        with self.listening(socket.AF_INET, socket.SOCK_STREAM, local) as port:
            self.stopped_by(Confinement.FILTER, "tcp", port)
        with self.listening(socket.AF_INET, socket.SOCK_DGRAM, local) as port:
            self.stopped_by(Confinement.FILTER, "udp", port)

    def test_landlock_alone_stops_tcp_and_abstract_sockets(self):
        self.skip_without_landlock(6)
        with self.listening(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0)) as port:
            self.stopped_by(Confinement.LANDLOCK, "tcp", port)
        name = f"mlgo-{os.getpid()}"
        with self.listening(socket.AF_UNIX, socket.SOCK_STREAM, f"\0{name}"):
            self.stopped_by(Confinement.LANDLOCK, "abstract", name)
            self.stopped_by(Confinement.FILTER, "abstract", name)


class OtherProcessesTest(WallsTestCase):
    def setUp(self):
        super().setUp()
        victim = subprocess.Popen(["/bin/sleep", "1000"])  # pylint: disable=consider-using-with
        self.addCleanup(victim.wait)
        self.addCleanup(victim.kill)
        self.victim = str(victim.pid)

    def test_no_signals(self):
        self.skip_without_landlock(6)
        self.stopped_by(Confinement.LANDLOCK, "kill", self.victim)

    def test_limits_and_memory_of_others(self):
        self.stopped_by(Confinement.FILTER, "limits_of", self.victim)
        self.assert_refused(Confinement.FILTER, "trace", self.victim)


class KernelTest(WallsTestCase):
    def test_calls_that_no_compiler_needs(self):
        # Without walls, containers allow some of them and others not.
        for action in ("namespace", "unshare", "io_uring", "shared_memory", "program_in_kernel"):
            outcome = self.run_inside(Confinement.FILTER, self.program, action)
            self.assertEqual(
                (outcome.exit_code, outcome.stderr), (_REFUSED, "refused: Operation not permitted\n"), action
            )


class SearchTest(WallsTestCase):
    def test_copies_of_a_compiler_need_nothing_that_is_forbidden(self):
        outcome = self.run_inside(Confinement.ALL, str(locate.runfile("llvm/silent_child/silent_child_test")))
        self.assertEqual((outcome.exit_code, outcome.stderr), (0, ""))


class MissingWallsTest(WallsTestCase):
    def without(self, error: int, calls: list[int], *command: str) -> subprocess.CompletedProcess:
        """Runs `command` where the kernel, or a container, refuses `calls` with `error`."""
        words = [sys.executable, "-c", _WITHOUT_CALLS, str(error), ",".join(map(str, calls)), *command]
        return subprocess.run(words, cwd=self.work, capture_output=True, text=True, check=False)

    def test_compiles_go_on_and_the_gaps_are_known(self):
        for error in (38, 95, 1):  # ENOSYS, EOPNOTSUPP, EPERM
            for calls, walls in (
                ([_LANDLOCK_CREATE_RULESET], "landlock 0\nfilter 1\n"),
                ([_LANDLOCK_CREATE_RULESET, _SECCOMP], "landlock 0\nfilter 0\n"),
            ):
                described = self.without(error, calls, limited_exec(), "--describe", self.program).stdout
                self.assertEqual(described, f"{walls}native 1\n")
                inside = [limited_exec(), "all", str(os.getpid()), "60", str(1 << 32), str(1 << 20), self.program]
                done = self.without(error, calls, *inside, "work")
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                executed = self.without(error, calls, *inside, "execute", "/bin/true").returncode
                self.assertEqual(executed, 0 if _SECCOMP in calls else _REFUSED)

    def test_the_line_in_the_log(self):
        self.assertIsNone(missing_in("landlock 7\nfilter 1\nnative 1\n", "clang"))
        self.assertEqual(
            missing_in("landlock 0\nfilter 0\nnative 1\n", "clang"),
            "compiles are confined in part only: no Landlock,"
            " so compiles can write outside their temporary directories;"
            " no seccomp filters, so compiles can use the network; compiles can start programs",
        )
        for number, harm in ((2, "can truncate"), (5, "can send signals")):
            missing = missing_in(f"landlock {number}\nfilter 1\nnative 1\n", "clang")
            self.assertRegex(missing or "", f"Landlock {number}, .* {harm}")

    def test_an_unknown_word_starts_nothing(self):
        words = [limited_exec(), "some", str(os.getpid()), "60", str(1 << 32), str(1 << 20), self.program, "work"]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 127)
        self.assertIn("all|none|landlock|filter", done.stderr)


if __name__ == "__main__":
    unittest.main()
