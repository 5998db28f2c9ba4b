"""Our own code as an archive that is sent to nodes: the part that compiles, as this process runs it."""

import hashlib
import io
import pathlib
import tarfile

from mlgo.run import locate

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
    return archive.getvalue(), hashlib.sha256(archive.getvalue()).hexdigest()
