"""nginx as a cache server with TLS and a password, on loopback, from the files of examples/ci/cache_server."""

import base64
import contextlib
import crypt
import dataclasses
import datetime
import ipaddress
import os
import pathlib
from collections.abc import Iterator

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.remote_cache import cache_server

_RUNFILES = pathlib.Path(os.environ["TEST_SRCDIR"], os.environ["TEST_WORKSPACE"])
_FILES = _RUNFILES / "examples/ci/cache_server"
_TEMPLATE = _RUNFILES / "tests/remote_cache/nginx.conf"

USER, PASSWORD = "ci", "correct-horse"


@dataclasses.dataclass(frozen=True)
class SecuredCache:
    """A running server.

    Attributes:
      url: https://...
      certificate: PEM file of its certificate, which is its own authority.
      folder: has access.log and data.
    """

    url: str
    certificate: pathlib.Path
    folder: pathlib.Path

    def requests(self) -> list[str]:
        """What the server was asked so far: METHOD PATH CODE."""
        lines = (self.folder / "access.log").read_text(encoding="utf-8").splitlines()
        fields = (line.split('"') for line in lines)
        return [f"{parts[1].rpartition(' ')[0]} {parts[2].split()[0]}" for parts in fields]


def authorization(password: str = PASSWORD) -> str:
    """Value of the header Authorization."""
    return "Basic " + base64.b64encode(f"{USER}:{password}".encode()).decode()


@contextlib.contextmanager
def serving(nginx: pathlib.Path, folder: pathlib.Path) -> Iterator[SecuredCache]:
    """Serves `folder`/data to all, and takes results from the client with the password.

    Raises: AssertionError: nginx does not start; carries what it says.
    """
    folder.mkdir(parents=True)
    certificate = folder / "fullchain.pem"
    _write_certificate(certificate, folder / "privkey.pem")
    hashed = crypt.crypt(PASSWORD, crypt.METHOD_SHA512)
    (folder / "passwords").write_text(f"{USER}:{hashed}\n", encoding="utf-8")
    texts = {path.stem: path.read_text(encoding="utf-8") for path in _FILES.glob("*.conf")}
    with cache_server.serving(nginx, _TEMPLATE, folder, texts["writers"], texts["tls"]) as url:
        yield SecuredCache(url, certificate, folder)


def _write_certificate(certificate: pathlib.Path, key_file: pathlib.Path) -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "cache of a test")])
    now = datetime.datetime.now(datetime.UTC)
    signed = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        # Clocks of machines differ.
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ipaddress.IPv4Address("127.0.0.1"))]), critical=False
        )
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    certificate.write_bytes(signed.public_bytes(serialization.Encoding.PEM))
    key_file.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
