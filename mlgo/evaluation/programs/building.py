"""Builds a program with one compiler and one set of flags: objects, and from them an image in one of several ways of linking."""

import concurrent.futures
import dataclasses
import functools
import os
import pathlib
import shutil
from collections.abc import Callable, Sequence
from typing import Any

from mlgo.evaluation.programs import child
from mlgo.evaluation.programs.commands import code_generation
from mlgo.evaluation.programs.program import Program, is_c_plus_plus
from mlgo.run import files, locate
from mlgo.run.exit_codes import RunError
from mlgo.run.manifest import digest_of_bytes, digest_of_file

#: Seconds that one compile or link may take: a guard against one that hangs.
_COMPILE_SECONDS = 600
#: Of every object: what no user would ship differently, and nothing that depends on when and where it is compiled.
_COMMON = (
    "-w",
    "-g0",
    "-ffunction-sections",
    "-fdata-sections",
    "-fno-color-diagnostics",
    "-ffile-compilation-dir=.",
    "-Wno-builtin-macro-redefined",
    '-D__DATE__="redacted"',
    '-D__TIME__="redacted"',
    '-D__TIMESTAMP__="redacted"',
)


class BuildFailure(Exception):
    """A program cannot be built on one side; the message says where and what the tool said."""


@dataclasses.dataclass(frozen=True)
class Side:
    """A compiler and its flags.

    Attributes:
      name: in tables, and of folders.
      clang: the compiler.
      flags: besides those that all sides have, such as ("-mllvm", "-inline-threshold=15").
    """

    name: str
    clang: pathlib.Path
    flags: tuple[str, ...] = ()

    def digest(self) -> str:
        """Of compiler and flags."""
        return digest_of_bytes(_identity(self.clang) + "\0".join(self.flags).encode())


@dataclasses.dataclass(frozen=True)
class Toolchain:
    """What all sides have in common.

    Attributes:
      sysroot: Debian's headers and libraries, with the folder `usr`; None: the machine's.
      linker: ld.lld.
      driver: the clang that calls the linker and knows the start-up files.
      workers: compiles at a time.
      objects: folder of objects for programs that have some in common; None: everything is compiled.
    """

    sysroot: pathlib.Path | None
    linker: pathlib.Path
    driver: pathlib.Path
    workers: int
    objects: pathlib.Path | None = None

    def target_flags(self) -> list[str]:
        """For what is compiled, with whose headers and libraries."""
        flags = ["--target=x86_64-linux-gnu", "--no-default-config"]
        if self.sysroot is not None:
            flags += [f"--sysroot={self.sysroot}", f"--gcc-install-dir={self.sysroot}/usr/lib/gcc/x86_64-linux-gnu/12"]
        return flags

    def digest(self) -> str:
        """Of linker and libraries."""
        names = ("libc.a", "libm.a", "crt1.o") if self.sysroot is not None else ()
        libraries = [digest_of_file(self.sysroot / "usr/lib/x86_64-linux-gnu" / name) for name in names]
        return digest_of_bytes("".join([digest_of_file(self.linker), *libraries]).encode())


def sysroot_given(path: str | None) -> pathlib.Path | None:
    """The sysroot at `path`; for None the packaged one, for "" None: the machine's.

    Raises: RunError: there is no packaged one.
    """
    if path is not None:
        return locate.user_path(path) if path else None
    found = locate.of_environment("MLGO_SYSROOT")
    if found is None:
        wrong = "is not given, and there is no packaged sysroot"
        raise RunError("--sysroot", wrong, "Start the command with ./bazelw run, or give --sysroot")
    return found.resolve().parent  # The runfile is its folder `usr`.


def compile_command(
    toolchain: Toolchain, side: Side, program: Program, path: str, level: str, more: Sequence[str]
) -> list[str]:
    """The compile of one unit, without -o; to be run in the program's root."""
    driver = "--driver-mode=g++" if is_c_plus_plus(path) else "--driver-mode=gcc"
    words = [str(side.clang), driver, *toolchain.target_flags(), level, *_COMMON, *program.compile_flags(path), *more]
    if pathlib.PurePath(path).suffix != ".S":  # An assembler has no passes that could be asked.
        words += side.flags
    return [*words, "-c", path]


def compile_objects(
    toolchain: Toolchain, side: Side, program: Program, folder: pathlib.Path, level: str, more: Sequence[str] = ()
) -> list[pathlib.Path]:
    """Compiles every unit of `program` into `folder`, in parallel; the objects in the order of linking.

    Raises: BuildFailure: a compile fails.
    """
    folder.mkdir(parents=True, exist_ok=True)

    def compile_unit(unit: tuple[str, str]) -> pathlib.Path:
        path, name = unit
        command = compile_command(toolchain, side, program, path, level, more)
        shared = _shared_object(toolchain, side, program, path, command)
        if shared is not None and shared.is_file():
            shutil.copyfile(shared, folder / name)
            return folder / name
        _run(side, path, [*command, "-o", str(folder / name)], program.root)
        if shared is not None:
            files.write_atomically(shared, (folder / name).read_bytes())
        return folder / name

    return _in_parallel(toolchain.workers, compile_unit, program.units())


def _shared_object(
    toolchain: Toolchain, side: Side, program: Program, path: str, command: Sequence[str]
) -> pathlib.Path | None:
    """Where the object of an equal compile lies, whichever program it was for.

    None: nothing is shared, for what sources include is known by a digest only where a description has `fingerprints`.
    """
    if toolchain.objects is None or not program.fingerprints:
        return None
    content = [
        side.digest(),
        *command[1:],
        digest_of_file(program.root / path),
        *map(digest_of_file, program.fingerprints),
    ]
    return toolchain.objects / f"{digest_of_bytes(chr(0).join(content).encode())}.o"


def link(
    toolchain: Toolchain,
    side: Side,
    program: Program,
    objects: Sequence[pathlib.Path],
    image: pathlib.Path,
    flags: Sequence[str] = (),
) -> pathlib.Path:
    """Links a static, stripped program at `image`, unused sections dropped; returns the path of the linker's map beside it.

    Raises: BuildFailure: the linker fails.
    """
    map_path = image.with_name(image.name + ".map")
    language = "--driver-mode=g++" if any(is_c_plus_plus(path) for path, _ in program.units()) else "--driver-mode=gcc"
    command = [
        str(toolchain.driver),
        language,
        *toolchain.target_flags(),
        "-static",
        f"--ld-path={toolchain.linker}",
        "-Wl,--gc-sections",
        "-Wl,--build-id=none",
        "-Wl,--no-demangle",
        "-Wl,--strip-all",
        "-Wl,--threads=1",
        f"-Wl,--Map={map_path}",
        *flags,
        *map(str, objects),
        *program.libraries,
        "-o",
        str(image),
    ]
    _run(side, f"linking {image.name}", command, program.root)
    return map_path


def thinlto_objects(
    toolchain: Toolchain, side: Side, program: Program, folder: pathlib.Path, level: str
) -> list[pathlib.Path]:
    """As `compile_objects`, by way of ThinLTO.

    As a distributed build does it: the linker only indexes, and the side's own compiler makes the objects. The linker's
    own code generator would be the packaged one on every side, without a policy.

    Raises: BuildFailure: a compile or the linker fails.
    """
    bitcode = compile_objects(toolchain, side, program, folder / "bitcode", level, ("-flto=thin",))
    index = ("-Wl,--thinlto-index-only", "-Wl,--thinlto-emit-imports-files")
    link(toolchain, side, program, bitcode, folder / "bitcode" / "index", index)
    result = folder / "objects"
    result.mkdir()

    def generate(pair: tuple[tuple[str, str], pathlib.Path]) -> pathlib.Path:
        (path, _), source = pair
        summary = source.with_name(source.name + ".thinlto.bc")
        if not summary.exists():  # Assembly has no bitcode.
            return source
        told = code_generation(program.options.get(path, ()))
        command = [
            str(side.clang),
            *toolchain.target_flags(),
            level,
            "-ffunction-sections",
            "-fdata-sections",
            "-w",
            *told,
            *side.flags,
            "-x",
            "ir",
            source.name,
            f"-fthinlto-index={summary.name}",
            "-c",
            "-o",
            str(result / source.name),
        ]
        # The index names modules as the linker was given them, relative to nothing.
        command[command.index(source.name)] = str(source)
        _run(side, f"{path} (ThinLTO)", command, source.parent)
        return result / source.name

    return _in_parallel(toolchain.workers, generate, list(zip(program.units(), bitcode)))


@functools.cache
def _identity(clang: pathlib.Path) -> bytes:
    # A dynamically linked clang is little more than a name, so what it says of its version counts too, but for where it lies.
    version = child.run([clang, "--version"], pathlib.Path("/"), _COMPILE_SECONDS).output
    kept = b"\n".join(line for line in version.splitlines() if not line.startswith(b"InstalledDir"))
    return digest_of_file(clang).encode() + kept


def _in_parallel(workers: int, work: Callable[[Any], pathlib.Path], items: Sequence[Any]) -> list[pathlib.Path]:
    with concurrent.futures.ThreadPoolExecutor(max_workers=workers) as pool:
        futures = [pool.submit(work, item) for item in items]
        try:
            return [future.result() for future in futures]
        except BaseException:
            for future in futures:
                future.cancel()
            raise


def _run(side: Side, what: str, command: Sequence[str], directory: pathlib.Path) -> None:
    try:
        ended = child.run(command, directory, _COMPILE_SECONDS, environment={"PATH": os.defpath})
    except child.NotRun as error:
        raise BuildFailure(f"{side.name}: {what}: {error}") from error
    if ended.exit_code:
        errors = [line for line in ended.messages.splitlines() if "error" in line or "PLEASE submit" in line]
        said = " ".join(errors[:3]) or ended.last_words()
        raise BuildFailure(f"{side.name}: {what}: exit code {ended.exit_code}: {said[:600]}")
