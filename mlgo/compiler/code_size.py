"""How much code an object holds, function by function: what size rewards are made of.

Read in-process from the ELF object in memory; llvm-size would be a process per compile, and knows nothing of functions or COMDATs.
"""

import dataclasses

import numpy as np

from mlgo.run.exit_codes import RunError

# System V ABI, chapter "Object files", and its extension for section groups.
_SHT_SYMTAB, _SHT_NOBITS, _SHT_GROUP, _SHT_SYMTAB_SHNDX = 2, 8, 17, 18
_SHF_WRITE, _SHF_ALLOC, _SHF_EXECINSTR = 1, 2, 4
_GRP_COMDAT = 1
_SHN_LORESERVE, _SHN_XINDEX = 0xFF00, 0xFFFF
_STT_FUNC, _STT_GNU_IFUNC = 2, 10

_ELF64_LITTLE_ENDIAN = b"\x7fELF\x02\x01"
_SECTION = np.dtype(
    [
        ("name", "<u4"),
        ("type", "<u4"),
        ("flags", "<u8"),
        ("address", "<u8"),
        ("offset", "<u8"),
        ("size", "<u8"),
        ("link", "<u4"),
        ("info", "<u4"),
        ("alignment", "<u8"),
        ("entry_size", "<u8"),
    ]
)
_SYMBOL = np.dtype(
    [("name", "<u4"), ("info", "u1"), ("other", "u1"), ("section", "<u2"), ("value", "<u8"), ("size", "<u8")]
)


@dataclasses.dataclass(frozen=True)
class FunctionCode:
    """The code of one function: `size` in bytes, padding left out; `comdat` is its group's signature, or None."""

    name: str
    size: int
    comdat: str | None


@dataclasses.dataclass(frozen=True)
class ObjectCode:
    """The code of one object.

    Attributes:
      functions: sorted by name; of several names for one place the first.
      code_bytes: of all executable sections, padding included; .eh_frame and constants are not code.
      text_bytes: what llvm-size prints as `text`: executable and read-only sections (llvm/tools/llvm-size/llvm-size.cpp,
        ELFObjectFile::isBerkeleyText).
    """

    functions: tuple[FunctionCode, ...]
    code_bytes: int
    text_bytes: int


def code_of_object(content: bytes, name: str) -> ObjectCode:
    """The code in the ELF object `content`.

    Args: name: for messages, such as the module's.
    Raises: RunError: it is no little-endian 64-bit ELF object, or damaged.
    """
    if not content.startswith(_ELF64_LITTLE_ENDIAN):
        raise RunError(f"object of {name}", "is not 64-bit little-endian ELF", "Compile for x86-64 Linux")
    try:
        return _parse(memoryview(content))
    except (ValueError, IndexError, UnicodeDecodeError) as error:
        raise RunError(f"object of {name}", f"is damaged: {error}", "Compile it again") from error


def _parse(content: memoryview) -> ObjectCode:
    sections = _sections(content)
    flags = sections["flags"]
    executable = (flags & _SHF_EXECINSTR) != 0
    in_text = (
        ((flags & _SHF_ALLOC) != 0) & (executable | ((flags & _SHF_WRITE) == 0)) & (sections["type"] != _SHT_NOBITS)
    )
    return ObjectCode(
        functions=tuple(_functions(content, sections, executable)),
        code_bytes=int(sections["size"][executable].sum()),
        text_bytes=int(sections["size"][in_text].sum()),
    )


def _sections(content: memoryview) -> np.ndarray:
    table = int.from_bytes(content[40:48], "little")
    count = int.from_bytes(content[60:62], "little")
    if table == 0:
        return np.zeros(0, _SECTION)
    if count == 0:
        # Above 65,279 sections the number stands in the first header.
        count = int(_array(content, table, 1, _SECTION)[0]["size"])
    return _array(content, table, count, _SECTION)


def _functions(content: memoryview, sections: np.ndarray, executable: np.ndarray) -> list[FunctionCode]:
    tables = np.flatnonzero(sections["type"] == _SHT_SYMTAB)
    if not len(tables):
        return []
    table = sections[tables[0]]
    symbols = _array(content, int(table["offset"]), int(table["size"]) // _SYMBOL.itemsize, _SYMBOL)
    names = _body(content, sections[table["link"]]).tobytes()
    section_of = _symbol_sections(content, sections, symbols)
    kinds = symbols["info"] & 15
    is_function = ((kinds == _STT_FUNC) | (kinds == _STT_GNU_IFUNC)) & (section_of > 0) & (symbols["size"] > 0)
    comdats = _comdats(content, sections, symbols, names)
    found: dict[tuple[int, int], FunctionCode] = {}
    for index in np.flatnonzero(is_function).tolist():
        section = int(section_of[index])
        if not executable[section]:
            continue
        function = FunctionCode(
            _string(names, int(symbols["name"][index])), int(symbols["size"][index]), comdats.get(section)
        )
        # Constructors of complete and base objects are usually one function with two names.
        place = (section, int(symbols["value"][index]))
        if place not in found or function.name < found[place].name:
            found[place] = function
    return sorted(found.values(), key=lambda function: function.name)


def _symbol_sections(content: memoryview, sections: np.ndarray, symbols: np.ndarray) -> np.ndarray:
    """int64 [symbols], the section each is defined in; 0: none."""
    result = symbols["section"].astype(np.int64)
    extended = np.flatnonzero(sections["type"] == _SHT_SYMTAB_SHNDX)
    if len(extended):
        section = sections[extended[0]]
        wide = _array(content, int(section["offset"]), int(section["size"]) // 4, np.dtype("<u4"))
        result = np.where(symbols["section"] == _SHN_XINDEX, wide.astype(np.int64), result)
    special = (symbols["section"] >= _SHN_LORESERVE) & (symbols["section"] != _SHN_XINDEX)
    return np.where(special, 0, result)


def _comdats(content: memoryview, sections: np.ndarray, symbols: np.ndarray, names: bytes) -> dict[int, str]:
    """Signature of the COMDAT group of each section that is in one."""
    result: dict[int, str] = {}
    for index in np.flatnonzero(sections["type"] == _SHT_GROUP).tolist():
        words = np.frombuffer(_body(content, sections[index]), "<u4")
        if words[0] & _GRP_COMDAT:
            signature = _string(names, int(symbols["name"][sections[index]["info"]]))
            result |= dict.fromkeys(words[1:].tolist(), signature)
    return result


def _array(content: memoryview, offset: int, count: int, dtype: np.dtype) -> np.ndarray:
    if offset + count * dtype.itemsize > len(content):
        raise ValueError(f"a table of {count} entries at offset {offset} goes beyond its {len(content)} bytes")
    return np.frombuffer(content, dtype, count, offset)


def _body(content: memoryview, section: np.ndarray) -> memoryview:
    begin, size = int(section["offset"]), int(section["size"])
    if begin + size > len(content):
        raise ValueError(f"a section at offset {begin} goes beyond its {len(content)} bytes")
    return content[begin : begin + size]


def _string(names: bytes, offset: int) -> str:
    return names[offset : names.index(b"\0", offset)].decode("utf-8", "surrogateescape")
