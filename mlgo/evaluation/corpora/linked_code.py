"""The code bytes of each module in a linked image.

The text of objects is misleading: a third of it is .eh_frame, and another third are COMDATs that other objects carry
too. All objects of a corpus are linked into one image without unused sections; the code of each that remains is read
from the linker's map. The image does not run: a corpus is part of a program, so symbols may be missing, and every
function that other programs could call is kept, as in a library.

Code is what lies in executable sections, whatever their names are, as in mlgo/compiler/code_size.py: an attribute can
give a function a section of its own. What the linker makes itself, such as .plt and thunks, belongs to no object.
"""

import os
import pathlib
import re
import subprocess
from collections.abc import Collection, Iterator, Mapping

from mlgo.compiler.process import run_confined
from mlgo.corpus import elf
from mlgo.run import signals
from mlgo.run.exit_codes import RunError

# A position-independent image that exports what a library would. Missing and duplicate symbols are accepted.
_FLAGS = (
    *("-pie", "--export-dynamic", "--gc-sections", "-z", "muldefs", "--unresolved-symbols=ignore-all"),
    *("--noinhibit-exec", "--no-demangle", "--error-limit=0", "--entry=0", "--threads=1"),
)
#: A line of lld's map: address, load address, size, alignment, then an output section, FILE:(SECTION) or a symbol.
_OUTPUT_SECTION = re.compile(r"^ *[0-9a-f]+ +[0-9a-f]+ +[0-9a-f]+ +\d+ (\S.*)$")
_INPUT_SECTION = re.compile(r"^ *[0-9a-f]+ +[0-9a-f]+ +([0-9a-f]+) +\d+ {9}(\S.*\))$")
#: The line of a symbol, below its input section: address, load address, size, alignment, name.
_SYMBOL = re.compile(r"^ *([0-9a-f]+) +[0-9a-f]+ +([0-9a-f]+) +\d+ {17}(\S.*)$")
_SECONDS = 600
_LONGEST_PATH = 4096


def link(
    linker: pathlib.Path, objects: Mapping[str, pathlib.Path], work: pathlib.Path, icf: bool = False
) -> dict[str, int]:
    """Code bytes of each module in the image of all of them, by module name.

    Args: objects: module name -> its object, in the order of linking.
    Raises: RunError: the linker fails or is killed, or no code is left.
    """
    work = work.absolute()
    response, image, map_path = work / "objects.rsp", work / "image", work / "image.map"
    response.write_text("".join(f'"{path.absolute()}"\n' for path in objects.values()), encoding="utf-8")
    command: list[str | os.PathLike[str]] = [linker, *_FLAGS, *(["--icf=all"] if icf else [])]
    command += [f"--Map={map_path}", "-o", image, f"@{response}"]
    try:
        done = run_confined(command, work, _SECONDS)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise RunError(f"linker {linker}", f"does not run: {error}", "Give the path of ld.lld") from error
    # A map that was not written to its end would make the code look smaller.
    signals.check_not_killed(linker, done.returncode)
    if not map_path.exists():
        said = done.stderr.decode("utf-8", "replace")[-500:]
        raise RunError(f"linker {linker}", f"writes no map of {len(objects)} objects: {said}", "See its message")
    sizes = code_of_modules(map_path, image, objects)
    if not any(sizes.values()):
        raise RunError(f"image of {len(objects)} objects", "holds none of their code", "Give a corpus with functions")
    return sizes


def code_of_modules(map_path: pathlib.Path, image: pathlib.Path, objects: Mapping[str, pathlib.Path]) -> dict[str, int]:
    """Code bytes of each module in an image, by lld's map of it. Raises: RunError: `image` is no ELF file."""
    by_path = {str(path.absolute()): name for name, path in objects.items()}
    sizes = dict.fromkeys(objects, 0)
    content = map_path.read_text(encoding="utf-8", errors="replace")
    for path, size in code_in_map(content, executable_sections(image), by_path):
        if path in by_path:
            sizes[by_path[path]] += size
    return sizes


def executable_sections(image: pathlib.Path) -> frozenset[str]:
    """The names of the sections of `image` that hold code. Raises: RunError: it is no ELF file."""
    try:
        file = elf.ElfFile.of_bytes(image.read_bytes())
        found = [section for section in file.sections if section.flags & elf.CODE_FLAGS == elf.CODE_FLAGS]
        names = file.section_names()
        return frozenset(elf.string_at(names, section.name) for section in found)
    except (OSError, elf.ElfError) as error:
        raise RunError(f"image {image.name}", str(error), "Look at the output of the linker") from error


def code_in_map(content: str, executable: Collection[str], files: Collection[str] = ()) -> list[tuple[str, int]]:
    """(file, bytes) of each input section with code.

    Args: content: lld's map of an image; executable: see `executable_sections`; files: as of `_input_section`.
    """
    found = (_input_section(line, files) for line in _lines_of_code(content, executable))
    return [section for section in found if section]


def _input_section(line: str, files: Collection[str] = ()) -> tuple[str, int] | None:
    """The file, and bytes, of FILE:(SECTION). Names of sections, which those of functions are in, may have any
    character, and a megabyte of them. Args: files: the linked ones, where their own names may have ":("."""
    if (match := _INPUT_SECTION.match(line)) is None:
        return None
    begins = [match[2][: border.start()] for border in re.finditer(r":\(", match[2][:_LONGEST_PATH])]
    return (next((begin for begin in begins if begin in files), begins[0]), int(match[1], 16)) if begins else None


def functions_in_map(content: str, executable: Collection[str]) -> list[tuple[str, str, int]]:
    """(file, symbol, bytes) of each function in input sections with code. Args: as of `code_in_map`.

    Of several symbols at one address, such as those of a constructor, the alphabetically first is given.
    """
    found: dict[tuple[str, int], tuple[str, int]] = {}
    file = None
    for line in _lines_of_code(content, executable):
        if (symbol := _SYMBOL.match(line)) is not None:
            if file is not None and (size := int(symbol[2], 16)):
                place = (file, int(symbol[1], 16))
                found[place] = min(found.get(place, (symbol[3], size)), (symbol[3], size))
        else:
            section = _input_section(line)
            file = section[0] if section else None
    return [(file, name, size) for (file, _), (name, size) in found.items()]


def _lines_of_code(content: str, executable: Collection[str]) -> Iterator[str]:
    is_code = False
    for line in content.split("\n"):  # Other ends of lines are in names.
        if (output := _OUTPUT_SECTION.match(line)) is not None:
            is_code = output[1] in executable
        if is_code:
            yield line
