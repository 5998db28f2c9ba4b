"""Builds a program with one compiler and one set of flags: objects, and images linked in several ways.

What a build rests on is the description and sources, the compiler, the linker, and what both read.
"""

import contextlib
import dataclasses
import functools
import os
import pathlib
import re
import shlex
import shutil
from collections.abc import Iterable, Iterator, Sequence

from mlgo.evaluation.programs.program import Program, is_c_plus_plus
from mlgo.evaluation.programs.target import HOST, Target
from mlgo.evaluation.sides import Side
from mlgo.identity.programs import compiler_identity, flags_identity, program_identity
from mlgo.run import child, files, locate, progress
from mlgo.run.exit_codes import RunError
from mlgo.run.manifest import digest_of_bytes, digest_of_file, digest_of_json
from mlgo.trace.optimised_corpus import CODE_GENERATION_FLAG, KEEP_USE_LISTS_FLAG

#: Flags of a compile whose object has the bitcode and the command of its module, for a corpus.
EMBEDDED = ("-Xclang", "-fembed-bitcode=all")
#: Time limits of one compile and of one link, seconds. A link with LTO compiles the whole program.
_COMPILE_SECONDS = 600
_LINK_SECONDS = 7200
#: Of the driver, which only says how it would link.
_DRIVER_SECONDS = 60
#: What no linker script begins with: ELF files, archives, thin archives.
_MAGICS = (b"\x7fELF", b"!<arch>\n", b"!<thin>\n")
_MOST_SCRIPT_BYTES = 1 << 16
#: A name in GROUP, INPUT or AS_NEEDED of a linker script.
_NAME = re.compile(r"[^\s(),]+")
#: Options for a preprocessed source without the places of its headers.
_PREPROCESS = ("-E", "-P")
#: Flags of every compile; the output does not depend on its time and place.
_COMMON = (
    *("-w", "-g0", "-ffunction-sections", "-fdata-sections", "-fno-color-diagnostics", "-ffile-compilation-dir=."),
    "-Wno-builtin-macro-redefined",
    *('-D__DATE__="redacted"', '-D__TIME__="redacted"', '-D__TIMESTAMP__="redacted"'),
)


class BuildFailure(Exception):
    """A program cannot be built on one side; the message has the output of the tool."""


@dataclasses.dataclass(frozen=True)
class Toolchain:
    """Tools and libraries of all sides."""

    sysroot: pathlib.Path | None  #: Debian's headers and libraries, with the folder `usr`; None: the machine's.
    linker: pathlib.Path
    driver: pathlib.Path  #: the clang that calls the linker.
    workers: int
    objects: pathlib.Path | None = None  #: folder of objects that programs share; None: no sharing.
    target: Target = HOST

    def target_flags(self) -> list[str]:
        flags = [f"--target={self.target.triple}", "--no-default-config", *self.target.flags]
        if self.sysroot is not None:
            flags += [f"--sysroot={self.sysroot}", f"--gcc-install-dir={self.sysroot}/{self.target.gcc}"]
        return flags

    def digest(self, libraries: Sequence[str] = (), directory: pathlib.Path = pathlib.Path("/")) -> str:
        """Digest of linker, driver, target, and all files besides objects that a link with `libraries` reads."""
        return _digest_of_links(self, tuple(libraries), directory)

    def link_flags(self) -> list[str]:
        return [*self.target_flags(), "-static", f"--ld-path={self.linker}"]


def sysroot_from_flags(path: str | None, target: Target = HOST) -> pathlib.Path | None:
    """The sysroot at `path`; for None the packaged one of `target`, for "" None: the machine's. Raises: RunError."""
    if path == "" and target != HOST:
        wrong = f"stands for this machine's headers and libraries, which are not those of {target.name}"
        raise RunError("--sysroot=", wrong, "Remove it, or give a folder")
    if path is not None:
        return locate.user_path(path) if path else None
    found = locate.of_environment("MLGO_SYSROOT" if target == HOST else f"MLGO_SYSROOT_{target.name}")
    if found is None:
        wrong = "is not given, and there is no packaged sysroot"
        raise RunError("--sysroot", wrong, "Start the command with ./bazelw run, or give --sysroot")
    return found.resolve().parent  # The runfile is its folder `usr`.


def compile_command(
    toolchain: Toolchain, side: Side, program: Program, path: str, level: str, more: Sequence[str]
) -> list[str]:
    """The command that compiles one unit in its folder, `program.directory_of(path)`, without -o."""
    driver = driver_mode(is_c_plus_plus(path))
    words = [str(side.clang), driver, *toolchain.target_flags(), level, *_COMMON, *program.compile_flags(path), *more]
    if not _is_assembly(path):  # Policies and profiles do not apply to it.
        if level in program.profiles:
            words.append(f"-fprofile-use={program.profiles[level]}")
        words += (*side.flags, *side.model_flags)
    return [*words, "-c", path]


def compile_objects(
    toolchain: Toolchain, side: Side, program: Program, folder: pathlib.Path, level: str, more: Sequence[str] = ()
) -> list[pathlib.Path]:
    """Compiles every unit of `program` into `folder`; returns the objects in link order. Raises: BuildFailure."""
    folder.mkdir(parents=True, exist_ok=True)
    store = Store.of(toolchain, program)
    if store is not None and side.decides_after_optimiser and any(flag.startswith("-flto=") for flag in more):
        side = _without_decisions(side)  # The linker generates the code, and all sides share the bitcode.

    def compile_unit(unit: tuple[str, str]) -> pathlib.Path:
        path, made = unit[0], folder / unit[1]
        command = compile_command(toolchain, side, program, path, level, more)
        shared = None if store is None else store.file(side, program.root / path, command)
        if shared is not None and shared.is_file():
            return pathlib.Path(shutil.copyfile(shared, made))
        if store is not None and side.decides_after_optimiser and not _is_assembly(path) and not more:
            bitcode = _optimised(toolchain, store, side, program, path, level, folder / f"{made.name}.bc")
            command = [*command[:-2], "-Xclang", CODE_GENERATION_FLAG, "-x", "ir", "-c", str(bitcode)]
        run_tool(side, path, [*command, "-o", str(made)], program.directory_of(path))
        if shared is not None:
            files.write_atomically(shared, made.read_bytes())
        return made

    units = program.units()
    with contextlib.closing(progress.start_inner(f"{program.name}, {side.name}", len(units), "objects")) as bar:
        return child.in_parallel(toolchain.workers, compile_unit, units, bar)


@dataclasses.dataclass(frozen=True)
class Store:
    """Results of compiles and of links with LTO, for equal ones of any program."""

    folder: pathlib.Path
    inputs: tuple[str, ...]  #: digests of the files, besides the source, that decide about them.

    @classmethod
    def of(cls, toolchain: Toolchain, program: Program) -> "Store | None":
        """None: nothing is shared. Only descriptions with `fingerprints` have a digest of all included files."""
        if toolchain.objects is None or not program.fingerprints:
            return None
        return cls(toolchain.objects, tuple(map(digest_of_file, (*program.fingerprints, *program.profiles.values()))))

    def file(self, side: Side, source: pathlib.Path, command: Sequence[str]) -> pathlib.Path:
        return self._place([side.digest(), *command[1:], digest_of_file(source), *self.inputs], ".o")

    def image(
        self, toolchain: Toolchain, side: Side, program: Program, bitcode: Sequence[pathlib.Path], *settings: str
    ) -> pathlib.Path:
        """Where the image is, or will be, that the side's linker makes of `bitcode`. Such a link may take an hour."""
        linker = program_identity(side.linker or toolchain.linker)
        content = [side.digest(), toolchain.digest(), linker, *settings, *program.libraries, *self.inputs]
        return self._place([*content, *map(digest_of_file, bitcode)], ".image")

    def _place(self, content: Sequence[str], suffix: str) -> pathlib.Path:
        return self.folder / f"{digest_of_bytes(chr(0).join(content).encode())}{suffix}"


def _optimised(
    toolchain: Toolchain, store: Store, side: Side, program: Program, path: str, level: str, output: pathlib.Path
) -> pathlib.Path:
    """The bitcode of a unit after the optimiser, which all sides of this compiler share."""
    bare = _without_decisions(side)
    command = compile_command(toolchain, bare, program, path, level, ("-emit-llvm", "-Xclang", KEEP_USE_LISTS_FLAG))
    shared = store.file(bare, program.root / path, command)
    if not shared.is_file():
        run_tool(side, path, [*command, "-o", str(output)], program.directory_of(path))
        files.write_atomically(shared, output.read_bytes())
        output.unlink()
    return shared


def driver_mode(c_plus_plus: bool) -> str:
    return f"--driver-mode={'g++' if c_plus_plus else 'gcc'}"


def _without_decisions(side: Side) -> Side:
    return dataclasses.replace(side, flags=(), model_flags=(), policy="")


def _is_assembly(path: str) -> bool:
    return pathlib.PurePath(path).suffix == ".S"


def link(
    toolchain: Toolchain,
    side: Side,
    program: Program,
    objects: Sequence[pathlib.Path],
    image: pathlib.Path,
    flags: Sequence[str] = (),
) -> pathlib.Path:
    """Links a static, stripped program without unused sections; returns the linker's map. Raises: BuildFailure."""
    map_path = image.with_name(image.name + ".map")
    command = [
        *(str(toolchain.driver), driver_mode(program.has_c_plus_plus), *toolchain.link_flags()),
        *("-Wl,--gc-sections", "-Wl,--build-id=none", "-Wl,--no-demangle", "-Wl,--strip-all", "-Wl,--threads=1"),
        *(f"-Wl,--Map={map_path}", *flags, *map(str, objects), *program.libraries, "-o", str(image)),
    ]
    run_tool(side, f"linking {image.name}", command, program.root, _LINK_SECONDS)
    return map_path


def build_inputs(
    toolchain: Toolchain, side: Side, program: Program, level: str, read: str | None = None
) -> dict[str, str]:
    """Digests of what the images of `program` rest on that `side` builds at `level`.

    Args: read: what `read_digest` returns; None: it is called.
    Raises: BuildFailure: a unit cannot be preprocessed.
    """
    read = read_digest(toolchain, preprocessing_side(side), program, level) if read is None else read
    return {**link_inputs(toolchain, program), "compiler": side.digest(), "read": read}


def link_inputs(toolchain: Toolchain, program: Program) -> dict[str, str]:
    return {"program": program.digest(), "toolchain": toolchain.digest(program.libraries, program.root)}


def read_digest(toolchain: Toolchain, side: Side, program: Program, level: str) -> str:
    """Digest of all that a compiler reads of `program`: its units, preprocessed, and files that options name.

    Each unit is preprocessed again, because nothing less finds a header that is new, or that only a macro asks for.
    That takes a tenth of the time of a build. `fingerprints` of a description take its place.
    Args: side: of `preprocessing_side`. Raises: BuildFailure: a unit cannot be preprocessed, and so not compiled.
    """
    options: dict[pathlib.Path, dict[str, None]] = {}
    for path, _ in program.units():
        options.setdefault(program.directory_of(path), {}).update(dict.fromkeys(program.compile_flags(path)))
    named = [flags_identity(words, folder) for folder, words in options.items()]
    if program.fingerprints:
        return digest_of_json(named)

    def read(unit: tuple[str, str]) -> str:
        path, _ = unit
        command = compile_command(toolchain, side, program, path, level, _PREPROCESS)
        return digest_of_bytes(run_tool(side, path, command, program.directory_of(path)).output)

    units = program.units()
    with contextlib.closing(progress.start_inner(f"{program.name}, headers", len(units), "sources")) as bar:
        return digest_of_json([named, child.in_parallel(toolchain.workers, read, units, bar)])


def preprocessing_side(side: Side) -> Side:
    """`side` without -mllvm, its values and a model, which no preprocessor reads."""
    kept: list[str] = []
    words = iter(side.flags)
    for word in words:
        if word == "-mllvm":
            next(words, None)
        else:
            kept.append(word)
    return Side(side.name, side.clang, tuple(kept))


@functools.cache
def _digest_of_links(toolchain: Toolchain, libraries: Sequence[str], directory: pathlib.Path) -> str:
    programs = program_identity(toolchain.linker), compiler_identity(toolchain.driver), toolchain.target.digest()
    # As C++, whose libraries include those of C.
    command = [str(toolchain.driver), "--driver-mode=g++", *toolchain.link_flags(), *libraries, "-###", os.devnull]
    read = [digest_of_file(path) for path in linked_files(command, directory, toolchain.sysroot)]
    return digest_of_json([*programs, *read, *flags_identity(libraries, directory)])


def run_tool(
    side: Side, what: str, command: Sequence[str], directory: pathlib.Path, seconds: float = _COMPILE_SECONDS
) -> child.Ended:
    """Runs a compiler or linker, `what` in messages, within `seconds`. Raises: BuildFailure: it fails."""
    try:
        ended = child.run(command, directory, seconds, environment={"PATH": os.defpath})
    except child.NotRun as error:
        raise BuildFailure(f"{side.name}: {what}: {error}") from error
    if ended.exit_code:
        errors = [line for line in ended.messages.splitlines() if "error" in line or "PLEASE submit" in line]
        said = " ".join(errors[:3]) or ended.last_words()
        raise BuildFailure(f"{side.name}: {what}: exit code {ended.exit_code}: {said[:600]}")
    return ended


def linked_files(command: Sequence[str], directory: pathlib.Path, sysroot: pathlib.Path | None) -> list[pathlib.Path]:
    """The files that the linker reads besides objects, in the order of the link: start files, libgcc, libraries.

    Args: command: of the compiler's driver, with -### and without objects; directory: where it runs.
    Returns: none where the driver cannot be asked; then it cannot link either.
    """
    try:
        said = child.run(command, directory, _DRIVER_SECONDS, environment={"PATH": os.defpath}).messages
    except child.NotRun:
        return []
    lines = [line for line in said.splitlines() if line.startswith(' "')]
    words = shlex.split(lines[-1])[1:] if lines else []
    folders = [directory / word[2:] for word in words if word.startswith("-L")]
    found: dict[pathlib.Path, None] = {}
    for word in words:  # It grows.
        for path in _named(word, directory, folders):
            if path not in found:
                found[path] = None
                words += _in_script(path, sysroot)
    return list(found)


def _named(word: str, directory: pathlib.Path, folders: Iterable[pathlib.Path]) -> Iterator[pathlib.Path]:
    if word.startswith("-l"):
        name = word[3:] if word.startswith("-l:") else f"lib{word[2:]}.a"
        yield from (path for folder in folders if (path := folder / name).is_file())
    elif not word.startswith("-") and (path := directory / word).is_file():
        yield path


def _in_script(path: pathlib.Path, sysroot: pathlib.Path | None) -> list[str]:
    """The files that a linker script names: Debian's libm.a is one."""
    with open(path, "rb") as file:
        content = file.read(_MOST_SCRIPT_BYTES)
    if content.startswith(_MAGICS):
        return []
    names = _NAME.findall(content.decode("utf-8", "replace"))
    # lld takes absolute names of a script in the sysroot as names in the sysroot.
    below = [f"{sysroot}{name}" for name in names if name.startswith("/")] if sysroot is not None else []
    return [*names, *below, *(str(path.parent / name) for name in names if "/" not in name)]
