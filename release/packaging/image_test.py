"""The released image conforms to the OCI format, and its command works on the root that its layers form."""

import gzip
import hashlib
import json
import os
import pathlib
import tarfile
import tempfile
import unittest
from typing import Any

from mlgo.run.locate import runfile
from release.packaging import oci
from release.packaging.testing import machine

#: Of the LLVM that the compiler is made of: "22.1.8".
VERSION = os.environ["LLVM_VERSION"]


def content(tar: tarfile.TarFile, member: str | tarfile.TarInfo) -> bytes:
    file = tar.extractfile(member)
    assert file, f"{member} is no file"
    return file.read()


class ImageTest(unittest.TestCase):
    files: dict[str, bytes]
    index: dict[str, Any]
    described: dict[str, Any]
    manifest: dict[str, Any]
    config: dict[str, Any]

    @classmethod
    def setUpClass(cls):
        with tarfile.open(runfile("release/packaging/image.oci.tar")) as tar:
            cls.files = {member.name: content(tar, member) for member in tar if member.isfile()}
        cls.index = json.loads(cls.files["index.json"])
        (cls.described,) = cls.index["manifests"]
        cls.manifest = json.loads(cls.blob(cls.described))
        cls.config = json.loads(cls.blob(cls.manifest["config"]))

    @classmethod
    def blob(cls, described):
        algorithm, digest = described["digest"].split(":")
        return cls.files[f"blobs/{algorithm}/{digest}"]

    def test_every_blob_is_what_it_is_called(self):
        for described in [self.described, self.manifest["config"], *self.manifest["layers"]]:
            content = self.blob(described)
            self.assertEqual(described["size"], len(content))
            self.assertEqual(described["digest"], "sha256:" + hashlib.sha256(content).hexdigest())
        blobs = {name for name in self.files if name.startswith("blobs/")}
        self.assertEqual(len(blobs), 2 + len(self.manifest["layers"]))

    def test_media_types(self):
        self.assertEqual(json.loads(self.files["oci-layout"]), {"imageLayoutVersion": "1.0.0"})
        self.assertEqual(self.index["mediaType"], oci.INDEX_TYPE)
        self.assertEqual(self.described["mediaType"], oci.MANIFEST_TYPE)
        self.assertEqual(self.manifest["mediaType"], oci.MANIFEST_TYPE)
        self.assertEqual(self.manifest["config"]["mediaType"], oci.CONFIG_TYPE)
        self.assertEqual([layer["mediaType"] for layer in self.manifest["layers"]], [oci.LAYER_TYPE] * 2)

    def test_layers_are_named_without_compression_too(self):
        plain = [
            "sha256:" + hashlib.sha256(gzip.decompress(self.blob(layer))).hexdigest()
            for layer in self.manifest["layers"]
        ]
        self.assertEqual(self.config["rootfs"], {"type": "layers", "diff_ids": plain})
        (docker,) = json.loads(self.files["manifest.json"])
        self.assertEqual(
            docker["Layers"], [f"blobs/sha256/{layer['digest'].split(':')[1]}" for layer in self.manifest["layers"]]
        )
        self.assertEqual(self.files[docker["Config"]], self.blob(self.manifest["config"]))

    def test_the_upper_layer_is_the_tarball(self):
        tarball = runfile(f"release/packaging/mlgo-clang-{VERSION}.tar.gz").read_bytes()
        self.assertEqual(self.manifest["layers"][1]["digest"], "sha256:" + hashlib.sha256(tarball).hexdigest())

    def test_labels_name_the_policies(self):
        with tarfile.open(runfile(f"release/packaging/mlgo-clang-{VERSION}.tar.gz")) as tar:
            provenance = json.loads(content(tar, f"mlgo-clang-{VERSION}/provenance.json"))
        labels = self.config["config"]["Labels"]
        self.assertEqual(labels["org.opencontainers.image.version"], VERSION)
        for policy in provenance["predicate"]["buildDefinition"]["externalParameters"]["policies"]:
            self.assertEqual(labels[f"mlgo.policy.{policy['problem']}.sha256"], policy["sha256"])

    def test_the_command_works(self):
        with tempfile.TemporaryDirectory() as scratch:
            root = pathlib.Path(scratch)
            for number, layer in enumerate(self.manifest["layers"]):
                packed = root.with_name(f"{root.name}-{number}.tar.gz")
                packed.write_bytes(self.blob(layer))
                self.addCleanup(packed.unlink)
                machine.unpack(packed, root)
            entered, how = machine.enter(root)
            if entered is None:
                self.skipTest(f"chroot and user namespaces are unavailable on this machine ({how})")
            settings = self.config["config"]
            environment = dict(word.split("=", 1) for word in settings["Env"])
            (root / "src/x.c").write_text('#include <stdio.h>\nint main(void) { return puts("made") < 0; }\n')
            entered.run(
                [*settings["Entrypoint"], "-O2", "-mllvm", "-regalloc-enable-advisor=release", "x.c", "-o", "x"],
                settings["WorkingDir"],
                environment,
            )
            self.assertEqual(entered.run(["/src/x"]), "made\n")


if __name__ == "__main__":
    unittest.main()
