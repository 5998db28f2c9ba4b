"""What becomes of an object: a module, or one of the reasons why not."""

from __future__ import annotations

import dataclasses
import enum


class Kind(enum.Enum):
    """Why an object gave no module: the word in the report, and the description in messages."""

    NO_BITCODE = "no_bitcode", "without bitcode (assembly, or compiled without -Xclang -fembed-bitcode=all)"
    FILTERED_OUT = "filtered_out", "left out by --cmd_filter"
    DUPLICATE = "duplicate", "with the same bitcode and command as another module"
    LISTED_AGAIN = "listed_again", "listed more than once"
    NO_OBJECT = "no_object", "that are no objects (other commands, linked programs)"
    MISSING_OBJECT = "missing_object", "that do not exist (not built, or relative to another directory: --obj_base_dir)"
    UNREADABLE_OBJECT = "unreadable_object", "that cannot be read"
    OBJCOPY_FAILED = "objcopy_failed", "on which llvm-objcopy failed"
    EMPTY_FILE = "empty_file", "that are empty files"
    LTO_OBJECT = "lto_object", "that are bitcode of ThinLTO (link with -Wl,--save-temps=import; see --thinlto_build)"
    FULL_LTO_OBJECT = (
        "full_lto_object",
        "that are bitcode of full LTO (build with -flto=thin or without LTO; see Full LTO in docs/corpora.md)",
    )
    BITCODE_FILE = "bitcode_file", "that are bitcode themselves (-emit-llvm; //mlgo:make_corpus takes .bc files)"
    WEB_ASSEMBLY = "web_assembly", "of WebAssembly, for which nothing here is measured (compile for Linux)"
    SEVERAL_MODULES = "several_modules", "that hold several modules (merged by ld -r)"
    HOLDS_ITSELF = "holds_itself", "whose bitcode holds a copy of itself: build them without -save-temps"
    OTHER_LLVM = "other_llvm", "whose bitcode another major of LLVM made: build them with the clang that mlgo has"
    NO_COMMAND = "no_command", "with bitcode and without its command"
    MISSING_INDEX = "missing_index", "without their ThinLTO index"
    NOT_PORTABLE = "not_portable", "whose command cannot be carried to another machine"
    FILE_OUTSIDE = "file_outside", "whose command names a file outside of the build (--allow_file_root allows it)"
    NAME_OUTSIDE = "name_outside", "outside the base directory (--obj_base_dir names another one)"
    NAME_TAKEN = "name_taken", "whose files would be another module's"

    def __init__(self, word: str, description: str):
        self.word = word
        self.description = description

    @property
    def is_failure(self) -> bool:
        """Whether --max_failures counts it: the object should have given a module and did not."""
        return self not in _EXPECTED


_EXPECTED = frozenset({Kind.NO_BITCODE, Kind.FILTERED_OUT, Kind.DUPLICATE, Kind.LISTED_AGAIN, Kind.NO_OBJECT})


class LeftOut(Exception):
    """This object gives no module.
    Attributes: reason: one clause with the particulars, no path of this machine in it."""

    def __init__(self, kind: Kind, reason: str):
        super().__init__(f"{kind.word}: {reason}")
        self.kind = kind
        self.reason = reason


@dataclasses.dataclass(frozen=True)
class Omission:
    """An object that was left out, by the name it would have had (or what the input calls it)."""

    name: str
    kind: Kind
    reason: str
