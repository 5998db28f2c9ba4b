"""What the architecture forbids, as functions from dependencies to complaints."""

import posixpath
import re
from collections.abc import Iterable, Mapping, Sequence

from tests.architecture.edges import SITES, Edge, PythonTarget

_LAYER = re.compile(r"^\| `([\w*./]+?)/?` \|", re.MULTILINE)

#: Top-level folder -> top-level folders that it must not depend on.
FORBIDDEN = {
    "toolchains": ("development", "examples", "mlgo", "models", "release", "tests"),
    "third_party": ("development", "examples", "mlgo", "models", "release", "tests"),
    "llvm": ("development", "examples", "mlgo", "models", "release", "tests"),
    "development": ("examples", "mlgo", "models", "release", "tests"),
    "release": ("development", "examples", "tests"),
    "mlgo": ("examples", "models", "release", "tests"),
    "models": ("tests",),
}


def layers(readme: str) -> list[str]:
    """Folders of the table in mlgo/README.md, lowest first; "*.py" stands for the command modules.

    Raises: ValueError: the table is missing, has a folder twice or does not end with the commands.
    """
    found = _LAYER.findall(readme)
    if len(found) < 2 or len(set(found)) != len(found) or found[-1] != "*.py":
        raise ValueError(f"mlgo/README.md: rows {found}; write one row per folder, lowest first, `*.py` last")
    return found


def _layer(folder: str) -> str | None:
    parts = folder.split("/")
    if parts[0] != "mlgo":
        return None
    return parts[1] if len(parts) > 1 else "*.py"


def against_order(edges: Iterable[Edge], order: Sequence[str]) -> list[Edge]:
    """Dependencies within mlgo/ of a lower folder on a higher one, or on a folder that the order does not name."""
    rank = {name: index for index, name in enumerate(order)}
    found = []
    for edge in edges:
        source, target = _layer(posixpath.dirname(edge.source)), _layer(edge.target_folder)
        if source and target and source != target and rank.get(source, -1) <= rank.get(target, len(order)):
            found.append(edge)
    return found


def across_zones(edges: Iterable[Edge]) -> list[Edge]:
    """Dependencies of one top-level folder on another that `FORBIDDEN` names."""
    return [edge for edge in edges if edge.target_folder.split("/")[0] in FORBIDDEN.get(edge.source.split("/")[0], ())]


def _for_tests(path: str) -> bool:
    parts = path.split("/")
    return parts[0] == "tests" or "testing" in parts[:-1] or parts[-1].endswith(("_test.py", "_test.bzl"))


def production_on_testing(edges: Iterable[Edge]) -> list[Edge]:
    """Dependencies of production code on test support, which lies in folders named testing."""
    return [
        edge
        for edge in edges
        if "testing" in edge.target_folder.split("/") and not edge.test_only and not _for_tests(edge.source)
    ]


def cycles(edges: Iterable[Edge], prefix: str) -> list[list[str]]:
    """Groups of Python files below `prefix` that import one another: the strongly connected components, sorted."""
    graph: dict[str, list[str]] = {}
    for edge in edges:
        if edge.source.startswith(prefix) and edge.target.startswith(prefix) and edge.source.endswith(".py"):
            graph.setdefault(edge.source, []).append(edge.target)
    reached = {file: _reachable(file, graph) for file in graph}
    groups = {
        tuple(sorted(other for other in reached[file] if file in reached.get(other, ())))
        for file in graph
        if file in reached[file]
    }
    return sorted(map(list, groups))


def _reachable(start: str, graph: Mapping[str, Iterable[str]]) -> set[str]:
    """What can be reached from `start` in one step or more."""
    seen: set[str] = set()
    pending = list(graph.get(start, ()))
    while pending:
        node = pending.pop()
        if node not in seen:
            seen.add(node)
            pending.extend(graph.get(node, ()))
    return seen


def missing_deps(targets: Sequence[PythonTarget], edges: Iterable[Edge]) -> list[str]:
    """Python targets that import a module which no library among their `deps`, direct or not, provides.

    Of a package of `SITES`, the site has to be among them.
    """
    graph = {target.label: target.deps for target in targets}
    provided = {target.label: set(target.sources) for target in targets}
    owners: dict[str, list[str]] = {}
    for target in targets:
        for source in target.sources if target.rule == "py_library" else ():
            owners.setdefault(source, []).append(target.label)
    imports: dict[str, list[Edge]] = {}
    for edge in edges:
        imports.setdefault(edge.source, []).append(edge)
    found = []
    for target in targets:
        within = {target.label, *_reachable(target.label, graph)}
        available = set().union(*(provided.get(label, ()) for label in within))
        for edge in (edge for source in target.sources for edge in imports.get(source, ())):
            if edge.target not in available and edge.target in owners:
                found.append(f"{target.label}: {edge}; add {' or '.join(owners[edge.target])} to deps")
            if edge.target in SITES.values() and edge.target not in within:
                found.append(f"{target.label}: {edge}; add {edge.target} to deps")
    return sorted(found)


def unused_deps(targets: Sequence[PythonTarget], edges: Iterable[Edge]) -> list[str]:
    """Direct `deps` of production targets on a Python library of which no module is imported.

    Tests are left out: they often need a library for its data, or import it in a process that they start.
    """
    provided = {target.label: set(target.sources) for target in targets}
    imports: dict[str, set[str]] = {}
    for edge in edges:
        imports.setdefault(edge.source, set()).add(edge.target)
    found = []
    for target in targets:
        if target.rule == "py_test" or target.label.startswith("//tests/"):
            continue
        used = set(target.sources).union(*(imports.get(source, ()) for source in target.sources))
        for dep in target.deps:
            if provided.get(dep) and target.sources and not provided[dep] & used:
                found.append(f"{target.label}: deps has {dep}, of which nothing is imported; remove it")
    return sorted(found)
