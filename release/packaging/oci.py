"""Writes a container image from finished layers: an OCI image layout in one tar. Equal layers give equal bytes.

    oci --output=image.tar --name=mlgo-clang:22.1.8 --layer=root.tar.gz --layer=compiler.tar.gz \\
        --entrypoint=/x/bin/clang [--env=A=B] [--label=A=B] [--provenance=provenance.json] \\
        [--working_directory=/src] [--user=1000:1000]

Format: OCI image specification 1.1 (layout, index, manifest, config). The tar also contains
docker's manifest.json, which lists the same blobs, for old versions of `docker load`. Layers are stored unchanged: the
digest in the image equals sha256sum of the file.
"""

import gzip
import hashlib
import io
import json
import pathlib
import sys
import tarfile
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

from mlgo.run.exit import exit_code_of
from mlgo.run.exit_codes import RunError
from release.packaging.arguments import pair, tool_parser

MANIFEST_TYPE = "application/vnd.oci.image.manifest.v1+json"
INDEX_TYPE = "application/vnd.oci.image.index.v1+json"
CONFIG_TYPE = "application/vnd.oci.image.config.v1+json"
LAYER_TYPE = "application/vnd.oci.image.layer.v1.tar+gzip"
#: The format requires a time; this one stands for none.
CREATED = "1970-01-01T00:00:00Z"
#: OCI's name of x86-64, which our compilers run on.
ARCHITECTURE = "amd64"


def encode(value: Any) -> bytes:
    """JSON in the form that is hashed: sorted, without white space."""
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode("utf-8")


def descriptor(media_type: str, content: bytes) -> dict[str, Any]:
    """The reference to a blob."""
    return {"mediaType": media_type, "digest": f"sha256:{hashlib.sha256(content).hexdigest()}", "size": len(content)}


def diff_id(layer: bytes, origin: str) -> str:
    """The digest of a layer without its compression.

    Raises: RunError: the layer is not compressed with gzip.
    """
    digest = hashlib.sha256()
    try:
        with gzip.open(io.BytesIO(layer)) as plain:
            for chunk in iter(lambda: plain.read(1 << 20), b""):
                digest.update(chunk)
    except (OSError, EOFError, zlib.error) as error:
        raise RunError(f"the layer {origin}", f"is no whole gzip file ({error})", "Give .tar.gz files") from error
    return f"sha256:{digest.hexdigest()}"


def policy_labels(provenance: Mapping[str, Any]) -> dict[str, str]:
    """Labels from our provenance: the compiler's digest, its version, and each policy's digest."""
    (subject,) = provenance["subject"]
    definition = provenance["predicate"]["buildDefinition"]
    labels = {
        "org.opencontainers.image.version": definition["internalParameters"]["llvm"],
        "mlgo.clang.sha256": subject["digest"]["sha256"],
    }
    for policy in definition["externalParameters"]["policies"]:
        labels[f"mlgo.policy.{policy['problem']}.sha256"] = policy["sha256"]
        labels[f"mlgo.policy.{policy['problem']}.training_run"] = policy["training_run"]
    return labels


def image(name: str, layers: Sequence[tuple[str, bytes]], config: Mapping[str, Any]) -> dict[str, bytes]:
    """Every file of the layout: path -> content.

    Args:
      name: NAME:TAG, under which tools file the loaded image.
      layers: (what it is, gzip'ed tar), the lowest first.
      config: the part "config" of the image's configuration: Entrypoint, Env, Labels, User, WorkingDir.
    """
    configuration = encode(
        {
            "architecture": ARCHITECTURE,
            "os": "linux",
            "created": CREATED,
            "config": config,
            "rootfs": {"type": "layers", "diff_ids": [diff_id(content, what) for what, content in layers]},
            "history": [{"created": CREATED, "created_by": what} for what, _ in layers],
        }
    )
    manifest = encode(
        {
            "schemaVersion": 2,
            "mediaType": MANIFEST_TYPE,
            "config": descriptor(CONFIG_TYPE, configuration),
            "layers": [descriptor(LAYER_TYPE, content) for _, content in layers],
        }
    )
    index = encode(
        {
            "schemaVersion": 2,
            "mediaType": INDEX_TYPE,
            "manifests": [
                {
                    **descriptor(MANIFEST_TYPE, manifest),
                    "platform": {"architecture": ARCHITECTURE, "os": "linux"},
                    "annotations": {"org.opencontainers.image.ref.name": name},
                }
            ],
        }
    )
    blobs = {_blob(content): content for content in [configuration, manifest, *(content for _, content in layers)]}
    docker = encode(
        [{"Config": _blob(configuration), "RepoTags": [name], "Layers": [_blob(content) for _, content in layers]}]
    )
    return {
        "oci-layout": encode({"imageLayoutVersion": "1.0.0"}),
        "index.json": index,
        "manifest.json": docker,
        **blobs,
    }


def _blob(content: bytes) -> str:
    return f"blobs/sha256/{hashlib.sha256(content).hexdigest()}"


def write(output, files: Mapping[str, bytes]) -> None:
    """Writes the files as a tar to the binary file `output`, sorted, without time stamps or names of users."""
    with tarfile.open(fileobj=output, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for folder in ("blobs", "blobs/sha256"):
            entry = tarfile.TarInfo(folder)
            entry.type, entry.mode = tarfile.DIRTYPE, 0o755
            tar.addfile(entry)
        for path, content in sorted(files.items()):
            entry = tarfile.TarInfo(path)
            entry.size, entry.mode = len(content), 0o644
            tar.addfile(entry, io.BytesIO(content))


def main(arguments: list[str]) -> int:
    parser = tool_parser(__doc__)
    parser.add_argument("--name", required=True, help="NAME:TAG of the image")
    parser.add_argument(
        "--layer", type=pathlib.Path, action="append", required=True, help="a .tar.gz, the lowest first"
    )
    parser.add_argument("--entrypoint", action="append", default=[], help="a word of the command that the image is")
    parser.add_argument("--env", action="append", default=[], help="NAME=VALUE")
    parser.add_argument("--label", type=pair, action="append", default=[], help="NAME=VALUE")
    parser.add_argument("--provenance", type=pathlib.Path, help="provenance.json of the compiler inside, for labels")
    parser.add_argument("--working_directory", default="/", help="where the command starts (default: %(default)s)")
    parser.add_argument("--user", default="", help="UID:GID the command runs as (default: root)")
    flags = parser.parse_args(arguments)
    labels = dict(flags.label)
    if flags.provenance:
        labels.update(policy_labels(json.loads(flags.provenance.read_text(encoding="utf-8"))))
    config = {"Env": flags.env, "Labels": labels, "WorkingDir": flags.working_directory}
    if flags.entrypoint:
        config["Entrypoint"] = flags.entrypoint
    if flags.user:
        config["User"] = flags.user

    def build() -> None:
        files = image(flags.name, [(path.name, path.read_bytes()) for path in flags.layer], config)
        with open(flags.output, "wb") as output:
            write(output, files)

    return exit_code_of(build)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
