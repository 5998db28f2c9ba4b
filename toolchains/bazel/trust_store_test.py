import base64
import hashlib
import struct
import unittest

from toolchains.bazel import trust_store


def pem(der):
    return b"-----BEGIN CERTIFICATE-----\n" + base64.encodebytes(der) + b"-----END CERTIFICATE-----\n"


def read_key_store(data):
    """Reads a JKS key store the way Java does; returns alias -> certificate."""
    magic, version, count = struct.unpack_from(">III", data)
    assert (magic, version) == (0xFEEDFEED, 2)
    position, found = 12, {}
    for _ in range(count):
        tag, length = struct.unpack_from(">IH", data, position)
        assert tag == 2
        alias = data[position + 6 : position + 6 + length].decode()
        position += 6 + length + 8
        (length,) = struct.unpack_from(">H", data, position)
        assert data[position + 2 : position + 2 + length] == b"X.509"
        position += 2 + length
        (length,) = struct.unpack_from(">I", data, position)
        found[alias] = data[position + 4 : position + 4 + length]
        position += 4 + length
    assert (
        data[position:] == hashlib.sha1("changeit".encode("utf-16-be") + b"Mighty Aphrodite" + data[:position]).digest()
    )
    return found


class TrustStoreTest(unittest.TestCase):
    def test_round_trip_drops_what_is_there_twice(self):
        ders = [b"\x30one" * 40, b"\x30two"]
        bundle = b"# comment\n" + pem(ders[0]) + pem(ders[1]) + pem(ders[0])
        store = trust_store.java_key_store(trust_store.certificates(bundle))
        self.assertEqual(read_key_store(store), {"ca0": ders[0], "ca1": ders[1]})

    def test_no_certificates_make_an_empty_store(self):
        self.assertEqual(read_key_store(trust_store.java_key_store(trust_store.certificates(b""))), {})


if __name__ == "__main__":
    unittest.main()
