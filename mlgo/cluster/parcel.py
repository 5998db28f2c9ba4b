"""The message for one compile on a node: a small parcel that refers to larger contents by digest.

A small policy, which only this compile uses, is part of the parcel; compiler and module stay on the nodes for later
compiles.
"""

import dataclasses
import hashlib
import os
import pathlib
from collections.abc import Iterator, Mapping

from mlgo.compiler.request import CompileRequest
from mlgo.corpus.corpus import BITCODE_SUFFIX, COMMAND_SUFFIX, THINLTO_INDEX_SUFFIX, Module, join_command
from mlgo.run.exit_codes import RunError

#: A policy up to this size, all its files together, is sent along with each compile. Ours have 20 to 200 KB.
_MAX_INLINE_BYTES = 1 << 20
_PIECE_BYTES = 8 << 20


# In place of what a node has at another place.
_NOWHERE = pathlib.Path()
_NO_MODULE = Module.at("", _NOWHERE, ())


@dataclasses.dataclass(frozen=True)
class Parcel:
    """One compile.

    Attributes:
      request: what is asked for; clang, module and model_dir, which are paths on the driver, say nothing.
      clang: digest of the compiler.
      contents: files in the parcel, by name: `corpus/...` of a corpus with only this module, `model/...` of the policy.
      digests: files that must be on the node, by name -> sha256.
      allowed_options: options that the module's command may have (mlgo/corpus/options/README.md).
      shown: how the driver calls compiler and policy, for messages: None where there is no policy.
    """

    request: CompileRequest
    module_name: str
    clang: str
    contents: Mapping[str, bytes]
    digests: Mapping[str, str]
    has_thinlto: bool
    allowed_options: tuple[str, ...]
    shown: tuple[str, str | None]

    def all_digests(self) -> list[str]:
        """Everything that must be on a node before this can be compiled there."""
        return [self.clang, *self.digests.values()]


@dataclasses.dataclass(frozen=True)
class Job:
    """A parcel with the files that it names: digest -> path, or the module's file that is to be read."""

    parcel: Parcel
    sources: Mapping[str, "pathlib.Path | tuple[Module, str]"]

    def pieces(self, digest: str) -> Iterator[bytes]:
        """The content with `digest`, at least one piece.

        Raises: CorpusError, OSError: it cannot be read any more.
        """
        source = self.sources[digest]
        if isinstance(source, pathlib.Path):
            yield from _pieces(source)
        else:
            module, name = source
            yield from _pieces(module.file(name))


class Packer:
    """Makes jobs of requests; remembers commands and digests, so a module is read once per run."""

    def __init__(self) -> None:
        self._of_files: dict[tuple[str, int, int, int], str] = {}
        self._of_modules: dict[Module, tuple[bytes, dict[str, str]]] = {}

    def pack(self, request: CompileRequest) -> Job:
        """The job of a request.

        Raises:
          CorpusError, OSError: a file cannot be read, or the command has an option that is refused.
          RunError: the compile needs a file of the compiler's tree, which nodes do not get.
        """
        if request.problem is not None and request.problem.vocabulary is not None:
            wrong = f"nodes get the compiler without the IR2Vec vocabulary of {request.problem.name}"
            raise RunError("--executor=ray", wrong, "Remove the flag, or give the problem without +ir2vec")
        module, clang = request.module, pathlib.Path(os.path.realpath(request.clang))
        of_clang, (recorded, of_module) = self._file_digest(clang), self._read_module(module)
        contents = {f"corpus/{module.name}{COMMAND_SUFFIX}": recorded}
        digests = {
            f"corpus/{module.name}{name}" if name.startswith(".") else f"corpus/{name}": digest
            for name, digest in of_module.items()
        }
        sources: dict[str, pathlib.Path | tuple[Module, str]] = {of_clang: clang}
        sources |= {digest: (module, name) for name, digest in of_module.items()}
        if request.model_dir is not None:
            of_model = _files_below(request.model_dir)
            if sum(path.stat().st_size for path in of_model.values()) <= _MAX_INLINE_BYTES:
                contents |= {f"model/{name}": path.read_bytes() for name, path in of_model.items()}
            else:
                named = {name: self._file_digest(path) for name, path in of_model.items()}
                digests |= {f"model/{name}": digest for name, digest in named.items()}
                sources |= {digest: of_model[name] for name, digest in named.items()}
        parcel = Parcel(
            request=dataclasses.replace(request, clang=_NOWHERE, module=_NO_MODULE, model_dir=None, workdir=None),
            module_name=module.name,
            clang=of_clang,
            contents=contents,
            digests=digests,
            has_thinlto=module.has_thinlto_index,
            allowed_options=module.allowed_options,
            shown=(str(request.clang), None if request.model_dir is None else str(request.model_dir)),
        )
        return Job(parcel, sources)

    def _file_digest(self, path: pathlib.Path) -> str:
        status = path.stat()
        key = (str(path), status.st_ino, status.st_size, status.st_mtime_ns)
        if key not in self._of_files:
            self._of_files[key] = _sha256(_pieces(path))
        return self._of_files[key]

    def _read_module(self, module: Module) -> tuple[bytes, dict[str, str]]:
        """The module's command, and the digests of its files by name."""
        if module not in self._of_modules:
            recorded = module.command
            # Here, as a local compile does: on a node it would look like a fault of every node, one after the other.
            _ = recorded.portable
            suffixes = [BITCODE_SUFFIX, *([THINLTO_INDEX_SUFFIX] if module.has_thinlto_index else [])]
            found = {suffix: module.sha256(suffix).hex() for suffix in suffixes}
            for name in recorded.carried_files:
                found[name] = _sha256(_pieces(module.file(name)))
            self._of_modules[module] = join_command(recorded), found
        return self._of_modules[module]


def _files_below(folder: str | os.PathLike[str]) -> dict[str, pathlib.Path]:
    """Every file below `folder` by its relative name, sorted; symbolic links are followed."""
    found = {}
    for directory, folders, names in os.walk(folder, followlinks=True):
        folders.sort()
        for name in sorted(names):
            path = pathlib.Path(directory, name)
            found[path.relative_to(folder).as_posix()] = path
    return found


def _pieces(path: pathlib.Path) -> Iterator[bytes]:
    with open(path, "rb") as file:
        yield file.read(_PIECE_BYTES)
        while piece := file.read(_PIECE_BYTES):
            yield piece


def _sha256(pieces: Iterator[bytes]) -> str:
    whole = hashlib.sha256()
    for piece in pieces:
        whole.update(piece)
    return whole.hexdigest()
