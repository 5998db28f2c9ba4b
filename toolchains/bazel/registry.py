"""Writes the rule modules of third_party/registry beside an installed Bazel, for workspaces that depend on this one.

This workspace itself needs none of it: its MODULE.bazel overrides the same modules with the same archives, for every
Bazel.
"""

import dataclasses
import json
import os
import pathlib
import shutil
import tarfile
import urllib.parse
from typing import Dict, List, Mapping, Sequence, Tuple

from toolchains.bazel.errors import LauncherError

ARCHIVES = "archives"
MODULE_FILE = "MODULE.bazel"


@dataclasses.dataclass(frozen=True)
class Module:
    """One module of `modules.json`.

    Attributes:
        version: of the module.
        package: the Debian package that holds it.
        folder: where the package has it, below Bazel's modules.
        without: shell patterns of files that are left out.
        asked_for: whether only our MODULE.bazel asks for it. Bazel itself asks for the others, which can be overridden
            in every workspace.
    """

    version: str
    package: str
    folder: str
    without: Sequence[str]
    asked_for: bool


@dataclasses.dataclass(frozen=True)
class Modules:
    """The parsed `modules.json`.

    Attributes:
        modules: module name -> what it is made from.
        stubs: module name -> versions of an empty stand-in.
    """

    modules: Mapping[str, Module]
    stubs: Mapping[str, Tuple[str, ...]]


def load(path: pathlib.Path) -> Modules:
    """Reads `modules.json`.

    Raises:
        LauncherError: not JSON, or a table of another shape.
    """
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
        return Modules(
            modules={
                name: Module(
                    version=entry["version"],
                    package=entry["package"],
                    folder=entry["folder"],
                    without=tuple(entry.get("without", ())),
                    asked_for=entry.get("asked_for", False),
                )
                for name, entry in raw["modules"].items()
            },
            stubs={name: tuple(versions) for name, versions in raw["stubs"].items()},
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise LauncherError(
            "third_party/registry/modules.json", f"cannot be used ({error!r})", "Restore it from git."
        ) from None


def archive_name(name: str, module: Module) -> str:
    return f"{name}-{module.version}.tar"


def index(modules: Modules, module_texts: Mapping[str, str], registry: str) -> Dict[str, str]:
    """The files of the registry that say which modules there are: path below it -> text.

    Args:
        module_texts: name -> text of MODULE.bazel, for each module of which `asked_for` is true.
        registry: absolute path the registry will have.
    """
    written = {"bazel_registry.json": _json({"mirrors": [], "module_base_path": "."})}

    def add(name: str, versions: Sequence[str], source: str, text: Mapping[str, str]) -> None:
        written[f"modules/{name}/metadata.json"] = _json({"versions": list(versions), "yanked_versions": {}})
        for version in versions:
            written[f"modules/{name}/{version}/{MODULE_FILE}"] = text[version]
            written[f"modules/{name}/{version}/source.json"] = _json({"type": "local_path", "path": in_server(source)})

    for name, text in module_texts.items():
        version = modules.modules[name].version
        add(name, (version,), _source(registry, name), {version: text})
    for name, versions in modules.stubs.items():
        texts = {version: f'module(name = "{name}", version = "{version}")\n' for version in versions}
        add(name, versions, f"{registry}/stubs/{name}", texts)
    return written


def write(modules: Modules, templates: pathlib.Path, tree: pathlib.Path, registry: str) -> None:
    """Writes the registry to `tree`.

    Args:
        templates: third_party/registry.
        tree: directory to make; it is later found at `registry`.
    Raises:
        LauncherError: an archive is missing or damaged.
    """
    texts = {}
    for name, module in modules.modules.items():
        archive = templates / ARCHIVES / archive_name(name, module)
        folder = tree / "sources" / name
        folder.mkdir(parents=True)
        try:
            with tarfile.open(archive, "r:") as tar:
                tar.extractall(folder)
            text = (folder / MODULE_FILE).read_text(encoding="utf-8")
        except (OSError, tarfile.TarError) as error:
            raise LauncherError(
                f"third_party/registry/{ARCHIVES}/{archive.name}", f"cannot be used ({error})", "Restore it from git."
            ) from None
        if module.asked_for:
            texts[name] = text
    shutil.copytree(templates / "stubs", tree / "stubs")
    for name, text in index(modules, texts, registry).items():
        target = tree / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")


def flags(modules: Modules, registry: str) -> List[str]:
    """The command-line options that make Bazel use the registry, for a workspace other than this one."""
    return [f"--registry=file://{urllib.parse.quote(in_server(registry))}"] + [
        f"--override_module={name}={_source(registry, name)}"
        for name, module in sorted(modules.modules.items())
        if not module.asked_for
    ]


def in_server(path: str) -> str:
    """`path` as Bazel's server holds it: one character for each byte.

    JSON files and URLs need this form, because they are decoded as UTF-8. Command lines and rc files hold the bytes.
    """
    return os.fsencode(path).decode("latin-1")


def _source(registry: str, name: str) -> str:
    return f"{registry}/sources/{name}"


def _json(value) -> str:
    return json.dumps(value, indent=1) + "\n"
