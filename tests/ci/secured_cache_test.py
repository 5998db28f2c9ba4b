"""The cache server of examples/ci: all clients read, and only one with the password writes."""

import argparse
import hashlib
import os
import pathlib
import ssl
import sys
import tempfile
import unittest
import urllib.error
import urllib.request

from tests.ci import secured_cache

CONTENT = b"a result"
PATH = f"/cas/{hashlib.sha256(CONTENT).hexdigest()}"


class SecuredCacheTest(unittest.TestCase):
    nginx: pathlib.Path
    cache: secured_cache.SecuredCache

    @classmethod
    def setUpClass(cls):
        folder = pathlib.Path(tempfile.mkdtemp(dir=os.environ["TEST_TMPDIR"]))
        cls.cache = cls.enterClassContext(secured_cache.serving(cls.nginx, folder / "cache"))

    def ask(self, method, path, password=None, trusted=True):
        """Code and content of the answer."""
        headers = {} if password is None else {"Authorization": secured_cache.authorization(password)}
        data = CONTENT if method == "PUT" else None
        request = urllib.request.Request(self.cache.url + path, data=data, method=method, headers=headers)
        context = ssl.create_default_context(cafile=self.cache.certificate if trusted else None)
        try:
            with urllib.request.urlopen(request, context=context, timeout=20) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as error:
            return error.code, b""

    def test_a_client_without_the_password_reads_and_does_not_write(self):
        other = PATH[:-4] + "0000"
        for method in ("PUT", "DELETE", "POST", "MKCOL"):
            with self.subTest(method=method):
                self.assertEqual(self.ask(method, other)[0], 401)
        self.assertEqual(self.ask("PUT", other, "wrong horse")[0], 401)
        self.assertEqual(self.ask("GET", other)[0], 404)
        self.assertEqual(self.ask("PUT", PATH, secured_cache.PASSWORD)[0], 201)
        self.assertEqual(self.ask("GET", PATH), (200, CONTENT))
        self.assertEqual(self.ask("HEAD", PATH), (200, b""))

    def test_the_password_does_not_delete(self):
        self.assertEqual(self.ask("DELETE", PATH, secured_cache.PASSWORD)[0], 405)

    def test_the_certificate_counts(self):
        with self.assertRaisesRegex(urllib.error.URLError, "certificate verify failed"):
            self.ask("GET", PATH, trusted=False)

    def test_plain_http_is_refused(self):
        with self.assertRaisesRegex(urllib.error.HTTPError, "400"):
            urllib.request.urlopen(self.cache.url.replace("https:", "http:") + PATH, timeout=20)

    def test_the_server_keeps_its_own_files(self):
        for name in ("passwords", "privkey.pem", "nginx.conf", "../passwords"):
            with self.subTest(name=name):
                self.assertIn(self.ask("GET", f"/{name}")[0], (400, 404))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--nginx", type=pathlib.Path, required=True)
    # nginx's libraries are found relative to where it really lies.
    SecuredCacheTest.nginx = parser.parse_args().nginx.resolve()
    unittest.main(argv=sys.argv[:1])
