"""Makes an unpacked Debian Bazel run where it lies, on a machine with an older libc and no Java.

Debian builds Bazel for its own file system: the system's loader and libraries, absolute jar paths. The steps below
replace these; they write below `tree`, and name `final`, the directory which the finished tree is renamed to.
"""

import io
import os
import pathlib
import re
import subprocess
import zipfile
from typing import Callable, Dict, List, Optional, Sequence

from toolchains.bazel import elf
from toolchains.bazel.errors import LauncherError

LIBRARIES = "usr/lib/x86_64-linux-gnu"
LOADER = LIBRARIES + "/ld-linux-x86-64.so.2"
INSTALL_BASE = "usr/share/bazel"
JARS = "usr/share/java"
CLIENT = "usr/bin/bazel"
HELPERS = "usr/libexec/x86_64-linux-gnu/bazel"
# The Java that the client starts the server with: a script around the real one.
SERVER_JAVA = "usr/lib/bazel-server-java"

# Left out when unpacking: nothing in a server or a build reads them.
UNWANTED = (
    "usr/share/doc/*",
    "usr/share/doc-base/*",
    "usr/share/man/*",
    "usr/share/info/*",
    "usr/share/locale/*",
    "usr/share/lintian/*",
    "usr/share/maven-repo/*",
    "usr/share/maven-poms/*",
    "usr/share/zsh/*",
    "usr/share/bash-completion/*",
    "usr/share/bug/*",
    "usr/lib/x86_64-linux-gnu/gconv/*",
    "usr/lib/x86_64-linux-gnu/perl/*",
    "usr/lib/systemd/*",
    # Class-data archives for heap layouts the server is not started with (it is started with compressed pointers).
    "usr/lib/jvm/*/lib/server/classes_*.jsa",
    "usr/share/gdb/*",
    "var/*",
)

# The character set that glibc reports for the C locale, and the one that Bazel's server needs.
_C_LOCALE_CHARSET = b"\0ANSI_X3.4-1968\0"
_BYTES_CHARSET = b"\0ISO-8859-1\0"

_CLASS_PATH = "bazel_classpath_debian_depends.txt"
_BUILD_DATA_JAR = "bazel-build-data.jar"
_REMEDY = (
    "Debian's packages have changed: set BAZEL to a Bazel >= 7.7, < 8, and tell the maintainers of "
    "toolchains/bazel/relocation.py"
)


def relocate(tree: pathlib.Path, final: pathlib.Path, patchelf: Sequence[str]) -> None:
    """Turns the unpacked packages in `tree` into a Bazel that works once `tree` is renamed to `final`.

    Args:
        patchelf: command that runs patchelf, without arguments.
    Raises:
        LauncherError: a file the packages used to have is not there, or a shared library is missing.
    """
    java = java_home(tree)
    check_libraries(tree, java)
    patch_programs(tree, final, java, patchelf)
    keep_bytes_of_paths(tree, java)
    write_class_path(tree, final)


def java_home(tree: pathlib.Path) -> str:
    """The Java runtime's directory, relative to `tree`."""
    found = sorted(
        path.parent.parent for path in tree.glob("usr/lib/jvm/*/bin/java") if not path.parent.parent.is_symlink()
    )
    if not found:
        raise LauncherError("usr/lib/jvm", "the packages hold no Java runtime", _REMEDY)
    return str(found[-1].relative_to(tree))


def build_label(tree: pathlib.Path) -> str:
    """Bazel's own version, e.g. `7.7.1`."""
    try:
        return (tree / INSTALL_BASE / "build-label.txt").read_text(encoding="ascii").strip()
    except OSError as error:
        raise LauncherError(f"{INSTALL_BASE}/build-label.txt", f"cannot be read ({error.strerror})", _REMEDY) from None


def programs(tree: pathlib.Path, java: str) -> List[pathlib.Path]:
    """Every executable which a server or a build starts."""
    candidates = [tree / CLIENT]
    candidates += sorted((tree / HELPERS).glob("*"))
    candidates += sorted((tree / java / "bin").glob("*")) + [tree / java / "lib" / "jspawnhelper"]
    found = []
    for path in candidates:
        if path.is_symlink() or not path.is_file():
            continue
        with open(path, "rb") as file:
            if elf.is_elf(file.read(4)):
                found.append(path)
    if tree / CLIENT not in found:
        raise LauncherError(CLIENT, "the packages hold no Bazel client", _REMEDY)
    return found


def check_libraries(tree: pathlib.Path, java: str) -> None:
    """Checks that all shared libraries which programs and the server's native code need are in the tree.

    The host's libraries would be found too, but they are of another libc: a gap must fail here, not at run time.
    """
    folders = [tree / LIBRARIES, tree / java / "lib", tree / java / "lib" / "server"]
    roots: Dict[str, elf.Elf] = {}
    for path in programs(tree, java) + [
        tree / java / "lib" / name for name in ("libjava.so", "libnio.so", "libnet.so", "server/libjvm.so")
    ]:
        roots[path.name] = _read_elf(path)
    for name, data in native_code(tree / INSTALL_BASE / "A-server.jar").items():
        roots[name] = elf.parse(data, name)

    def find(name: str) -> Optional[elf.Elf]:
        for folder in folders:
            if (folder / name).is_file():
                return _read_elf(folder / name)
        return None

    missing = elf.missing_libraries(roots, find)
    if missing:
        needs = ", ".join(f"{name} (needed by {by})" for name, by in sorted(missing.items()))
        raise LauncherError(
            "shared libraries of Debian's Bazel",
            f"not in the locked packages: {needs}",
            'Add their packages to group "bazel" of third_party/debian/packages.json and run '
            "python3 third_party/debian/lock.py",
        )


def native_code(server_jar: pathlib.Path) -> Dict[str, bytes]:
    """The shared libraries the server unpacks from its own jar: member name -> bytes."""
    try:
        with zipfile.ZipFile(server_jar) as jar:
            return {name: jar.read(name) for name in jar.namelist() if name.endswith(".so")}
    except (OSError, zipfile.BadZipFile) as error:
        raise LauncherError(server_jar.name, f"cannot be read ({error})", _REMEDY) from None


def _read_elf(path: pathlib.Path) -> elf.Elf:
    try:
        return elf.parse(path.read_bytes(), path.name)
    except OSError as error:
        raise LauncherError(path.name, f"cannot be read ({error.strerror})", _REMEDY) from None


def patch_programs(tree: pathlib.Path, final: pathlib.Path, java: str, patchelf: Sequence[str]) -> None:
    """Gives every program the tree's own loader and libraries.

    DT_RPATH and not DT_RUNPATH: only the former also serves the libraries of libraries and wins over LD_LIBRARY_PATH.
    """
    search = f"{final / java / 'lib'}:{final / LIBRARIES}"
    for path in programs(tree, java):
        parsed = _read_elf(path)
        command = list(patchelf)
        if parsed.interpreter:
            command += ["--set-interpreter", str(final / LOADER)]
        command += ["--force-rpath", "--set-rpath", search, str(path)]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        if done.returncode:
            raise LauncherError(
                str(path.relative_to(tree)),
                f"patchelf ended with {done.returncode}: {done.stdout.decode(errors='replace').strip()}",
                _REMEDY,
            )


def keep_bytes_of_paths(tree: pathlib.Path, java: str) -> None:
    """Makes the server's Java treat each byte of a path as one character, so that a path may be in any alphabet.

    Java takes the character set of paths from the locale and offers no option for it. Bazel needs ISO-8859-1: with
    UTF-8 or ASCII it does not find a path with a byte above 127. Few machines have a locale with ISO-8859-1. The
    server therefore runs in the C locale, which every machine has, and the tree's own C library reports ISO-8859-1
    for it. A script sets the locale, because `bazel run` and repository rules inherit the client's environment.

    Raises:
        LauncherError: the C library has no such name, or several.
    """
    library = tree / LIBRARIES / "libc.so.6"
    content = library.read_bytes()
    if content.count(_C_LOCALE_CHARSET) != 1:
        raise LauncherError(
            str(library.relative_to(tree)),
            f"has the character set of the C locale {content.count(_C_LOCALE_CHARSET)} times, not once",
            _REMEDY,
        )
    library.write_bytes(content.replace(_C_LOCALE_CHARSET, _BYTES_CHARSET.ljust(len(_C_LOCALE_CHARSET), b"\0")))
    script = tree / SERVER_JAVA / "bin" / "java"
    script.parent.mkdir(parents=True)
    root = "/".join([".."] * len(script.parent.relative_to(tree).parts))
    script.write_text(f'#!/bin/sh\nexport LC_ALL=C\nexec "${{0%/*}}/{root}/{java}/bin/java" "$@"\n', encoding="ascii")
    script.chmod(0o755)


def class_path_of(jar: bytes) -> List[str]:
    """File names in the Class-Path of a jar's manifest."""
    with zipfile.ZipFile(io.BytesIO(jar)) as archive:
        try:
            manifest = archive.read("META-INF/MANIFEST.MF").decode(errors="replace")
        except KeyError:
            return []
    unfolded = manifest.replace("\r\n", "\n").replace("\n ", "")
    match = re.search(r"^Class-Path:(.*)$", unfolded, re.MULTILINE)
    return [os.path.basename(word) for word in match.group(1).split()] if match else []


def class_path_closure(roots: Sequence[str], read: Callable[[str], Optional[bytes]]) -> List[str]:
    """Jar names reachable from `roots` through Class-Path, roots first, each once; jars `read` does not know are left
    out.
    """
    todo, seen = list(roots), []
    while todo:
        name = todo.pop(0)
        if name in seen:
            continue
        data = read(name)
        if data is None:
            continue
        seen.append(name)
        todo += class_path_of(data)
    return seen


def build_data(label: str) -> bytes:
    """A jar with the build-data.properties that Debian strips; without it native.bazel_version is empty."""
    text = (
        f"build.label={label}\nbuild.target=//src\\:bazel\nbuild.time=\nbuild.timestamp=\nbuild.timestamp.as.int=0\n"
        "main.class=com.google.devtools.build.lib.bazel.Bazel\n"
    )
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as jar:
        jar.writestr(zipfile.ZipInfo("build-data.properties"), text)
    return buffer.getvalue()


def write_class_path(tree: pathlib.Path, final: pathlib.Path) -> None:
    """Rewrites the list of jars the server starts with for the new place, and removes the jars it never reaches."""
    jars, listing = tree / JARS, tree / INSTALL_BASE / _CLASS_PATH
    try:
        roots = [os.path.basename(line) for line in listing.read_text(encoding="utf-8").split("\n") if line.strip()]
    except OSError as error:
        raise LauncherError(f"{INSTALL_BASE}/{_CLASS_PATH}", f"cannot be read ({error.strerror})", _REMEDY) from None

    def read(name: str) -> Optional[bytes]:
        path = jars / name
        return path.read_bytes() if path.is_file() else None

    reached = class_path_closure(roots, read)
    keep = {os.path.realpath(jars / name) for name in reached} | {str(jars.resolve() / name) for name in reached}
    for path in sorted(jars.rglob("*")):
        if (path.is_symlink() or path.is_file()) and os.path.join(str(path.parent.resolve()), path.name) not in keep:
            path.unlink()
    (jars / _BUILD_DATA_JAR).write_bytes(build_data(build_label(tree)))
    listing.write_bytes(os.fsencode("".join(f"{final / JARS / name}\n" for name in reached + [_BUILD_DATA_JAR])))
