"""Executables of a gn project as descriptions of programs, with the compile commands that gn gives each source."""

import dataclasses
import pathlib
from collections.abc import Callable, Mapping, Sequence

from mlgo.corpus.gn import gn_build
from mlgo.corpus.gn.gn_build import Configured, Project, configure, project_of
from mlgo.corpus.gn.source_root import PROGRAMS_FOLDER
from mlgo.evaluation.gn.linked_programs import LinkedPrograms, linked_programs_of
from mlgo.evaluation.programs.description import read_description
from mlgo.run import files
from mlgo.run.exit_codes import RunError

_REMEDY = "Build the target of the rule mlgo_gn_programs or mlgo_linked_programs again"


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


def load_gn_programs(path: pathlib.Path, locate: Callable[[str], pathlib.Path]) -> GnPrograms | LinkedPrograms:
    """Reads the file that the rule mlgo_gn_programs or mlgo_linked_programs writes. Raises: RunError: it is damaged."""
    content = files.read_json(path, "gn programs", _REMEDY)
    try:
        if "folder" in content:
            return linked_programs_of(content, locate)
        project = project_of(content, locate)
        descriptions = {place.stem: place for place in map(locate, content["descriptions"])}
        return GnPrograms(project, list(map(locate, content["srcs"])), descriptions)
    except (AttributeError, KeyError, TypeError) as error:
        raise RunError(f"gn programs {path}", f"is not whole ({error!r})", _REMEDY) from error


def _write(
    name: str, given: pathlib.Path, configured: Configured, fingerprints: Sequence[pathlib.Path]
) -> pathlib.Path:
    folder = configured.layout.work.parent
    lines = gn_build.commands(configured, f"{PROGRAMS_FOLDER}:{name}")
    entries = gn_build.compile_entries(lines, str(configured.layout.build))
    if not entries:
        raise RunError(
            f"program {name}",
            "is made by no compile command",
            f'Declare executable("{name}") with sources in its BUILD.gn',
        )
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
