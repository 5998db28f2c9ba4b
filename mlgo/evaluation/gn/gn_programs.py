"""Executables of a gn project as descriptions of programs.

They have the compile commands that gn gives each source; or a corpus's build has linked the program, and every side
makes its objects from the corpus's modules. The front end does not run again then, and objects without a module, such
as assembly, are linked as the build made them.
"""

import dataclasses
import os
import pathlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mlgo.corpus.gn import gn_build
from mlgo.corpus.gn.gn_build import Configured, Project, configure, project_of
from mlgo.corpus.gn.linked_program import DATABASE, link_name
from mlgo.corpus.gn.source_root import PROGRAMS_FOLDER
from mlgo.evaluation.programs.description import read_description
from mlgo.run import files
from mlgo.run.exit_codes import RunError

#: Stands for a program's name where the inputs of training runs are meant.
_TRAINING = "training"
_REMEDY = "Build the target of the rule mlgo_gn_programs or mlgo_linked_programs again"
_LINKED_REMEDY = "Build the target of the rule mlgo_linked_programs again"


@dataclasses.dataclass(frozen=True)
class GnPrograms:
    project: Project  #: that they are built from.
    sources: Sequence[pathlib.Path]  #: lie in //mlgo_programs, among them its BUILD.gn.
    descriptions: Mapping[str, pathlib.Path]  #: name of an executable there -> its description.

    def complete(self, names: Sequence[str], work: pathlib.Path) -> list[pathlib.Path]:
        """Configures the project below `work` and writes there complete descriptions of the programs `names`.

        Raises: RunError: gn or ninja fails, or an executable has no compile command.
        """
        added = {f"{PROGRAMS_FOLDER}/{path.name}": path.read_text(encoding="utf-8") for path in self.sources}
        # All targets, so that the configuration does not depend on `names`.
        targets = [f"//{PROGRAMS_FOLDER}:{name}" for name in self.descriptions]
        configured = configure(self.project, work / "gn", targets, added=added)
        # Other sources are compiled or change commands, so they need no fingerprint.
        fingerprints = [*self.project.fingerprints, *sorted(path for path in self.sources if path.suffix == ".h")]
        return [_write(name, self.descriptions[name], configured, fingerprints) for name in names]


@dataclasses.dataclass(frozen=True)
class LinkedPrograms:
    folder: pathlib.Path  #: of the program, which mlgo/corpus/gn/linked_program.py describes.
    program: str  #: its name there.
    corpus: pathlib.Path  #: the corpus with its modules.
    tree: pathlib.Path  #: the sources; patterns of inputs count from there.
    descriptions: Mapping[str, pathlib.Path]  #: name -> what one measured program executes.
    #: inputs and runs for the profile of all of them (--pgo); None: there are none.
    training: pathlib.Path | None = None

    def complete(self, names: Sequence[str], work: pathlib.Path) -> list[pathlib.Path]:
        """Writes complete descriptions of the programs `names` below `work`.

        Raises: RunError: the folder of the program is damaged, or an input is not in the tree.
        """
        link = files.read_json(self.folder / link_name(self.program), "link of a program", _LINKED_REMEDY)
        entries = files.read_json(self.folder / DATABASE, "compilation database", _LINKED_REMEDY)
        database = work / f"{self.program}.commands.json"  # With the corpus at its place on this machine.
        files.write_json_atomically(database, [{**entry, "directory": str(self.corpus)} for entry in entries])
        words = [*link["objects"], *link["libraries"]]
        # Programs are linked in the corpus. Paths from there are the same on every machine.
        place = os.path.relpath(self.folder, self.corpus)
        # C++ needs libm, which the driver adds to links of C++ sources only.
        libraries = [word if word.startswith("-") else f"{place}/{word}" for word in words] + ["-lm"]
        linked = [str(self.folder / word) for word in words if not word.startswith("-")]
        more: dict[str, Any] = {"compile_commands": database.name, "fingerprints": linked, "libraries": libraries}
        if self.training is not None:
            more["training"] = self._described(_TRAINING, self.training, work)
        paths = [work / f"{name}.json" for name in names]
        for name, path in zip(names, paths):
            described = self._described(name, self.descriptions[name], work)
            files.write_json_atomically(path, {**described, **more, "name": name})
        return paths

    def _described(self, name: str, given: pathlib.Path, work: pathlib.Path) -> dict[str, Any]:
        """The description `given` with the files of its inputs. Args: name: of a program, or _TRAINING."""
        description = read_description(given)
        inputs = {
            key: str(given.parent / value) if isinstance(value, str) else str(self._joined(name, key, value, work))
            for key, value in description.get("inputs", {}).items()
        }
        return {**description, "inputs": inputs}

    def _joined(self, name: str, key: str, patterns: Sequence[str], work: pathlib.Path) -> pathlib.Path:
        """Writes the files of the tree that `patterns` match, sorted by path, as one file."""
        content = []
        for pattern in patterns:
            found = sorted(path for path in self.tree.glob(pattern) if path.is_file())
            if not found:
                wrong = f"has the pattern {pattern!r} (input {key}), which matches no file in {self.tree}"
                raise RunError(f"program {name}", wrong, "Correct it, or add the files to the tree's paths")
            content += [path.read_bytes() for path in found]
        path = work / "inputs" / name / key
        path.parent.mkdir(parents=True, exist_ok=True)
        files.write_atomically(path, b"\n".join(content))
        return path


def load_gn_programs(path: pathlib.Path, locate: Callable[[str], pathlib.Path]) -> GnPrograms | LinkedPrograms:
    """Reads the file that the rule mlgo_gn_programs or mlgo_linked_programs writes. Raises: RunError: it is damaged."""
    content = files.read_json(path, "gn programs", _REMEDY)
    try:
        descriptions = {place.stem: place for place in map(locate, content["descriptions"])}
        if "folder" in content:
            return LinkedPrograms(
                # Links to the files themselves: entries name places from them.
                folder=locate(content["folder"]).resolve(),
                program=content["program"],
                corpus=locate(content["corpus"]).resolve(),
                tree=locate(content["tree"]),
                descriptions=descriptions,
                training=locate(content["training"]) if content.get("training") else None,
            )
        return GnPrograms(project_of(content, locate), list(map(locate, content["srcs"])), descriptions)
    except (AttributeError, KeyError, TypeError) as error:
        raise RunError(f"gn programs {path}", f"is not whole ({error!r})", _REMEDY) from error


def _write(
    name: str, given: pathlib.Path, configured: Configured, fingerprints: Sequence[pathlib.Path]
) -> pathlib.Path:
    folder = configured.layout.work.parent
    lines = gn_build.commands(configured, f"{PROGRAMS_FOLDER}:{name}")
    entries = gn_build.compile_entries(lines, str(configured.layout.build))
    if not entries:
        remedy = f'Declare executable("{name}") with sources in its BUILD.gn'
        raise RunError(f"program {name}", "is made by no compile command", remedy)
    database, path = folder / f"{name}.commands.json", folder / f"{name}.json"
    files.write_json_atomically(database, entries)
    description = read_description(given)
    inputs = description.get("inputs", {})
    more = {
        "name": name,
        "compile_commands": database.name,
        "fingerprints": [str(part) for part in fingerprints],
        "libraries": [*gn_build.libraries(lines), *description.get("libraries", [])],
        # A single file is named relative to the user's description.
        "inputs": {
            key: str(given.parent / value) if isinstance(value, str) else value for key, value in inputs.items()
        },
    }
    files.write_json_atomically(path, {**description, **more})
    return path
