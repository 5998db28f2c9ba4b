"""Versions as data: tags of the extension `debian` that stand for one repository per version of a JSON file.

The file names an environment variable that chooses a version, the default, and the versions:

    {"variable": "MLGO_LLVM_MAJOR", "default": "22", "targets": ["clang"],
     "versions": {"22": {"version": "22.1.8", "patches": {"llvm_source": ["//patches/llvm/22:a.patch"]}},
                  "23": {"version": "23.1.4", "suite": "sid", "older_glibc": true}}}

A version with `suite` takes those of its packages from there that packages.json lists for it. With `older_glibc`, its programs were linked
against a newer glibc than Debian 12's and are made to run with that one (older_glibc.py). `{major}` in a tag's
strings is replaced by a version's key. A tag whose name contains it makes one repository per version, one with it elsewhere makes one repository, of the
chosen version, and one without it knows no versions.
"""

def unknown_version(variable, asked, known):
    """The error for a version that the file does not hold.

    Args:
        variable: the environment variable.
        asked: its value.
        known: list of the versions.
    Returns: one sentence.
    """
    return "{}={}: no such version; known: {}. Choose one of them, or add the version as docs/another-llvm.md describes".format(
        variable,
        asked,
        ", ".join(sorted(known)),
    )

def chosen_version(file, environ):
    """The version that the environment chooses.

    Args:
        file: the decoded JSON file.
        environ: dict of environment variables.
    Returns: (key of `versions`, None), or (None, one sentence).
    """
    asked = environ.get(file["variable"]) or file["default"]
    if asked not in file["versions"]:
        return None, unknown_version(file["variable"], asked, file["versions"].keys())
    return asked, None

def filled(value, major):
    """`value`, a string or a list, with `{major}` replaced in strings; anything else unchanged."""
    return [_filled_one(item, major) for item in value] if type(value) == "list" else _filled_one(value, major)

def _filled_one(value, major):
    return value.replace("{major}", major) if type(value) == "string" else value

def instances(tag, fields, file, chosen):
    """The repositories that one tag stands for.

    Args:
        tag: the tag.
        fields: names of its attributes.
        file: the decoded versions file.
        chosen: the chosen version.
    Returns: list of struct with `fields` and `version`, what the file says about the version; `patches` holds the version's own patches
        as well. A tag without `{major}` stands for itself, with the version {}.
    """
    given = {field: getattr(tag, field) for field in fields}
    if not [value for value in given.values() if filled(value, "") != value]:
        return [struct(version = {}, **given)]
    made = []
    for major in file["versions"] if "{major}" in tag.name else [chosen]:
        values = {field: filled(value, major) for field, value in given.items()}
        patches = file["versions"][major].get("patches", {}).get(values["name"], [])
        values["patches"] = given.get("patches", []) + [Label(patch) for patch in patches]
        made.append(struct(version = file["versions"][major], **values))
    return made

_CHOSEN = '''"""The chosen version, as the versions file describes it."""

CHOSEN = {}
'''

_BUILD = '''package(default_visibility = ["//visibility:public"])

[
    alias(
        name = name,
        actual = "@{actual}//:" + name,
    )
    for name in {targets}
]
'''

def _chosen_repository_impl(rctx):
    rctx.file("BUILD.bazel", _BUILD.format(actual = rctx.attr.actual, targets = repr(rctx.attr.targets)), executable = False)
    rctx.file("chosen.bzl", _CHOSEN.format(repr(json.decode(rctx.attr.version))), executable = False)
    rctx.file("REPO.bazel", "", executable = False)

chosen_repository = repository_rule(
    implementation = _chosen_repository_impl,
    doc = "Aliases for the targets of another repository, and `CHOSEN` of chosen.bzl: the chosen version and its key `major`.",
    attrs = {
        "actual": attr.string(doc = "Name of the other repository.", mandatory = True),
        "targets": attr.string_list(doc = "Names of its targets.", mandatory = True),
        "version": attr.string(doc = "What CHOSEN is, as JSON.", mandatory = True),
    },
)
