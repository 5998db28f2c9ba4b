"""The size of a linked program: its own code, all executable sections, the file, and its own functions."""

import dataclasses
import pathlib
from collections import Counter
from collections.abc import Iterable, Mapping

from mlgo.corpus import elf
from mlgo.evaluation.corpora.linked_code import code_in_map, executable_sections, functions_in_map
from mlgo.run.exit_codes import RunError


@dataclasses.dataclass(frozen=True)
class ImageSize:
    """Sizes in bytes."""

    code_bytes: int  #: remaining code of the program's own objects, without padding, .eh_frame and constants.
    executable_bytes: int  #: all executable sections, including the C and C++ libraries.
    file_bytes: int  #: the stripped file.
    functions: Mapping[str, int]  #: own symbol -> bytes; local functions with one name are summed.


def measure(image: pathlib.Path, map_path: pathlib.Path, own: pathlib.Path) -> ImageSize:
    """The sizes of `image`, by lld's map of it; `own` is the folder of the program's own objects.

    Raises: RunError: it is no ELF file, or holds no code of its own.
    """
    names = executable_sections(image)
    content = image.read_bytes()
    sections = elf.ElfFile.of_bytes(content).sections
    text = map_path.read_text(encoding="utf-8", errors="replace")
    prefix = f"{own}/"
    code = sum(size for path, size in code_in_map(text, names) if path.startswith(prefix))
    if not code:
        raise RunError(
            f"image {image.name}", "holds no code of its own", "Look at the sources that the description names"
        )
    functions: Counter[str] = Counter()
    for path, name, size in functions_in_map(text, names):
        if path.startswith(prefix):
            functions[name] += size
    return ImageSize(code, _executable(sections), len(content), dict(sorted(functions.items())))


def executable_bytes(content: bytes) -> int:
    """Bytes of code in an object; 0 also for what is no ELF object."""
    try:
        return _executable(elf.ElfFile.of_bytes(content).sections)
    except elf.ElfError:
        return 0


def _executable(sections: Iterable[elf.Section]) -> int:
    return sum(section.size for section in sections if section.flags & elf.SHF_EXECINSTR)


def symbol_differences(default: Mapping[str, int], policy: Mapping[str, int], count: int) -> list[dict[str, int | str]]:
    """The `count` functions that grew most, largest growth first, then those that shrank most; a missing one has 0
    bytes.

    Returns: {"symbol", "default", "policy"}, in bytes.
    """
    changes = {name: policy.get(name, 0) - default.get(name, 0) for name in {*default, *policy}}
    grown = sorted((name for name in changes if changes[name] > 0), key=lambda name: (-changes[name], name))[:count]
    shrunk = sorted((name for name in changes if changes[name] < 0), key=lambda name: (changes[name], name))[:count]
    return [
        {"symbol": name, "default": default.get(name, 0), "policy": policy.get(name, 0)}
        for name in [*grown, *shrunk[::-1]]
    ]
