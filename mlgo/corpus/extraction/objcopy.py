"""Reads the two sections with the user's llvm-objcopy, for formats and versions that this program cannot read."""

import os
import pathlib
import shutil
import subprocess
import tempfile
from collections.abc import Callable

from mlgo.corpus.extraction.listing import BuildObject
from mlgo.corpus.extraction.object_file import DEFAULT_NAMES, Embedded, SectionNames
from mlgo.corpus.extraction.outcome import Kind, LeftOut
from mlgo.corpus.extraction.span import Span
from mlgo.run import signals
from mlgo.run.exit_codes import RunError

# Far longer than any object needs; stops a tool that hangs.
_TIMEOUT_SECONDS = 600
_NOT_FOUND = "not found"


def reader(tool: str, names: SectionNames | None) -> Callable[[Span, BuildObject], Embedded]:
    """A SectionReader that starts `tool`, a path or a name in PATH, for every section.

    Raises: RunError: there is no such program.
    """
    program = shutil.which(tool)
    if program is None:
        raise RunError(
            f"--llvm_objcopy_path={tool}", "is no program", "leave the flag out: sections are then read directly"
        )
    program = os.path.abspath(program)
    names = names or DEFAULT_NAMES

    def embedded(span: Span, found: BuildObject) -> Embedded:
        with tempfile.TemporaryDirectory(prefix="extract_ir.") as folder:
            path = found.path
            if found.member is not None:  # The tool would look into all members at once.
                path = os.path.join(folder, "member.o")
                pathlib.Path(path).write_bytes(span.read(0, span.size))
            command = _dump(program, names.command, path, folder)
            # Without a command there is no bitcode as a rule, and the second process can be spared.
            return Embedded(_dump(program, names.bitcode, path, folder) if command is not None else None, command)

    return embedded


def _dump(tool: str, section: str, path: str, folder: str) -> bytes | None:
    target = os.path.join(folder, "section")
    command = [tool, f"--dump-section={section}={target}", path, "/dev/null"]
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            timeout=_TIMEOUT_SECONDS,
            check=False,
        )
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        raise LeftOut(Kind.OBJCOPY_FAILED, f"llvm-objcopy did not run: {type(error).__name__}") from error
    signals.check_not_killed(tool, done.returncode)
    if done.returncode == 0:
        content = pathlib.Path(target).read_bytes()
        os.unlink(target)
        return content
    message = os.fsdecode(done.stderr).strip().replace(path, "the object")
    if _NOT_FOUND in message and section in message:
        return None
    raise LeftOut(Kind.OBJCOPY_FAILED, f"exit code {done.returncode}: {message[:300]}")
