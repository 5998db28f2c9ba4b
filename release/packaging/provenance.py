"""Writes the provenance of a compiler: the pinned archives that were used, the policies inside, the build's settings.

    provenance --request=REQUEST.json --program=CLANG --inventory=inventory.json \\
        --python_lock=pip=requirements_lock.txt ... --rule_module=rules_cc-0.0.11.tar ... \\
        [--policy=PROBLEM[:NAME[@ARCHITECTURE,...]]=DIR] --output=provenance.json \\
        --readme_template=T --readme=README.txt

The result is an in-toto statement (v1) about bin/clang with a SLSA provenance predicate (v1). It contains no time, user
or path of the build machine: the same workspace and the same Bazel give the same bytes.

REQUEST.json is written by the rule: {"backend", "llvm", "module", "repositories": [...], "target"}.
"""

import hashlib
import pathlib
import re
import sys
import urllib.parse
from collections.abc import Mapping, Sequence
from typing import Any

from mlgo.policy.identity import identity
from mlgo.problems.problem import load_problem
from mlgo.problems.slots import selector_option
from mlgo.run.exit import exit_code_of
from mlgo.run.exit_codes import RunError
from mlgo.run.files import encode_json, read_json, write_atomically
from release.packaging.arguments import pair, tool_parser

STATEMENT_TYPE = "https://in-toto.io/Statement/v1"
PREDICATE_TYPE = "https://slsa.dev/provenance/v1"
BUILD_TYPE = "urn:mlgo:release:1"
#: Repositories that are copies of, or links into, one that the lock knows.
_MADE_FROM = {"llvm_project": "llvm_project_source", "python311": "python311_packages"}
_PINNED = re.compile(r"^([A-Za-z0-9._-]+)==([^\s\\]+)((?:\s*\\\n\s+--hash=sha256:[0-9a-f]{64})+)", re.MULTILINE)


def repository_name(canonical: str) -> str:
    """Name of a repository in MODULE.bazel: llvm of `_main~debian~llvm` (Bazel 7) and of `+debian+llvm` (Bazel 8)."""
    return re.split(r"[~+]", canonical)[-1]


def debian_dependency(entry: Mapping[str, Any], kind: str, repository: str) -> dict[str, Any]:
    """One archive of a Debian mirror as a SLSA resource descriptor."""
    # A package's file is NAME_VERSION_ARCHITECTURE.deb.
    architecture = entry["path"].removesuffix(".deb").rpartition("_")[2]
    arguments = f"?arch={'source' if kind == 'source' else architecture}&distro={entry['suite']}"
    return {
        "name": entry["name"],
        "uri": f"pkg:deb/debian/{entry['name']}@{urllib.parse.quote(entry['version'], safe='.~-')}{arguments}",
        "digest": {"sha256": entry["sha256"]},
        "annotations": {"repository": repository, "path": entry["path"]},
    }


def python_dependencies(lock: str) -> list[dict[str, Any]]:
    """The packages of a requirements file with hashes: one entry per allowed wheel.

    Raises: RunError: the file pins nothing.
    """
    found = []
    for match in _PINNED.finditer(lock):
        for digest in re.findall(r"sha256:([0-9a-f]{64})", match[3]):
            found.append(
                {"name": match[1], "uri": f"pkg:pypi/{match[1].lower()}@{match[2]}", "digest": {"sha256": digest}}
            )
    if not found:
        raise RunError("the Python lock", "pins no package", "Run ./bazelw run //toolchains/python:lock")
    return found


def rule_module(archive: pathlib.Path) -> tuple[str, dict[str, Any]]:
    """(name, resource descriptor) of a module of rules in third_party/registry/archives: NAME-VERSION.tar."""
    name, _, version = archive.stem.rpartition("-")
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    return name, {"name": name, "uri": f"pkg:bazel/{name}@{version}", "digest": {"sha256": digest}}


def dependencies(
    repositories: Sequence[str],
    inventory: Mapping[str, Any],
    python_locks: Mapping[str, str],
    rule_modules: Mapping[str, dict[str, Any]],
) -> tuple[list[dict[str, Any]], list[str]]:
    """(the archives that were used, Bazel's other modules that were used), both sorted.

    Args:
      repositories: canonical names of the repositories below the compiler's target.
      inventory: the inventory's "repositories", written by third_party/debian: repository name -> {"kind", "entries"}.
      python_locks: repository name -> text of its lock of Python packages.
      rule_modules: of `rule_module`.
    """
    resolved: dict[str, dict[str, Any]] = {}
    others = set()
    for canonical in repositories:
        name = repository_name(canonical)
        name = _MADE_FROM.get(name, name)
        module = canonical.rstrip("~+")
        if name in python_locks:
            found = python_dependencies(python_locks[name])
        elif name in inventory:
            found = [debian_dependency(entry, inventory[name]["kind"], name) for entry in inventory[name]["entries"]]
        elif module in rule_modules:
            found = [rule_modules[module]]
        else:
            if canonical:
                others.add(module)
            continue
        for dependency in found:
            # An archive of several repositories is listed under the first.
            resolved.setdefault(dependency["digest"]["sha256"], dependency)
    return sorted(resolved.values(), key=lambda item: (item["uri"], item["digest"]["sha256"])), sorted(others)


def policy_record(
    problem: str, folder: pathlib.Path, name: str = "", architectures: Sequence[str] = ()
) -> dict[str, Any]:
    """The entry of one policy.

    Args:
      name: by which the compiler's option selects it; "" for an only policy.
      architectures: for which it decides without that option.

    Raises: RunError: the folder contains no policy, or a damaged one.
    """
    who = identity(folder, problem)
    record = (
        read_json(folder / "policy.json", "the policy's record", "Name a policy directory")
        if (folder / "policy.json").exists()
        else {}
    )
    training = record.get("training", {})
    return {
        "problem": problem,
        **({"name": name} if name else {}),
        **({"architectures": list(architectures)} if architectures else {}),
        "sha256": who.digest,
        "training_run": who.training_run,
        "files": {
            path.name: hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(folder.iterdir())
            if path.is_file()
        },
        "training": {key: training[key] for key in ("configuration", "inputs", "versions") if key in training},
    }


def statement(
    request: Mapping[str, Any],
    program_sha256: str,
    policies: Sequence[Mapping[str, Any]],
    resolved: Sequence[Mapping[str, Any]],
    modules: Sequence[str],
) -> dict[str, Any]:
    """The in-toto statement."""
    return {
        "_type": STATEMENT_TYPE,
        "subject": [{"name": "bin/clang", "digest": {"sha256": program_sha256}}],
        "predicateType": PREDICATE_TYPE,
        "predicate": {
            "buildDefinition": {
                "buildType": BUILD_TYPE,
                "externalParameters": {
                    "target": request["target"],
                    "backend": request["backend"],
                    "policies": list(policies),
                },
                "internalParameters": {"llvm": request["llvm"], "workspace": request["module"], "rules": list(modules)},
                "resolvedDependencies": list(resolved),
            },
            "runDetails": {"builder": {"id": "urn:mlgo:bazel", "version": {"bazel": request["bazel"]}}},
        },
    }


def _release_flags(policy: Mapping[str, Any]) -> str:
    # Compiles for its targets take it without the option.
    selected = [] if "architectures" in policy else selector_option(policy["problem"], policy.get("name", ""))
    return " ".join([*load_problem(policy["problem"]).release_flags(), *selected])


def _example(policy: Mapping[str, Any]) -> str:
    """The level at which the policy is best used, and the flags that switch it on."""
    return f"-{load_problem(policy['problem']).levels.advised} {_release_flags(policy)}"


def _title(policy: Mapping[str, Any]) -> str:
    parts = [f"name {policy['name']}"] if "name" in policy else []
    parts += [f"for {' and '.join(policy['architectures'])}"] if "architectures" in policy else []
    return ", ".join([*parts, policy["training_run"]])


def readme(template: str, made: Mapping[str, Any]) -> str:
    """The receiver's README: the template with the facts of this compiler."""
    definition = made["predicate"]["buildDefinition"]
    policies = definition["externalParameters"]["policies"]
    lines = [
        f"    {policy['problem']:<20} {_title(policy)}\n    {'':<20} sha256 {policy['sha256']}\n"
        f"    {'':<20} for {load_problem(policy['problem']).levels.described()}: {_release_flags(policy)}"
        for policy in policies
    ]
    return (
        template.replace("{LLVM}", definition["internalParameters"]["llvm"])
        .replace("{WORKSPACE}", definition["internalParameters"]["workspace"])
        .replace("{BAZEL}", made["predicate"]["runDetails"]["builder"]["version"]["bazel"])
        .replace(
            "{EXAMPLES}", "\n".join(dict.fromkeys(f"    bin/clang {_example(policy)} -c x.c" for policy in policies))
        )
        .replace("{CLANG_SHA256}", made["subject"][0]["digest"]["sha256"])
        .replace("{POLICIES}", "\n".join(lines) or "    none: this is the packaged compiler, linked statically")
    )


def _problem_given(given: tuple[str, str]) -> str:
    return given[0].partition(":")[0]


def _record_of(what: str, folder: str) -> dict[str, Any]:
    """The entry of a flag --policy."""
    problem, _, selected = what.partition(":")
    name, _, architectures = selected.partition("@")
    return policy_record(problem, pathlib.Path(folder), name, architectures.split(",") if architectures else [])


def main(arguments: list[str]) -> int:
    parser = tool_parser(__doc__)
    parser.add_argument(
        "--request", type=pathlib.Path, required=True, help="facts that the rule knows; format: see above"
    )
    parser.add_argument("--program", type=pathlib.Path, required=True, help="the compiler")
    parser.add_argument("--inventory", type=pathlib.Path, required=True, help="@debian_inventory//:inventory.json")
    parser.add_argument(
        "--python_lock", type=pair, action="append", required=True, help="REPOSITORY=FILE: a lock of Python packages"
    )
    parser.add_argument(
        "--rule_module", type=pathlib.Path, action="append", default=[], help="NAME-VERSION.tar, a module of rules"
    )
    parser.add_argument(
        "--policy",
        type=pair,
        action="append",
        default=[],
        help="PROBLEM=DIR: a policy inside; PROBLEM:NAME=DIR: one of several, the default first; "
        "PROBLEM:NAME@aarch64,arm=DIR: the one for these targets",
    )
    parser.add_argument("--readme_template", type=pathlib.Path, required=True, help="template of the README")
    parser.add_argument("--readme", type=pathlib.Path, required=True, help="README to write")
    flags = parser.parse_args(arguments)

    def write() -> None:
        request = read_json(flags.request, "the rule's request", "This is a defect of release/packaging")
        inventory = read_json(flags.inventory, "Debian's inventory", "This is a defect of third_party/debian")
        resolved, modules = dependencies(
            request["repositories"],
            inventory["repositories"],
            {name: pathlib.Path(lock).read_text(encoding="utf-8") for name, lock in flags.python_lock},
            dict(map(rule_module, flags.rule_module)),
        )
        policies = [_record_of(*given) for given in sorted(flags.policy, key=_problem_given)]
        made = statement(
            {**request, "bazel": inventory["bazel"]},
            hashlib.sha256(flags.program.read_bytes()).hexdigest(),
            policies,
            resolved,
            modules,
        )
        write_atomically(flags.output, encode_json(made))
        write_atomically(flags.readme, readme(flags.readme_template.read_text(encoding="utf-8"), made).encode("utf-8"))

    return exit_code_of(write)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
