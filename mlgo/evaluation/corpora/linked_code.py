"""How much code of each module is in the linked image: the size that a user gets, of which objects tell little.

A third of an object's text is .eh_frame and another third are COMDATs that other objects carry too. So all objects of a corpus
are linked as one image, unused sections are dropped, and what is left of each object's code is read from the linker's map. The
image need not run: corpora are parts of programs, so symbols may be missing, and every function that other
programs could call is kept, as in a library.
"""

import pathlib
import re
import subprocess
from collections.abc import Mapping

from mlgo.run.exit_codes import RunError

# A position-independent image that exports all that a library would, and nothing that is reachable from nowhere. It is not run: symbols
# that are missing or twice there are no faults.
_FLAGS = (
    "-pie",
    "--export-dynamic",
    "--gc-sections",
    "-z",
    "muldefs",
    "--unresolved-symbols=ignore-all",
    "--noinhibit-exec",
    "--no-demangle",
    "--error-limit=0",
    "--entry=0",
    "--threads=1",
)
#: A line of lld's map: address, load address, size, alignment, then either an output section or FILE:(SECTION) or a symbol.
_INPUT_SECTION = re.compile(r"^ *[0-9a-f]+ +[0-9a-f]+ +([0-9a-f]+) +\d+ {9}(\S.*):\((\.text[^)]*)\)$")
#: A symbol's line in it, below the input section that holds it: VMA, LMA, size, alignment, name.
_SYMBOL = re.compile(r"^ *([0-9a-f]+) +[0-9a-f]+ +([0-9a-f]+) +\d+ {17}(\S.*)$")
_SECONDS = 600


def link(
    linker: pathlib.Path, objects: Mapping[str, pathlib.Path], work: pathlib.Path, icf: bool = False
) -> dict[str, int]:
    """Code bytes of each module in the image of all of them, by module name.

    Args:
      linker: ld.lld.
      objects: module name -> its object, in the order of linking.
      work: an empty folder.
      icf: whether identical functions are folded into one.

    Raises: RunError: the linker fails, or no code is left.
    """
    by_path = {str(path): name for name, path in objects.items()}
    response, image, map_path = work / "objects.rsp", work / "image", work / "image.map"
    response.write_text("".join(f'"{path}"\n' for path in by_path), encoding="utf-8")
    command = [linker, *_FLAGS, *(["--icf=all"] if icf else []), f"--Map={map_path}", "-o", image, f"@{response}"]
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise RunError(f"linker {linker}", f"does not run: {error}", "Give the path of ld.lld") from error
    if not map_path.exists():
        raise RunError(
            f"linker {linker}", f"gives no image of {len(objects)} objects: {done.stderr[-500:]}", "Look at its message"
        )
    sizes = dict.fromkeys(objects, 0)
    for path, size in code_in_map(map_path.read_text(encoding="utf-8", errors="replace")):
        if path in by_path:
            sizes[by_path[path]] += size
    if not any(sizes.values()):
        raise RunError(
            f"image of {len(objects)} objects", "holds no code of theirs", "Give a corpus with functions in it"
        )
    return sizes


def code_in_map(content: str) -> list[tuple[str, int]]:
    """(file, bytes) of each input section with code that lld's map `content` names."""
    found = (_INPUT_SECTION.match(line) for line in content.splitlines())
    return [(match[2], int(match[1], 16)) for match in found if match]


def functions_in_map(content: str) -> list[tuple[str, str, int]]:
    """(file, symbol, bytes) of each function in input sections with code that lld's map `content` names.

    Of several names for one place, such as those of a constructor, the first in the alphabet is given.
    """
    found: dict[tuple[str, int], tuple[str, int]] = {}
    file = None
    for line in content.splitlines():
        if (symbol := _SYMBOL.match(line)) is not None:
            if file is not None and (size := int(symbol[2], 16)):
                place = (file, int(symbol[1], 16))
                found[place] = min(found.get(place, (symbol[3], size)), (symbol[3], size))
        else:
            section = _INPUT_SECTION.match(line)
            file = section[2] if section else None
    return [(file, name, size) for (file, _), (name, size) in found.items()]
