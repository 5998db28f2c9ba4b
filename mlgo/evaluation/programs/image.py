"""How large a linked program is: its own code, all code in it, the file; and its own functions one by one."""

import dataclasses
import pathlib
from collections import Counter
from collections.abc import Mapping

from mlgo.corpus import elf
from mlgo.evaluation.corpora.linked_code import code_in_map, functions_in_map
from mlgo.run.exit_codes import RunError


@dataclasses.dataclass(frozen=True)
class ImageSize:
    """Sizes in bytes.

    Attributes:
      code_bytes: of the program's own objects, what is left of their code in the image; no padding, no .eh_frame, no constants.
      executable_bytes: of all executable sections, the C and C++ libraries' included.
      file_bytes: of the stripped file.
      functions: own symbol -> bytes; functions of one name, such as local ones of two sources, together.
    """

    code_bytes: int
    executable_bytes: int
    file_bytes: int
    functions: Mapping[str, int]


def measure(image: pathlib.Path, map_path: pathlib.Path, own: pathlib.Path) -> ImageSize:
    """The sizes of `image`.

    Args:
      map_path: lld's map of it.
      own: folder of the program's own objects; what else is linked is not its.

    Raises: RunError: it is no ELF file, or holds no code of its own.
    """
    content = image.read_bytes()
    try:
        sections = elf.ElfFile.of_bytes(content).sections
    except elf.ElfError as error:
        raise RunError(f"image {image.name}", str(error), "Look at the output of the linker") from error
    text = map_path.read_text(encoding="utf-8", errors="replace")
    prefix = f"{own}/"
    code = sum(size for path, size in code_in_map(text) if path.startswith(prefix))
    if not code:
        raise RunError(
            f"image {image.name}", "holds no code of its own", "Look at the sources that the description names"
        )
    functions: Counter[str] = Counter()
    for path, name, size in functions_in_map(text):
        if path.startswith(prefix):
            functions[name] += size
    executable = sum(section.size for section in sections if section.flags & elf.SHF_EXECINSTR)
    return ImageSize(code, executable, len(content), dict(sorted(functions.items())))


def symbol_differences(default: Mapping[str, int], policy: Mapping[str, int], count: int) -> list[dict[str, int | str]]:
    """The symbols whose code differs most, those that grew first; one that is not there, inlined or dropped, has 0 bytes.

    Args: count: so many of those that grew, and so many of those that shrank.
    Returns: {"symbol", "default", "policy"}, in bytes.
    """
    changes = {name: policy.get(name, 0) - default.get(name, 0) for name in {*default, *policy}}
    grown = sorted((name for name in changes if changes[name] > 0), key=lambda name: (-changes[name], name))[:count]
    shrunk = sorted((name for name in changes if changes[name] < 0), key=lambda name: (changes[name], name))[:count]
    return [
        {"symbol": name, "default": default.get(name, 0), "policy": policy.get(name, 0)}
        for name in [*grown, *shrunk[::-1]]
    ]
