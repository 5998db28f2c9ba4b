"""Trees of Rust tools made of made-up packages."""

import json
import os
import pathlib
import tempfile
import unittest
import unittest.mock

import chromium_lock
import lockfile
import make_rust
import unpack

from third_party.debian.testing import archives


class RustTest(unittest.TestCase):
    """A folder, a cache and a mirror of archives; nothing else can be reached."""

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.root, self.mirror = self.folder / "repository", self.folder / "mirror"
        self.root.mkdir()
        environment = {"XDG_CACHE_HOME": str(self.folder / "cache"), "MLGO_DEBIAN_MIRRORS": str(self.mirror)}
        patcher = unittest.mock.patch.dict(os.environ, environment)
        patcher.start()
        self.addCleanup(patcher.stop)

    def serve(self, name: str, content: bytes) -> lockfile.Entry:
        entry = archives.entry(name, content, f"pool/{name}")
        (self.mirror / "pool").mkdir(parents=True, exist_ok=True)
        (self.mirror / entry.path).write_bytes(content)
        return entry

    def make(self, packaging: bytes) -> None:
        source = archives.entry("orig", b"is not asked for")
        pinned = {"debian": chromium_lock.Origin("150.0.1.2-1", source, self.serve("debian", packaging))}
        lock = self.folder / "lock.json"
        lock.write_text(chromium_lock.to_text(pinned), encoding="utf-8")
        rustc = self.serve("rustc", archives.deb_bytes({"./usr/bin/rustc": b"rustc", "./usr/share/doc/x": b"x"}))
        make_rust.make_rust(
            {
                "lock": str(lock),
                "tree": {
                    "entries": [{**rustc.to_json(), "name": "rustc"}],
                    "exclude": ["usr/share/*"],
                    "kind": "packages",
                    "rpath": [],
                },
            },
            self.root,
        )

    def test_rust_and_bindgen_of_this_machine(self):
        self.make(
            archives.tar_bytes(
                {
                    "./debian/bindgen/bindgen_0.66.1-3_arm64.deb": b"of another machine",
                    "./debian/bindgen/bindgen_0.66.1-3_amd64.deb": archives.deb_bytes(
                        {"./usr/bin/bindgen": b"bindgen"}
                    ),
                }
            )
        )
        self.assertEqual(archives.tree(self.root / "usr"), {"bin/bindgen": b"bindgen", "bin/rustc": b"rustc"})
        fingerprints = json.loads((self.root / "fingerprints.json").read_text(encoding="utf-8"))
        self.assertEqual(fingerprints["bindgen"]["file"], "debian/bindgen/bindgen_0.66.1-3_amd64.deb")
        self.assertEqual(fingerprints["tree"]["entries"][0]["name"], "rustc")

    def test_version_without_bindgen(self):
        with self.assertRaisesRegex(
            unpack.UnpackError, r"^[0-9a-f]{64}: has no debian/bindgen/\*_amd64.deb; pin a version"
        ):
            self.make(archives.tar_bytes({"debian/rules": b"all:\n"}))

    def test_damaged_packaging_is_named(self):
        with self.assertRaisesRegex(unpack.UnpackError, "damaged .*fetch it again"):
            self.make(archives.tar_bytes({"debian/rules": os.urandom(100_000)})[:-50_000])

    def test_source_that_is_not_pinned(self):
        (self.folder / "lock.json").write_text(chromium_lock.to_text({}), encoding="utf-8")
        with self.assertRaisesRegex(lockfile.LockError, "no origin debian"):
            make_rust.make_rust({"lock": str(self.folder / "lock.json"), "tree": {}}, self.root)


if __name__ == "__main__":
    unittest.main()
