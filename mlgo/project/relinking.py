"""Links a program again with other objects in the place of those that a build made."""

from __future__ import annotations

import concurrent.futures
import itertools
import os
import pathlib
import shutil
from collections.abc import Callable, Mapping, Sequence

from mlgo.project import steps
from mlgo.project.build import Build, is_archive, linked_inputs
from mlgo.project.command_line import Compile, Link, compiles_of, last_level, without_language
from mlgo.project.compiler import LLD, Compiler, response, shortened
from mlgo.project.compiling import Compiled, Units
from mlgo.project.rows import makes_code
from mlgo.project.steps import Budget, Progress
from mlgo.run.exit_codes import RunError
from mlgo.run.regular_file import beginning_of

# A symbol in objects of gcc's -flto that hold no machine code.
_GCC_LTO = b"__gnu_lto_slim"
_OPENMP = "-fopenmp"
_NAMES_LINKER = ("-fuse-ld=", "--ld-path=", "-fno-lto")
# IndexedInstrProf::Magic of LLVM.
_PROFILE = b"\xfflprofi\x81"
#: Why an object cannot be compiled again, in `Parts.others`.
REMOVED, SOURCE_REMOVED = "was removed after the link", "is no longer there"
NOT_RECORDED = "no recorded command made it"
FOLDER_REMOVED = "the folder in which it was compiled was removed after the build"


class Parts:
    """The objects of one program."""

    def __init__(self, build: Build, link: Link):
        self.build = build
        #: Objects that clang can compile again, by their outputs.
        self.units: dict[str, Compile] = {}
        #: Outputs of units whose objects are not there: the build removed them, or a link made them itself.
        self.absent: set[str] = set()
        #: Object or source -> why it stays as it was built.
        self.others: dict[str, str] = {}
        self._sources: dict[tuple[str, str], Compile] = {}
        self._seen: set[str] = set()
        self._collect(link)

    def unoptimized(self) -> int:
        """The number of units at -O0, which is clang's level where none is given."""
        return sum(last_level(unit.words) == "0" for unit in self.units.values())

    def compiled_by(self, link: Link, path: str) -> Compile | None:
        """The unit whose source at `path` a link compiles itself; None: there is none."""
        return self._sources.get((link.output, path))

    def _collect(self, link: Link) -> None:
        if link.output in self._seen:
            return
        self._seen.add(link.output)
        for unit in compiles_of(link):
            self._add(unit.source, unit)
            if unit.output in self.units:
                self._sources[link.output, unit.source] = unit
                self.absent.add(unit.output)
        for path in linked_inputs(link, self.build.archives).values():
            if not os.path.exists(path):
                for removed in self.build.archives.get(path, (path,)):
                    self._add_removed(removed)
            elif not os.path.isfile(path):
                self.others[path] = "is no file"
            elif is_archive(path):
                members = self.build.members(path)
                if members and not any(member.made for member in members):
                    self.others[path] = f"no recorded command made its {len(members)} objects"
                    continue
                for member in members:
                    self._add(f"{path}({member.name})", member.made)
            elif _is_object(path):
                self._add(path, self.build.made_object(path))

    def _add_removed(self, path: str) -> None:
        """Adds an object that is not there, or was in an archive that is not."""
        made = self.build.made_object(path)
        if made is None:
            self.others[path] = REMOVED
            return
        self._add(path, made)
        if not os.path.exists(path):
            self.absent |= {made.output} & self.units.keys()

    def _add(self, shown: str, made: Compile | Link | None) -> None:
        if isinstance(made, Link):
            self._collect(made)
        elif made is None:
            self.others[shown] = NOT_RECORDED
        elif made.by != "clang":
            self.others[made.source] = _why_refused(made)
        elif made.assembles:
            self.others[made.source] = "is assembly"
        elif not os.path.isfile(made.source):
            self.others[made.source] = "is no file" if os.path.exists(made.source) else SOURCE_REMOVED
        elif not os.path.isdir(made.directory):
            self.others[made.source] = FOLDER_REMOVED
        else:
            self.units[made.output] = made


class Relinker:
    """Compiles a program's units with more options, `jobs` at a time, and links them in `folder`."""

    def __init__(
        self,
        compiler: Compiler,
        units: Units,
        parts: Parts,
        folder: pathlib.Path,
        jobs: int,
        say: Callable[[str], None],
    ):
        self._compiler, self._folder = compiler, folder
        self.units, self.parts, self.jobs, self.say = units, parts, jobs, say

    def compile(
        self, flags: tuple[str, ...], budget: Budget, expected: Mapping[str, float], name: str
    ) -> dict[str, Compiled] | None:
        """Compiles units, or as many as the budget holds; what was compiled is kept.

        Args: expected: output of each unit -> CPU seconds that its compile may take. name: of the row, for progress.
        Returns: output -> result; None: the budget does not hold them.
        """
        units = [unit for output, unit in self.parts.units.items() if output in expected]
        kept = {unit.output: self.units.kept(unit, flags) for unit in units}
        # What was compiled before counts too, so that a run that goes on ends as one that was not interrupted.
        estimates = {output: expected[output] if known is None else known.seconds for output, known in kept.items()}
        if sum(estimates.values()) > budget.left:
            return None
        new = [estimates[output] for output, known in kept.items() if known is None]
        if new:
            self.say(f"{name}: compiling {len(new)} of {len(units)} units, about {sum(new):.0f} CPU seconds")

        def compiled(unit: Compile) -> Compiled | None:
            if not budget.reserve(estimates[unit.output]):
                return None
            made = self.units.compile(unit, flags)
            budget.settle(estimates[unit.output], made.seconds)
            return made

        executor = concurrent.futures.ThreadPoolExecutor(self.jobs)
        progress = Progress(self.say)
        try:
            # The slow ones first, so that no core waits for one at the end.
            order = sorted(units, key=lambda unit: -unit.seconds)
            futures = {unit.output: executor.submit(compiled, unit) for unit in order}
            for count, future in enumerate(concurrent.futures.as_completed(futures.values()), 1):
                future.result()  # The first that fails ends all.
                progress.at(f"{name}: {count} of {len(units)} units")
        finally:
            executor.shutdown(cancel_futures=True)
        results = {unit.output: futures[unit.output].result() for unit in units}
        done = {output: one for output, one in results.items() if one is not None}
        return done if len(done) == len(units) else None

    def link(
        self, link: Link, objects: Mapping[str, Compiled], flags: Sequence[str], name: str
    ) -> tuple[pathlib.Path, float]:
        """Links with `objects` in place of the build's, and with `flags` before its words.

        Returns: the program and the CPU seconds. Raises: RunError: the linker refuses.
        """
        shutil.rmtree(self._folder, ignore_errors=True)
        self._folder.mkdir(parents=True)
        return self._link(link, objects, flags, self._folder / name)

    def _link(
        self, link: Link, objects: Mapping[str, Compiled], flags: Sequence[str], output: pathlib.Path
    ) -> tuple[pathlib.Path, float]:
        words = list(link.words)
        compiles_none = False
        for (place, part), path in linked_inputs(link, self.parts.build.archives).items():
            own = _object(self.parts.compiled_by(link, path), objects)
            compiles_none = compiles_none or own is not None
            replaced = own or self._replaced(path, objects)
            if replaced is None:
                continue
            if part:
                values = words[place].split(",")
                values[part] = replaced
                replaced = ",".join(values)
            elif place and link.words[place - 1] == "-l":
                words[place - 1] = "-Wl,--as-needed"  # Takes the place of a separate -l.
            words[place] = replaced
        if compiles_none:
            words = list(without_language(words))
        if link.by == "other" and _OPENMP in words:
            words[words.index(_OPENMP)] = f"{_OPENMP}=libgomp"  # As the machine's own compiler links it.
        if makes_code(words) and not any(word.startswith(_NAMES_LINKER) for word in words):
            words[:0] = LLD  # GNU ld has no plug-in for these objects.
        words += ["-o", str(output)]
        if link.tool == "ld":
            command = [shutil.which("ld") or self._compiler.tool("ld.lld"), *words]
            command = shortened(command, self._folder / "link.response")
        else:
            command = self._compiler.command(link.tool, self._folder / "link.cfg", flags, *words)
        ended = steps.run(command, link.directory)
        if ended.code or not output.is_file():
            raise _left_out(f"linking {os.path.basename(link.output)}", ended.reason)
        return output, ended.seconds

    def _replaced(self, path: str, objects: Mapping[str, Compiled]) -> str | None:
        """What stands for an input of a link; None: the input itself."""
        exists = os.path.exists(path)
        holds_objects = is_archive(path) if exists else path in self.parts.build.archives
        if holds_objects:
            return self._archive(path, objects)
        if exists and not _is_object(path):
            return None
        made = self.parts.build.made_object(path)
        if isinstance(made, Link):
            if not {"-r", "--relocatable"} & set(made.words):
                return None
            return str(self._link(made, objects, (), self._unique(os.path.basename(path)))[0])
        new = _object(made, objects)
        if new is None and exists:
            _refuse_gcc_lto(path, pathlib.Path(path).read_bytes())
        return new

    def _archive(self, path: str, objects: Mapping[str, Compiled]) -> str | None:
        """An archive with the name of that at `path`, also of one that the build removed; None: all of it stays."""
        exists = os.path.exists(path)
        new: list[tuple[str, str | bytes]] = []
        for member in self.parts.build.members(path):
            replaced = _object(member.made, objects)
            if replaced is None and isinstance(member.content, bytes):
                _refuse_gcc_lto(f"{path}({member.name})", member.content)
            elif replaced is None and not os.path.exists(member.content):
                raise _left_out(os.path.basename(path), f"was removed, and so was {member.name} in it")
            new.append((member.name, replaced or member.content))
        if exists and all(isinstance(content, bytes) for _, content in new):
            return None
        archive = self._unique(os.path.basename(path))
        files = []
        for number, (name, content) in enumerate(new):
            # `..` and the like are names of no file.
            file = archive.parent / str(number) / (name if name.strip(".") else "member")
            file.parent.mkdir()
            if isinstance(content, bytes):
                file.write_bytes(content)
            else:
                os.symlink(content, file)
            files.append(str(file))
        members = response(archive.with_name("members"), files)
        for command in (("llvm-ar", "qcS", str(archive), members), ("llvm-ranlib", str(archive))):
            ended = steps.run([self._compiler.tool(command[0]), *command[1:]], str(archive.parent))
            if ended.code:
                raise _left_out(f"writing {archive.name}", ended.reason)
        return str(archive)

    def _unique(self, name: str) -> pathlib.Path:
        """A new path with this last part, the same in each run."""
        paths = (self._folder / f"part-{number}" for number in itertools.count())
        folder = next(path for path in paths if not path.exists())
        folder.mkdir()
        return folder / name


def _left_out(subject: str, wrong: str) -> RunError:
    return RunError(subject, wrong, "This row is left out")


def _why_refused(made: Compile) -> str:
    if made.by == "gcc":
        return "the kernel is configured for gcc (CONFIG_CC_IS_GCC); configure it by make LLVM=1"
    if _OPENMP in made.words:
        return f"needs libomp for {_OPENMP}"
    profiles = [word.partition("=")[2] for word in made.words if word.startswith("-fprofile-use")]
    if profiles and not _is_profile_of_clang(pathlib.Path(made.directory, profiles[-1])):
        return "clang reads no profile of gcc (.gcda); give it one that llvm-profdata merged"
    return "clang refuses it"


def _is_profile_of_clang(path: pathlib.Path) -> bool:
    """Whether -fprofile-use= of this file or folder is a profile that llvm-profdata wrote."""
    try:
        name = path / "default.profdata" if path.is_dir() else path
        return beginning_of(name, len(_PROFILE)) == _PROFILE
    except OSError:
        return False


def _object(made: Compile | Link | None, objects: Mapping[str, Compiled]) -> str | None:
    """The new object of a unit; None: there is none."""
    new = objects.get(made.output) if made else None
    return str(new.object) if new and new.object else None


def _refuse_gcc_lto(shown: str, content: bytes) -> None:
    """Raises: RunError: an object holds no machine code, but what gcc reads again when it links."""
    if _GCC_LTO in content:
        raise _left_out(os.path.basename(shown), "was made by gcc's -flto, and clang's links cannot read it")


def _is_object(path: str) -> bool:
    """Whether the file may be an object: not a shared library, and no text such as a linker script."""
    try:
        begin = beginning_of(path, 18)
    except OSError:
        return False
    is_shared = begin[:4] == b"\x7fELF" and begin[16:18] in (b"\3\0", b"\0\3")
    return begin[:4] in (b"\x7fELF", b"BC\xc0\xde") and not is_shared
