"""The certificate authorities of the host, in a form Java reads.

Debian makes this file when Java is installed, which relocation does not do; without it https and grpcs remote caches
fail.
"""

import base64
import hashlib
import re
import struct
from typing import List

# Sun's JKS layout: magic, version, count, then entries of (tag 2 = trusted certificate, alias, time, type,
# certificate).
_MAGIC, _VERSION, _TRUSTED = 0xFEEDFEED, 2, 2
# Java's customary password for public certificates; it protects nothing and is only mixed into the digest.
_PASSWORD = "changeit".encode("utf-16-be")
_PEM = re.compile(rb"-----BEGIN CERTIFICATE-----(.*?)-----END CERTIFICATE-----", re.DOTALL)


def certificates(pem: bytes) -> List[bytes]:
    """The DER bytes of every certificate in a PEM bundle, each once, in order."""
    return list(dict.fromkeys(base64.b64decode(match.group(1)) for match in _PEM.finditer(pem)))


def java_key_store(ders: List[bytes]) -> bytes:
    """A JKS key store of trusted certificates; the same certificates give the same bytes."""
    body = struct.pack(">III", _MAGIC, _VERSION, len(ders))
    for index, der in enumerate(ders):
        alias, kind = f"ca{index}".encode(), b"X.509"
        body += struct.pack(">IH", _TRUSTED, len(alias)) + alias + struct.pack(">Q", 0)
        body += struct.pack(">H", len(kind)) + kind + struct.pack(">I", len(der)) + der
    return body + hashlib.sha1(_PASSWORD + b"Mighty Aphrodite" + body).digest()
