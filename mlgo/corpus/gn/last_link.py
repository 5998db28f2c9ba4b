"""A link with ThinLTO as the last one of a build, so that the build folder holds its modules and those of no other.

A build links programs on the way, such as generators of code. Their links save modules too and, of objects that two of
them share, those of the later link: which one that is differs from build to build.
"""

import os
import pathlib

from mlgo.corpus.extraction.build_directory import IMPORTED_SUFFIX, INDEX_SUFFIX
from mlgo.corpus.gn import build_commands, build_part, gn_build
from mlgo.corpus.gn.project import Configured
from mlgo.run import files

_NINJA_FILE, _NINJA_TARGET = "mlgo_before_link.ninja", "mlgo_before_link"


def link_last(configured: Configured, linked: str, jobs: int) -> None:
    """Builds `linked`, and links it again if it is there.

    Args: linked: a program or shared library, by path from the build folder; jobs: commands at a time.
    Raises: RunError: a command fails, or ninja does not make it.
    """
    tools, layout, environment = configured.tools, configured.layout, configured.environment
    lines = gn_build.query(tools, layout, [linked], environment)
    (before,) = build_commands.all_inputs(lines).values()
    text = build_part.ninja_text({_NINJA_TARGET: before})
    files.write_atomically(layout.build / _NINJA_FILE, text.encode("utf-8"))
    gn_build.compile_target(tools, layout, _NINJA_TARGET, environment, jobs, _NINJA_FILE)
    (layout.build / linked).unlink(missing_ok=True)
    _remove_modules(layout.build)
    gn_build.compile_target(tools, layout, linked, environment, jobs)


def _remove_modules(build: pathlib.Path) -> None:
    for folder, _, names in os.walk(build):
        for name in names:
            if name.endswith((IMPORTED_SUFFIX, INDEX_SUFFIX)):
                os.unlink(os.path.join(folder, name))
