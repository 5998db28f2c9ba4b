"""The folder that `mlgo smaller` leaves in a project, to be checked in: options, a CMake file, what was measured.

mlgo/mlgo.cfg          for --config= in CFLAGS, CXXFLAGS and LDFLAGS
mlgo/toolchain.cmake   for cmake --toolchain
mlgo/DIGEST.decisions  decisions of a search, which mlgo.cfg names; the digest is that of the content
mlgo/DIGEST.profdata   a profile of runs, the same
mlgo/mlgo.json         what was measured, of which sources, with which compiler
mlgo/report.html       the page
mlgo/.cache            not checked in: recorded commands and objects
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import pathlib
import shutil
from collections.abc import Callable, Iterator
from typing import Any

from mlgo.project.compiler import Compiler, digest_of
from mlgo.project.goal import Measured, Result
from mlgo.project.profile import profile_option
from mlgo.project.tuning import decision_option
from mlgo.run.exit_codes import RunError
from mlgo.run.files import encode_json, read_json, write_all_atomically, write_error
from mlgo.run.regular_file import beginning_of

CONFIG, TOOLCHAIN, RESULT, PAGE, CACHE = "mlgo.cfg", "toolchain.cmake", "mlgo.json", "report.html", ".cache"
_FORMAT = 1
_IGNORED = {".gitignore": b"*\n"}
#: Of a digest in the name of a file.
_DIGITS = 16
_REMEDY = "Remove the folder, or name another with --output="
_CMAKE = """# cmake --toolchain mlgo/toolchain.cmake, with the folder of mlgo's clang in the environment's MLGO_PREFIX.
if(NOT DEFINED ENV{MLGO_PREFIX})
  message(FATAL_ERROR "Set MLGO_PREFIX to the folder that has bin/clang of mlgo")
endif()
set(CMAKE_C_COMPILER "$ENV{MLGO_PREFIX}/bin/clang")
set(CMAKE_CXX_COMPILER "$ENV{MLGO_PREFIX}/bin/clang++")
set(CMAKE_AR "$ENV{MLGO_PREFIX}/bin/llvm-ar" CACHE FILEPATH "")
set(CMAKE_RANLIB "$ENV{MLGO_PREFIX}/bin/llvm-ranlib" CACHE FILEPATH "")
set(CMAKE_CXX_COMPILER_CLANG_SCAN_DEPS "$ENV{MLGO_PREFIX}/lib/mlgo/record/clang-scan-deps" CACHE FILEPATH "")
foreach(language C CXX)
  set(CMAKE_${language}_FLAGS_INIT "\\"--config=${CMAKE_CURRENT_LIST_DIR}/mlgo.cfg\\"")
endforeach()
"""


def opened(folder: pathlib.Path) -> pathlib.Path:
    """Creates the folder and the cache that it returns. Raises: RunError: it has others' files, or is not writable."""
    names = [] if not folder.is_dir() else [entry.name for entry in folder.iterdir()]
    cache = folder / CACHE
    mark = cache / ".gitignore"
    # Other programs have a folder of this name too, such as clangd.
    is_own = mark.is_file() and beginning_of(mark, 3) == _IGNORED[mark.name]
    if set(names) - {CACHE} and RESULT not in names and not is_own:
        wrong = f"holds files that mlgo did not write: {', '.join(sorted(names)[:3])}"
        raise RunError(f"--output={folder}", wrong, "Name another folder")
    # What is not used is deleted there. `path` is replaced where it is a link.
    for path in (cache, *cache.glob("[!p]*")):
        if path.is_symlink():
            raise RunError(str(path), "is a link, and mlgo deletes what lies there", "Remove the link")
    write_all_atomically(cache, _IGNORED)
    return cache


@contextlib.contextmanager
def locked(cache: pathlib.Path) -> Iterator[None]:
    """Keeps other runs out of the cache, and removes what killed ones left, but for records of their builds.

    Raises: RunError: another run uses it, or it cannot be written.
    """
    lock = os.open(cache, os.O_RDONLY | os.O_DIRECTORY)
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise RunError(str(cache), "is in use by another `mlgo smaller`", "Wait for it") from error
        for path in [*cache.glob("objects/.compile.*"), cache / "scratch"]:
            shutil.rmtree(path, ignore_errors=True)
        yield
    except OSError as error:
        raise write_error(error, cache) from error
    finally:
        os.close(lock)


def write(folder: pathlib.Path, content: dict[str, Any], chosen: Measured | None, page: str) -> None:
    """Writes the files; without a chosen row no mlgo.cfg stays from a run before.

    Raises: RunError: the disk is full or the folder cannot be written.
    """
    files = {PAGE: page.encode("utf-8", "replace"), RESULT: encode_json(content)}
    if chosen is not None:
        # What mlgo.cfg names comes first, so that it is there.
        files |= {name: content for name, content, _ in _named_files(chosen)}
        text = f"# {chosen.row.name}: written by mlgo; {RESULT} says what was measured."
        files |= {TOOLCHAIN: _CMAKE.encode(), CONFIG: ("\n".join([text, *config_of(chosen)]) + "\n").encode()}
    write_all_atomically(folder, files)
    if chosen is None:
        for name in (CONFIG, TOOLCHAIN):
            (folder / name).unlink(missing_ok=True)
    digest = _DIGITS * "[0-9a-f]"
    for path in (*folder.glob(f"{digest}.decisions"), *folder.glob(f"{digest}.profdata")):
        if path.name not in files:
            path.unlink(missing_ok=True)


def config_of(chosen: Measured) -> list[str]:
    """The lines of mlgo.cfg; clang puts its folder in the place of <CFGDIR>."""
    return [*chosen.row.config, *(option(f"<CFGDIR>/{name}") for name, _, option in _named_files(chosen))]


def _named_files(chosen: Measured) -> list[tuple[str, bytes, Callable[[str], str]]]:
    """The files that mlgo.cfg names: (name, content, line for a path)."""
    decisions = chosen.decisions.encode("utf-8", "surrogateescape")
    files = ((decisions, "decisions", decision_option), (chosen.profile, "profdata", profile_option))
    return [
        (f"{hashlib.sha256(content).hexdigest()[:_DIGITS]}.{suffix}", content, option)
        for content, suffix, option in files
        if content
    ]


def content_of(project: pathlib.Path, compiler: Compiler, result: Result) -> dict[str, Any]:
    """What mlgo.json holds. Paths below the project are relative to it."""
    rows = [
        {
            "name": one.row.name,
            "options": config_of(one),
            result.goal.kind: dict(one.figures) if one.figures else None,
            "compile_seconds": None if one.seconds is None else round(one.seconds, 2),
            "not_measured": one.why_not,
            "kept_objects": len(one.refused),
        }
        for one in result.measured
    ]
    return {
        "format": _FORMAT,
        "compiler": compiler.digest(),
        "asked": result.goal.verb,
        "program": shown(result.program, project),
        "chosen": result.chosen.row.name if result.chosen else None,
        "rows": rows,
        "sources": {shown(source, project): digest_of(source) for source in sorted(set(result.sources))},
        "as_built": {shown(path, project): reason for path, reason in sorted(result.others.items())},
    }


def shown(path: str, project: pathlib.Path) -> str:
    """`path` relative to the project where it is below it."""
    relative = os.path.relpath(path, project)
    return path if relative.startswith("..") else relative


def stale(folder: pathlib.Path, compiler: Compiler) -> str | None:
    """Why what was measured no longer holds, and what to do; None: it does.

    Raises: RunError: no mlgo.cfg, or a damaged mlgo.json.
    """
    if not (folder / CONFIG).is_file():
        raise RunError(f"{folder / CONFIG}", "is not there", "Run `mlgo smaller -- COMMAND` first")
    content = read_json(folder / RESULT, "the result", _REMEDY)
    sources = content.get("sources") if isinstance(content, dict) else None
    if not isinstance(sources, dict) or content.get("format") != _FORMAT:
        raise RunError(f"{folder / RESULT}", "was written by another version", _REMEDY)
    verb = "faster" if content.get("asked") == "faster" else "smaller"
    remedy = f"; `mlgo {verb}` with the flags that it had measures again"
    if content.get("compiler") != compiler.digest():
        return f"was measured with another compiler{remedy}"
    # What the build generates is gone after a clean.
    changed = sum(digest_of(folder.parent / source) not in (None, digest) for source, digest in sources.items())
    return f"was measured before {changed} of {len(sources)} sources changed{remedy}" if changed else None
