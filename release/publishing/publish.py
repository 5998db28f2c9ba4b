"""Writes a release into a folder: everything that people download, and what proves where it comes from.

    ./bazelw run //release:publish -- --to=DIR                    # on other machines: sha256sum --check SHA256SUMS
    ./bazelw run //release:publish -- --to=DIR --sign_with=KEY    # also SHA256SUMS.asc, by gpg

    mlgo-clang-22.1.8.tar.gz                the compiler with policies, `mlgo` and settings; runs from any folder
    mlgo-clang_22.1.8+mlgo*_amd64.deb       the same as a Debian package: apt install ./mlgo-clang_...
    mlgo-clang-22.1.8.oci.tar               the same as a container image: podman load -i ...
    mlgo-*.whl                              corpora and evaluation for Python: pip install ./mlgo-...
    mlgo-policies.tar.gz                    the policies, for another clang with them inside
    mlgo-clang-22.1.8.intoto.json           provenance: an in-toto statement with SLSA's predicate
    mlgo-clang-22.1.8.cdx.json              bill of materials, CycloneDX
    README.txt, SHA256SUMS

Everything is built first, by Bazel, from the pinned archives; equal sources give equal bytes. DIR appears when it is
complete. What is there already is not changed.

Exit codes: 0 done, 2 the folder or the key is not usable, or files do not belong together.
"""

import hashlib
import pathlib
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Mapping, Sequence

from mlgo.flags.arguments import command_parser
from mlgo.run import locate
from mlgo.run.exit import exit_code_of
from mlgo.run.exit_codes import RunError
from mlgo.run.files import directory_written_atomically, read_json
from mlgo.run.manifest import digests_of
from release.publishing.bill import bill_of_materials

SUMS = "SHA256SUMS"
_PRODUCT = "mlgo-clang"
_BUILD_AGAIN = "Build it again with ./bazelw run //release:publish"


def published_name(built: str, version: str) -> str:
    """The name in a release of a file that Bazel calls `built`. Args: version: of the compiler."""
    ends = {"image.oci.tar": "oci.tar", "provenance.json": "intoto.json"}
    return f"{_PRODUCT}-{version}.{ends[built]}" if built in ends else built


def check_target(folder: pathlib.Path) -> None:
    """Raises: RunError: `folder` is there and is no empty directory."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise RunError(f"--to={folder}", "is there already", "Give a new folder: a release is never changed")


def digest_in_tarball(tarball: pathlib.Path) -> str:
    """sha256 of bin/clang in a compiler's tarball.

    Raises: RunError: it has none, or is damaged.
    """
    found = None
    try:
        with tarfile.open(tarball, "r|*") as tar:
            for member in tar:
                if member.isreg() and member.name.partition("/")[2] == "bin/clang":
                    content = tar.extractfile(member)
                    assert content is not None, "a regular file has content"
                    # It is an io.BufferedReader, of which the stubs of tarfile know nothing.
                    found = hashlib.file_digest(content, "sha256").hexdigest()  # type: ignore[arg-type]
    except (tarfile.TarError, EOFError, OSError) as error:
        raise RunError(str(tarball), f"cannot be read: {error}", _BUILD_AGAIN) from error
    if found is None:
        raise RunError(str(tarball), "has no bin/clang", _BUILD_AGAIN)
    return found


def write_release(
    target: pathlib.Path, artifacts: Mapping[str, pathlib.Path], version: str, key: str | None = None
) -> list[str]:
    """Writes the folder of a release.

    Args:
      target: the folder; not there, or empty.
      artifacts: name in the folder -> file. One of them is mlgo-clang-VERSION.tar.gz, one
        mlgo-clang-VERSION.intoto.json.
      version: of the compiler.
      key: gpg's name of the key that signs the sums; None: no signature.

    Returns: the names of all files that were written, sorted.
    Raises: RunError: `target` is taken, a file is empty or unreadable, the provenance is that of another compiler, or
      gpg failed. Nothing is written then.
    """
    check_target(target)
    tarball, statement = (artifacts[f"{_PRODUCT}-{version}.{end}"] for end in ("tar.gz", "intoto.json"))
    provenance = read_json(statement, "the compiler's provenance", _BUILD_AGAIN)
    bill = bill_of_materials(_PRODUCT, version, provenance)
    found = digest_in_tarball(tarball)
    if found != provenance["subject"][0]["digest"]["sha256"]:
        raise RunError(str(statement), f"is not of the compiler in {tarball}, which has sha256 {found}", _BUILD_AGAIN)
    with directory_written_atomically(target) as folder:
        (folder / f"{_PRODUCT}-{version}.cdx.json").write_bytes(bill)
        for name, file in artifacts.items():
            _copy(file, folder / name)
        names = [path.name for path in folder.iterdir()]
        sums = "".join(f"{digest}  {name}\n" for name, digest in digests_of(folder, names).items())
        (folder / SUMS).write_text(sums, encoding="ascii")
        if key is not None:
            _sign(folder / SUMS, key)
        return sorted(path.name for path in folder.iterdir())


def _copy(source: pathlib.Path, target: pathlib.Path) -> None:
    shutil.copyfile(source, target)
    if not target.stat().st_size:
        raise RunError(str(source), "is empty", _BUILD_AGAIN)
    target.chmod(0o644)


def _sign(file: pathlib.Path, key: str) -> None:
    flag = f"--sign_with={key}"
    command = ["gpg", "--local-user", key, "--armor", "--detach-sign", f"--output={file}.asc", str(file)]
    try:
        code = subprocess.run(command, check=False).returncode
    except FileNotFoundError as error:
        raise RunError(flag, "gpg is not installed", "Install it: apt-get install gnupg") from error
    if code:
        raise RunError(flag, f"gpg ended with exit code {code}", "Give a key that `gpg --list-secret-keys` shows")


def main(arguments: Sequence[str]) -> int:
    parser = command_parser("publish", __doc__)
    parser.add_argument("--to", metavar="DIR", required=True, help="folder of the release; made by this command")
    parser.add_argument("--sign_with", metavar="KEY", help="key of gpg that signs SHA256SUMS. Default: no signature")
    parser.add_argument("--version", required=True, help="of the compiler; set by the BUILD target")
    parser.add_argument("files", nargs="+", metavar="FILE", help="what is published; set by the BUILD target")
    flags = parser.parse_args(arguments)

    def publish() -> None:
        target = locate.user_path(flags.to)
        files = [locate.rlocation(file) for file in flags.files]
        artifacts = {published_name(file.name, flags.version): file for file in files}
        for name in write_release(target, artifacts, flags.version, flags.sign_with):
            print(f"{name:<48}{(target / name).stat().st_size / 1e6:10.1f} MB")
        print(f"written to {target}")

    return exit_code_of(publish)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
