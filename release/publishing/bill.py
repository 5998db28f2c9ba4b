"""The bill of materials (SBOM) of a compiler, in CycloneDX's JSON, from its provenance."""

import uuid
from collections.abc import Mapping
from typing import Any

from cyclonedx.model import HashAlgorithm, HashType
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL

from mlgo.run.exit_codes import RunError

_BUILD_AGAIN = "Build it again with ./bazelw run //release:publish"


def bill_of_materials(name: str, version: str, provenance: Mapping[str, Any]) -> bytes:
    """Every archive from which a compiler was built, and the policies inside, as components of it.

    Equal provenance gives equal bytes: there is no time in it, and its serial number follows from the digest of clang.

    Args:
      name: of the product: "mlgo-clang".
      version: of the product.
      provenance: the in-toto statement of release/packaging/provenance.py.

    Raises: RunError: the provenance lacks a field.
    """
    try:
        clang = provenance["subject"][0]["digest"]["sha256"]
        definition = provenance["predicate"]["buildDefinition"]
        parts = [_archive(entry) for entry in definition["resolvedDependencies"]]
        parts += [_policy(entry) for entry in definition["externalParameters"]["policies"]]
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise RunError("provenance.json", f"is not that of a compiler: {error!r}", _BUILD_AGAIN) from error
    product = Component(
        name=name, version=version, type=ComponentType.APPLICATION, bom_ref=name, hashes=[_sha256(clang)]
    )
    bill = Bom(components=parts, serial_number=uuid.uuid5(uuid.NAMESPACE_URL, f"urn:sha256:{clang}"))
    bill.metadata.component = product
    bill.metadata.timestamp = None
    bill.register_dependency(product, parts)
    return JsonV1Dot6(bill).output_as_string(indent=1).encode("utf-8") + b"\n"


def _sha256(digest: str) -> HashType:
    return HashType(alg=HashAlgorithm.SHA_256, content=digest)


def _archive(entry: Mapping[str, Any]) -> Component:
    url, digest = PackageURL.from_string(entry["uri"]), entry["digest"]["sha256"]
    return Component(
        name=url.name,
        version=url.version,
        purl=url,
        type=ComponentType.LIBRARY,
        bom_ref=digest,
        hashes=[_sha256(digest)],
    )


def _policy(entry: Mapping[str, Any]) -> Component:
    title = ":".join(word for word in (entry["problem"], entry.get("name")) if word)
    return Component(
        name=title,
        description=entry["training_run"],
        type=ComponentType.MACHINE_LEARNING_MODEL,
        bom_ref=f"policy {title}",
        hashes=[_sha256(entry["sha256"])],
    )
