"""Links a program again with other objects in the place of those that a build made."""

from __future__ import annotations

import concurrent.futures
import os
import pathlib
import shutil
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from mlgo.project import child
from mlgo.project.budget import Budget
from mlgo.project.build import Build, is_archive, linked_inputs
from mlgo.project.command_line import Compile, Link, compiles_of, last_level, without_language
from mlgo.project.compiler import LLD, Compiler
from mlgo.project.compiling import Compiled, Units, quoted
from mlgo.project.progress import Progress
from mlgo.project.rows import makes_code
from mlgo.run.exit_codes import RunError

# Bytes of a command line; Linux refuses a single word of 128 KiB and a few MB in all.
_LONGEST_COMMAND = 100_000
# A symbol in objects of gcc's -flto that hold no machine code.
_GCC_LTO = b"__gnu_lto_slim"
_OPENMP = "-fopenmp"
# IndexedInstrProf::Magic of LLVM.
_PROFILE = b"\xfflprofi\x81"
#: Why an object cannot be compiled again, in `Parts.others`.
REMOVED = "was removed after the link"
FOLDER_REMOVED = "the folder in which it was compiled was removed after the build"


class Parts:
    """The objects of one program.

    Attributes:
      units: objects that clang can compile again, by their outputs.
      absent: outputs of units whose objects are not there: the build removed them, or a link made them itself.
      others: object or source -> why it stays as it was built.
    """

    def __init__(self, build: Build, link: Link):
        self.build = build
        self.units: dict[str, Compile] = {}
        self.absent: set[str] = set()
        self.others: dict[str, str] = {}
        self._sources: dict[tuple[str, str], str] = {}
        self._seen: set[str] = set()
        self._collect(link)

    def seconds(self) -> float:
        """CPU time that the build's compiles of these units took."""
        return sum(unit.seconds for unit in self.units.values())

    def unoptimized(self) -> int:
        """The number of units at -O0, which is clang's level where none is given."""
        return sum(last_level(unit.words) == "0" for unit in self.units.values())

    def compiled_by(self, link: Link, path: str) -> str | None:
        """Output of the unit whose source at `path` a link compiles itself; None: there is none."""
        return self._sources.get((link.output, path))

    def _collect(self, link: Link) -> None:
        if link.output in self._seen:
            return
        self._seen.add(link.output)
        for unit in compiles_of(link):
            self._add(unit.source, unit)
            if unit.output in self.units:
                self._sources[link.output, unit.source] = unit.output
                self.absent.add(unit.output)
        for path in linked_inputs(link, self.build.archives).values():
            if not os.path.exists(path):
                for removed in self.build.archives.get(path, (path,)):
                    self._add_removed(removed)
            elif is_archive(pathlib.Path(path)):
                members = self.build.members(path)
                made_members = [self.build.made_content(member.name, member.content) for member in members]
                if members and not any(made_members):
                    self.others[path] = f"no recorded command made its {len(members)} objects"
                    continue
                for member, made_member in zip(members, made_members):
                    self._add(f"{path}({member.name})", made_member)
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
            self.others[shown] = "no recorded command made it"
        elif made.by != "clang":
            self.others[made.source] = _why_refused(made)
        elif made.assembles:
            self.others[made.source] = "is assembly"
        elif not os.path.exists(made.source):
            self.others[made.source] = "is no longer there"
        elif not os.path.isdir(made.directory):
            self.others[made.source] = FOLDER_REMOVED
        else:
            self.units[made.output] = made


class Relinker:
    """Compiles a program's units with more options and links them.

    Args:
      units: compiles and keeps objects.
      folder: for what one link needs; emptied before each.
      jobs: compiles at a time.
    """

    def __init__(self, compiler: Compiler, units: Units, parts: Parts, folder: pathlib.Path, jobs: int):
        self._compiler, self._parts, self._folder = compiler, parts, folder
        self.units, self.jobs = units, jobs

    def compile(
        self,
        flags: tuple[str, ...],
        budget: Budget,
        seconds: Mapping[str, float],
        factor: float,
        name: str,
        say: Callable[[str], None],
        only: Collection[str] | None = None,
    ) -> dict[str, Compiled] | None:
        """Compiles all units, or as many as the budget holds.

        Args:
          seconds: output of the build -> CPU seconds of its compile.
          factor: estimate of what these compiles take, in times of `seconds`.
          name, say: of the row, for progress.
          only: outputs of the units; None: all.

        Returns: output of the build -> result; None: the budget does not hold them. What was compiled is kept.
        """
        units = [unit for output, unit in self._parts.units.items() if only is None or output in only]
        kept = {unit.output: self.units.kept(unit, flags) for unit in units}
        new = [unit for unit in units if kept[unit.output] is None]
        # What was compiled before counts too, so that a run that goes on ends as one that was not interrupted.
        estimates = {
            output: factor * seconds[output] if known is None else known.seconds for output, known in kept.items()
        }
        if sum(estimates.values()) > budget.left:
            return None
        if new:
            total = sum(estimates[unit.output] for unit in new)
            say(f"{name}: compiling {len(new)} of {len(units)} units, about {total:.0f} CPU seconds")
        executor = concurrent.futures.ThreadPoolExecutor(self.jobs)
        progress = Progress(say)
        try:
            # The slow ones first, so that no core waits for one at the end.
            order = sorted(units, key=lambda unit: -unit.seconds)
            futures = {
                unit.output: executor.submit(self._compile, unit, flags, budget, estimates[unit.output])
                for unit in order
            }
            for count, future in enumerate(concurrent.futures.as_completed(futures.values()), 1):
                future.result()  # The first that fails ends all.
                progress.at(f"{name}: {count} of {len(units)} units")
            results = {unit.output: futures[unit.output].result() for unit in units}
        finally:
            executor.shutdown(cancel_futures=True)
        done = {output: one for output, one in results.items() if one is not None}
        return done if len(done) == len(units) else None

    def _compile(self, unit: Compile, flags: tuple[str, ...], budget: Budget, estimate: float) -> Compiled | None:
        if not budget.reserve(estimate):
            return None
        made = self.units.compile(unit, flags)
        budget.settle(estimate, made.seconds)
        return made

    def link(
        self, link: Link, objects: dict[str, Compiled], flags: Sequence[str], name: str
    ) -> tuple[pathlib.Path, float]:
        """Links with `objects` in place of the build's. Returns: the program and the CPU seconds.

        Args: flags: options of a configuration file, which come first.
        Raises: RunError: the linker refuses.
        """
        shutil.rmtree(self._folder, ignore_errors=True)
        self._folder.mkdir(parents=True)
        return self._link(link, objects, flags, self._folder / name)

    def _link(
        self, link: Link, objects: dict[str, Compiled], flags: Sequence[str], output: pathlib.Path
    ) -> tuple[pathlib.Path, float]:
        words = list(link.words)
        compiles_none = False
        for (place, part), path in linked_inputs(link, self._parts.build.archives).items():
            source = self._parts.compiled_by(link, path)
            if source in objects and objects[source].object is not None:
                replaced: str | None = str(objects[source].object)
                compiles_none = True
            else:
                replaced = self._replaced(path, objects, flags)
            if replaced is None:
                continue
            if part:
                values = words[place].split(",")
                values[part] = replaced
                words[place] = ",".join(values)
            elif words[place].startswith("-l") or (place and words[place - 1] == "-l"):
                words[place] = replaced
                if not link.words[place].startswith("-l"):
                    words[place - 1] = "-Wl,--as-needed"  # Takes the place of a separate -l.
            else:
                words[place] = replaced
        if compiles_none:
            words = list(without_language(words))
        if link.by == "other" and _OPENMP in words:
            words[words.index(_OPENMP)] = f"{_OPENMP}=libgomp"  # As the machine's own compiler links it.
        if makes_code(words) and not any(map(_names_linker, words)):
            words[:0] = LLD  # GNU ld has no plug-in for these objects.
        if link.tool == "ld":
            command = [shutil.which("ld") or self._compiler.tool("ld.lld"), *words, "-o", str(output)]
        else:
            config = self._folder / "link.cfg"
            config.write_text("\n".join(flags) + "\n", encoding="utf-8")
            command = [self._compiler.tool(link.tool), f"--config={config}", *words, "-o", str(output)]
        if sum(map(len, command)) > _LONGEST_COMMAND:
            response = output.with_name(f"{output.name}.response")
            response.write_text("\n".join(map(quoted, command[1:])) + "\n", errors="surrogateescape")
            command = [command[0], f"@{response}"]
        ended = child.run(command, link.directory)
        if ended.code or not output.is_file():
            raise RunError(f"linking {os.path.basename(link.output)}", ended.reason, "This row is left out")
        return output, ended.seconds

    def _replaced(self, path: str, objects: dict[str, Compiled], flags: Sequence[str]) -> str | None:
        """What stands for an input of a link; None: the input itself."""
        if os.path.exists(path):
            if is_archive(pathlib.Path(path)):
                return self._archive(path, objects)
            if not _is_object(path):
                return None
        elif path in self._parts.build.archives:
            return self._removed_archive(path, objects)
        made = self._parts.build.made_object(path)
        if isinstance(made, Link):
            if "-r" in made.words or "--relocatable" in made.words:
                output = self._unique(os.path.basename(path))
                return str(self._link(made, objects, (), output)[0])
            return None
        new = _object(made, objects)
        if new is None and os.path.exists(path):
            _refuse_gcc_lto(path, pathlib.Path(path).read_bytes())
        return new

    def _archive(self, path: str, objects: dict[str, Compiled]) -> str | None:
        members = self._parts.build.members(path)
        made = [self._parts.build.made_content(member.name, member.content) for member in members]
        replaced = [_object(unit, objects) for unit in made]
        for member, new in zip(members, replaced):
            if new is None:
                _refuse_gcc_lto(f"{path}({member.name})", member.content)
        if not any(replaced):
            return None
        given = [(member.name, member.content if new is None else new) for member, new in zip(members, replaced)]
        return self._written_archive(path, given)

    def _removed_archive(self, path: str, objects: dict[str, Compiled]) -> str:
        """An archive that the build removed, from what it was made of."""
        members: list[tuple[str, str | bytes]] = []
        for member in self._parts.build.archives[path]:
            new = _object(self._parts.build.made_object(member), objects) or member
            if not os.path.exists(new):
                wrong = f"was removed, and so was {os.path.basename(member)} in it"
                raise RunError(os.path.basename(path), wrong, "This row is left out")
            members.append((os.path.basename(member), new))
        return self._written_archive(path, members)

    def _written_archive(self, path: str, members: Sequence[tuple[str, str | bytes]]) -> str:
        """A new archive with the name of that at `path`. Args: members: name -> content, or the path of an object."""
        archive = self._unique(os.path.basename(path))
        files = []
        for number, (name, content) in enumerate(members):
            file = archive.parent / str(number) / name
            file.parent.mkdir()
            if isinstance(content, bytes):
                file.write_bytes(content)
            else:
                os.symlink(content, file)
            files.append(str(file))
        response = archive.with_name("members")
        response.write_text("\n".join(map(quoted, files)) + "\n", errors="surrogateescape")
        ended = child.run([self._compiler.tool("llvm-ar"), "qcS", str(archive), f"@{response}"], str(archive.parent))
        if not ended.code:
            ended = child.run([self._compiler.tool("llvm-ranlib"), str(archive)], str(archive.parent))
        if ended.code:
            raise RunError(f"writing {archive.name}", ended.reason, "This row is left out")
        return str(archive)

    def _unique(self, name: str) -> pathlib.Path:
        """A new path with this last part."""
        folder = next(path for path in _numbered(self._folder) if not path.exists())
        folder.mkdir()
        return folder / name


def _why_refused(made: Compile) -> str:
    if _OPENMP in made.words:
        return f"needs libomp for {_OPENMP}"
    profiles = [word.partition("=")[2] for word in made.words if word.startswith("-fprofile-use")]
    if profiles and not _is_profile_of_clang(pathlib.Path(made.directory, profiles[-1])):
        return "clang reads no profile of gcc (.gcda); give it one that llvm-profdata merged"
    return "clang refuses it"


def _is_profile_of_clang(path: pathlib.Path) -> bool:
    """Whether -fprofile-use= of this file or folder is a profile that llvm-profdata wrote."""
    try:
        with open(path / "default.profdata" if path.is_dir() else path, "rb") as file:
            return file.read(len(_PROFILE)) == _PROFILE
    except OSError:
        return False


def _numbered(folder: pathlib.Path) -> Iterator[pathlib.Path]:
    number = 0
    while True:
        yield folder / f"part-{number}"
        number += 1


def _object(made: Compile | Link | None, objects: dict[str, Compiled]) -> str | None:
    if not isinstance(made, Compile):
        return None
    compiled = objects.get(made.output)
    return str(compiled.object) if compiled is not None and compiled.object is not None else None


def _refuse_gcc_lto(shown: str, content: bytes) -> None:
    """Raises: RunError: an object holds no machine code, but what gcc reads again when it links."""
    if _GCC_LTO in content:
        wrong = "was made by gcc's -flto, and clang's links cannot read it"
        raise RunError(os.path.basename(shown), wrong, "This row is left out")


def _is_object(path: str) -> bool:
    """Whether the file may be an object: not a shared library, and no text such as a linker script."""
    with open(path, "rb") as file:
        begin = file.read(18)
    is_shared = begin[:4] == b"\x7fELF" and begin[16:18] in (b"\3\0", b"\0\3")
    return begin[:4] in (b"\x7fELF", b"BC\xc0\xde") and not is_shared


def _names_linker(word: str) -> bool:
    return word.startswith(("-fuse-ld=", "--ld-path=", "-fno-lto"))
