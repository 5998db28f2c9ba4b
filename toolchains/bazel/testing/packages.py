"""Small ELF files, jars and Debian packages for tests; together the packages look like Debian's Bazel."""

import io
import struct
import zipfile
from types import MappingProxyType
from typing import Dict, Mapping, Sequence

from toolchains.bazel import relocation

JAVA = "usr/lib/jvm/java-99-openjdk-amd64"


def elf_bytes(needed: Sequence[str] = (), soname: str = "", interpreter: str = "") -> bytes:
    """A valid 64-bit ELF file with these dynamic entries; it cannot run."""
    strings = b"\0"

    def string(text: str) -> int:
        nonlocal strings
        strings += text.encode() + b"\0"
        return len(strings) - len(text) - 1

    entries = [(1, string(name)) for name in needed] + ([(14, string(soname))] if soname else [])
    segments = 3 if interpreter else 2
    start = 64 + 56 * segments
    dynamic_size = 16 * (len(entries) + 2)
    text = interpreter.encode() + b"\0"
    size = start + dynamic_size + len(strings) + len(text)
    # The load address differs from the file offset, as in real files.
    base = 0x400000
    dynamic = b"".join(struct.pack("<qQ", *entry) for entry in entries + [(5, base + start + dynamic_size), (0, 0)])
    headers = struct.pack("<IIQQQQQQ", 1, 5, 64, base + 64, base + 64, size - 64, size - 64, 0x1000)
    headers += struct.pack("<IIQQQQQQ", 2, 6, start, base + start, base + start, dynamic_size, dynamic_size, 8)
    if interpreter:
        offset = start + dynamic_size + len(strings)
        headers += struct.pack("<IIQQQQQQ", 3, 4, offset, base + offset, base + offset, len(text), len(text), 1)
    header = struct.pack(
        "<16sHHIQQQIHHHHHH", b"\x7fELF\x02\x01\x01" + bytes(9), 3, 62, 1, 0, 64, 0, 0, 64, 56, segments, 64, 0, 0
    )
    return header + headers + dynamic + strings + text


def jar_bytes(class_path: str = "", members: Mapping[str, bytes] = MappingProxyType({})) -> bytes:
    """A jar with this Class-Path in its manifest."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as jar:
        if class_path:
            jar.writestr("META-INF/MANIFEST.MF", f"Manifest-Version: 1.0\r\nClass-Path: {class_path}\r\n\r\n")
        for name, content in members.items():
            jar.writestr(name, content)
    return buffer.getvalue()


def bazel_packages() -> Dict[str, Dict[str, bytes]]:
    """package name -> files, for packages from which a whole tree can be built."""
    loader = "/lib64/ld-linux-x86-64.so.2"
    helper = elf_bytes(["libc.so.6"], interpreter=loader)
    base = "./" + relocation.INSTALL_BASE
    return {
        "bazel-bootstrap": {
            "./" + relocation.CLIENT: elf_bytes(["libgrpc.so.1", "libc.so.6"], interpreter=loader),
            f"./{relocation.HELPERS}/linux-sandbox": helper,
            f"{base}/A-server.jar": jar_bytes(members={"native/libunix_jni.so": elf_bytes(["libblake3.so.0"])}),
            f"{base}/bazel_classpath_debian_depends.txt": b"/usr/share/java/guava.jar\n/usr/share/java/absent.jar\n",
            f"{base}/build-label.txt": b"7.7.1\n",
            "./usr/share/doc/bazel/copyright": b"text",
        },
        "java": {
            f"./{JAVA}/bin/java": elf_bytes(["libjava.so", "libc.so.6"], interpreter=loader),
            f"./{JAVA}/lib/libjava.so": elf_bytes(["libc.so.6"]),
            f"./{JAVA}/lib/libnio.so": elf_bytes(["libjava.so"]),
            f"./{JAVA}/lib/libnet.so": elf_bytes(["libjava.so"]),
            f"./{JAVA}/lib/server/libjvm.so": elf_bytes(["libc.so.6"]),
            f"./{JAVA}/lib/security/keep": b"",
        },
        "libraries": {
            f"./{relocation.LIBRARIES}/libc.so.6": elf_bytes(soname="libc.so.6") + b"\0ANSI_X3.4-1968\0rest",
            # Programs that run by it are scripts.
            f"./{relocation.LOADER}": b'#!/bin/sh\n[ "$1" = --library-path ] && [ -d "$2" ] && shift 2 && exec "$@"\n',
            f"./{relocation.LIBRARIES}/libgrpc.so.1": elf_bytes(["libc.so.6"]),
            f"./{relocation.LIBRARIES}/libblake3.so.0": elf_bytes(["libc.so.6"]),
        },
        "jars": {
            f"./{relocation.JARS}/guava.jar": jar_bytes("failureaccess.jar /usr/share/java/gone.jar"),
            f"./{relocation.JARS}/failureaccess.jar": jar_bytes(),
            f"./{relocation.JARS}/unreached.jar": jar_bytes(),
        },
    }
