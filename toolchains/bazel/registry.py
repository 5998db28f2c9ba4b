"""Writes the offline module registry beside an installed Bazel, from the tables in third_party/registry."""

import dataclasses
import json
import os
import pathlib
import re
import shutil
import urllib.parse
from typing import Dict, List, Mapping, Tuple

from toolchains.bazel.errors import LauncherError


@dataclasses.dataclass(frozen=True)
class Modules:
    """The parsed `modules.json`.

    Attributes:
        overrides: module name -> folder below the install base; served whatever version is asked for.
        modules: module name -> (version, folder below the install base).
        stubs: module name -> versions of an empty stand-in.
    """

    overrides: Mapping[str, str]
    modules: Mapping[str, Tuple[str, str]]
    stubs: Mapping[str, Tuple[str, ...]]


def load(path: pathlib.Path) -> Modules:
    """Reads `modules.json`.

    Raises:
        LauncherError: not JSON, or a table of another shape.
    """
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
        return Modules(
            overrides=dict(raw["overrides"]),
            modules={name: (entry["version"], entry["path"]) for name, entry in raw["modules"].items()},
            stubs={name: tuple(versions) for name, versions in raw["stubs"].items()},
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise LauncherError(
            "third_party/registry/modules.json", f"cannot be used ({error!r})", "Restore it from git."
        ) from None


def with_version(module_text: str, name: str, version: str) -> str:
    """The text of a MODULE.bazel whose module() says `version`; Debian's say 0.0.0 or their own."""
    call = re.search(r"^module\((.*?)\)", module_text, re.MULTILINE | re.DOTALL)
    if call is None:
        return f'module(name = "{name}", version = "{version}")\n' + module_text
    arguments, replaced = re.subn(r'version = "[^"]*"', f'version = "{version}"', call.group(1), count=1)
    if not replaced:
        arguments = arguments.rstrip().rstrip(",") + f',\n    version = "{version}",\n'
    return module_text[: call.start(1)] + arguments + module_text[call.end(1) :]


def files(modules: Modules, module_texts: Mapping[str, str], install_base: str, registry: str) -> Dict[str, str]:
    """Every file of the registry: path below it -> text.

    Args:
        module_texts: name -> text of MODULE.bazel, for each of `modules.modules`.
        install_base: absolute path of the installed Bazel's modules.
        registry: absolute path the registry will have.
    """
    written = {"bazel_registry.json": _json({"mirrors": [], "module_base_path": "."})}

    def add(name: str, versions: Tuple[str, ...], source: str, text: Mapping[str, str]) -> None:
        written[f"modules/{name}/metadata.json"] = _json({"versions": list(versions), "yanked_versions": {}})
        for version in versions:
            written[f"modules/{name}/{version}/MODULE.bazel"] = text[version]
            written[f"modules/{name}/{version}/source.json"] = _json({"type": "local_path", "path": in_server(source)})

    for name, (version, path) in modules.modules.items():
        add(name, (version,), f"{install_base}/{path}", {version: with_version(module_texts[name], name, version)})
    for name, versions in modules.stubs.items():
        texts = {version: f'module(name = "{name}", version = "{version}")\n' for version in versions}
        add(name, versions, f"{registry}/stubs/{name}", texts)
        written[f"stubs/{name}/MODULE.bazel"] = texts[versions[-1]]
        written[f"stubs/{name}/BUILD.bazel"] = ""
    return written


def write(templates: pathlib.Path, tree: pathlib.Path, install_base: str, registry: str) -> None:
    """Writes the registry to `tree`.

    Args:
        templates: third_party/registry.
        tree: directory to make; it is later found at `registry`.
        install_base: absolute path of the installed Bazel's modules; the folders are read from `tree`'s sibling.
    """
    modules = load(templates / "modules.json")
    bundled = tree.parent / pathlib.PurePath(install_base).relative_to(pathlib.PurePath(registry).parent)
    texts = {}
    for name, (_, path) in modules.modules.items():
        try:
            texts[name] = (bundled / path / "MODULE.bazel").read_text(encoding="utf-8")
        except OSError as error:
            raise LauncherError(
                f"{path}/MODULE.bazel of Debian's Bazel",
                f"cannot be read ({error.strerror})",
                "Correct third_party/registry/modules.json.",
            ) from None
    for name, text in files(modules, texts, install_base, registry).items():
        target = tree / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    for name in modules.stubs:
        for extra in sorted((templates / "stubs" / name).glob("*.bzl")):
            shutil.copyfile(extra, tree / "stubs" / name / extra.name)


def flags(modules: Modules, install_base: str, registry: str) -> List[str]:
    """The command-line options that make Bazel use the registry and Debian's modules."""
    return [f"--registry=file://{urllib.parse.quote(in_server(registry))}", "--lockfile_mode=off"] + [
        f"--override_module={name}={install_base}/{path}" for name, path in sorted(modules.overrides.items())
    ]


def in_server(path: str) -> str:
    """`path` as Bazel's server holds it: one character for each byte.

    JSON files and URLs need this form, because they are decoded as UTF-8. Command lines and rc files hold the bytes.
    """
    return os.fsencode(path).decode("latin-1")


def _json(value) -> str:
    return json.dumps(value, indent=1) + "\n"
