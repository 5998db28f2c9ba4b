"""What the result of a command depends on."""

import importlib.metadata
import platform
import sys
from collections.abc import Mapping
from typing import Any

from mlgo.identity.code import code_digests
from mlgo.run.manifest import digest_of_file

#: Packages whose version can change a result.
_PACKAGES = ("numpy", "tensorflow-cpu", "tf-agents", "tensorflow-probability", "zstandard")


def run_identity(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The identity with which a command claims its output folder (RunFolder.claim), as JSON values.

    Args: settings: its settings, and digests of its inputs and of the programs that it starts.
    Returns: these with "code", digests of mlgo's code by folder and of what Python does first (toolchains/python), and
      "versions" of the packages.
    """
    first = getattr(sys.modules.get("sitecustomize"), "__file__", None)
    code = {**code_digests(), **({"sitecustomize": digest_of_file(first)} if first else {})}
    return {**settings, "code": code, "versions": _versions()}


def _versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            found[package] = "unknown"
    return found
