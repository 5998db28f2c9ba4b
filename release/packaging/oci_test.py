import gzip
import hashlib
import io
import json
import tarfile
import unittest

from mlgo.run.exit_codes import RunError
from release.packaging import oci

LAYERS = [("root.tar.gz", gzip.compress(b"lower", mtime=0)), ("compiler.tar.gz", gzip.compress(b"upper", mtime=0))]


def digest(content):
    return "sha256:" + hashlib.sha256(content).hexdigest()


class OciTest(unittest.TestCase):
    def test_everything_names_everything_by_digest(self):
        files = oci.image("name:1", LAYERS, {"Entrypoint": ["/x"]})
        (described,) = json.loads(files["index.json"])["manifests"]
        # buildah and podman file the image under this name.
        self.assertEqual(described["annotations"], {"org.opencontainers.image.ref.name": "name:1"})
        manifest = files["blobs/sha256/" + described["digest"].removeprefix("sha256:")]
        self.assertEqual((digest(manifest), len(manifest)), (described["digest"], described["size"]))
        manifest = json.loads(manifest)
        config = json.loads(files["blobs/sha256/" + manifest["config"]["digest"].removeprefix("sha256:")])
        self.assertEqual(config["rootfs"]["diff_ids"], [digest(b"lower"), digest(b"upper")])
        self.assertEqual(config["config"], {"Entrypoint": ["/x"]})
        self.assertEqual([layer["digest"] for layer in manifest["layers"]], [digest(content) for _, content in LAYERS])
        self.assertEqual(len(config["history"]), len(LAYERS))

    def test_the_archive_is_the_same_every_time(self):
        archives = []
        for _ in range(2):
            output = io.BytesIO()
            oci.write(output, oci.image("name:1", LAYERS, {}))
            archives.append(output.getvalue())
        self.assertEqual(*archives)
        with tarfile.open(fileobj=io.BytesIO(archives[0])) as tar:
            self.assertEqual({(member.mtime, member.uid, member.uname) for member in tar}, {(0, 0, "")})

    def test_a_layer_that_is_no_gzip_file(self):
        for content in (b"plain", LAYERS[0][1][:-4], LAYERS[0][1][:-8] + bytes(8)):
            with (
                self.subTest(content),
                self.assertRaisesRegex(RunError, "^the layer bad: is no whole gzip file .* Give .tar.gz files"),
            ):
                oci.image("name:1", [("bad", content)], {})

    def test_labels_come_from_provenance(self):
        provenance = {
            "subject": [{"name": "bin/clang", "digest": {"sha256": "c" * 64}}],
            "predicate": {
                "buildDefinition": {
                    "internalParameters": {"llvm": "1.2.3"},
                    "externalParameters": {
                        "policies": [{"problem": "p", "sha256": "d" * 64, "training_run": "seed 1"}]
                    },
                }
            },
        }
        self.assertEqual(
            oci.policy_labels(provenance),
            {
                "org.opencontainers.image.version": "1.2.3",
                "mlgo.clang.sha256": "c" * 64,
                "mlgo.policy.p.sha256": "d" * 64,
                "mlgo.policy.p.training_run": "seed 1",
            },
        )


if __name__ == "__main__":
    unittest.main()
