"""What is sent to nodes: our code, and for each compile a small parcel that refers to larger contents by digest.

A small policy, which only this compile uses, is part of the parcel; compiler and module stay on the nodes for later
compiles.
"""

import dataclasses
import functools
import io
import os
import pathlib
import tarfile
from collections.abc import Callable, Iterator, Mapping

from mlgo.compiler.request import CompileRequest
from mlgo.corpus.corpus import BITCODE_SUFFIX, COMMAND_SUFFIX, THINLTO_INDEX_SUFFIX, Module, join_command
from mlgo.run import locate
from mlgo.run.exit_codes import RunError
from mlgo.run.manifest import digest_of_bytes, digest_of_file

#: A policy up to this size, all its files together, is sent along with each compile. Ours have 20 to 200 KB.
_MAX_INLINE_BYTES = 1 << 20
_PIECE_BYTES = 8 << 20


# In place of what a node has at another place.
_NOWHERE = pathlib.Path()
_NO_MODULE = Module.at("", _NOWHERE, ())


@dataclasses.dataclass(frozen=True)
class Parcel:
    """One compile."""

    request: CompileRequest  #: clang, module and model_dir in it, which are paths on the driver, say nothing.
    module_name: str
    clang: str  #: digest of the compiler.
    #: files in the parcel, by name: `corpus/...` of a corpus with only this module, `model/...` of the policy.
    contents: Mapping[str, bytes]
    digests: Mapping[str, str]  #: files that must be on the node, by name -> sha256.
    has_thinlto: bool
    allowed_options: tuple[str, ...]  #: that the module's command may have (mlgo/corpus/options/README.md).
    shown: tuple[str, str | None]  #: how the driver calls compiler and policy, for messages; None: no policy.

    def all_digests(self) -> list[str]:
        """Everything that must be on a node before this can be compiled there."""
        return [self.clang, *self.digests.values()]


@dataclasses.dataclass(frozen=True)
class Job:
    """A parcel with the files that it names: digest -> what finds the file when it is to be read."""

    parcel: Parcel
    sources: Mapping[str, Callable[[], pathlib.Path]]

    def pieces(self, digest: str) -> Iterator[bytes]:
        """The content with `digest`, at least one piece. Raises: CorpusError, OSError: it cannot be read any more."""
        with open(self.sources[digest](), "rb") as file:
            yield file.read(_PIECE_BYTES)
            while piece := file.read(_PIECE_BYTES):
                yield piece


class Packer:
    """Makes jobs of requests; remembers commands and digests, so a module is read once per run."""

    def __init__(self) -> None:
        self._of_files: dict[tuple[str, int, int, int], str] = {}
        self._of_modules: dict[Module, tuple[bytes, dict[str, str]]] = {}

    def pack(self, request: CompileRequest) -> Job:
        """Raises: CorpusError, OSError: a file or option is refused; RunError: nodes lack a file that it needs."""
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
        sources: dict[str, Callable[[], pathlib.Path]] = {of_clang: lambda: clang}
        sources |= {digest: functools.partial(module.file, name) for name, digest in of_module.items()}
        if request.model_dir is not None:
            of_model = _files_below(request.model_dir)
            if sum(path.stat().st_size for path in of_model.values()) <= _MAX_INLINE_BYTES:
                contents |= {f"model/{name}": path.read_bytes() for name, path in of_model.items()}
            else:
                named = {name: self._file_digest(path) for name, path in of_model.items()}
                digests |= {f"model/{name}": digest for name, digest in named.items()}
                sources |= {digest: functools.partial(of_model.__getitem__, name) for name, digest in named.items()}
        shown = str(request.clang), None if request.model_dir is None else str(request.model_dir)
        asked = dataclasses.replace(request, clang=_NOWHERE, module=_NO_MODULE, model_dir=None, workdir=None)
        of_command = module.has_thinlto_index, module.allowed_options
        return Job(Parcel(asked, module.name, of_clang, contents, digests, *of_command, shown), sources)

    def _file_digest(self, path: pathlib.Path) -> str:
        status = path.stat()
        key = (str(path), status.st_ino, status.st_size, status.st_mtime_ns)
        if key not in self._of_files:
            self._of_files[key] = digest_of_file(path)
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
                found[name] = digest_of_file(module.file(name))
            self._of_modules[module] = join_command(recorded), found
        return self._of_modules[module]


def _files_below(folder: str | os.PathLike[str]) -> dict[str, pathlib.Path]:
    """Every file below `folder` by its relative name, sorted; symbolic links are followed."""
    found: dict[str, pathlib.Path] = {}
    for directory, folders, names in os.walk(folder, followlinks=True):
        folders.sort()
        paths = (pathlib.Path(directory, name) for name in sorted(names))
        found |= {path.relative_to(folder).as_posix(): path for path in paths}
    return found


#: Folders below mlgo/ with everything a compile needs; a test compiles with nothing else.
_FOLDERS = ("cluster", "compiler", "corpus", "problems", "run")
#: Native parts, and the table of the options that commands may have, by their workspace paths.
_OTHER_FILES = (
    "mlgo/compiler/libtraining_log_reader.so",
    "mlgo/compiler/limited_exec",
    "mlgo/corpus/options/chosen.json",
)


def pack_code() -> tuple[bytes, str]:
    """A tar archive with the tree of a runfiles directory, and its sha256 (hex). Equal code gives equal bytes."""
    import runfiles  # pylint: disable=import-outside-toplevel

    root = pathlib.Path(__file__).parents[2]
    members: dict[str, tuple[bytes, int]] = {}
    for folder in _FOLDERS:
        for path in (root / "mlgo" / folder).rglob("*.py"):
            place = path.relative_to(root)
            if not path.name.endswith("_test.py") and not {"testing", "testdata"} & set(place.parts):
                members[f"{locate.MAIN_REPOSITORY}/{place}"] = path.read_bytes(), 0o644
    for path in pathlib.Path(runfiles.__file__).parent.glob("*.py"):
        members[f"{locate.MAIN_REPOSITORY}/runfiles/{path.name}"] = path.read_bytes(), 0o644
    for name in list(members):
        # Without it, a folder of this name on the node's path that has one would win.
        for parent in pathlib.PurePosixPath(name).parents:
            if len(parent.parts) > 1:
                members.setdefault(f"{parent}/__init__.py", (b"", 0o644))
    for name in _OTHER_FILES:
        members[f"{locate.MAIN_REPOSITORY}/{name}"] = locate.runfile(name).read_bytes(), 0o755
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for name, (content, mode) in sorted(members.items()):
            member = tarfile.TarInfo(name)
            member.size, member.mode = len(content), mode
            tar.addfile(member, io.BytesIO(content))
    return archive.getvalue(), digest_of_bytes(archive.getvalue())
