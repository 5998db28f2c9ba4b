"""Module extension `debian`: repositories made of Debian archives pinned in lock.json.

    debian = use_extension("//third_party/debian:extensions.bzl", "debian")
    debian.tree(name = "sysroot", packages = ["libc6", "libc6-dev"], build_file = "//toolchains/cc:sysroot.BUILD.bazel")
    debian.source(name = "llvm_source", package = "llvm-toolchain-22", include = ["llvm/lib/"])
    debian.archives(name = "rescue_debs", group = "build_root")
    use_repo(debian, "sysroot", "llvm_source", "rescue_debs")

A tag with `{major}` stands for one repository per version of a JSON file, or for the chosen version's; see versions.bzl.
`@sysroot_NAME` has the headers and libraries of a target of //toolchains/cc:cross_targets.bzl.
`@debian_inventory//:inventory.json` lists the archives of each of these repositories.
"""

load("//toolchains/cc:cross_targets.bzl", "CROSS_TARGETS")
load(":archives.bzl", "debian_archives", "debian_inventory")
load(":entries.bzl", "check_machine", "entry_of", "patchelf_entries")
load(":messages.bzl", "failed", "missing_entry", "no_python")
load(":repositories.bzl", "debian_repository")
load(":versions.bzl", "chosen_repository", "chosen_version", "instances")

# What no build reads of a package. Left out of every tree; usr/share unless the tag has `keep_share`.
_UNUSED = [
    "etc/*",
    "usr/lib/x86_64-linux-gnu/cmake/*",
    "usr/lib/x86_64-linux-gnu/pkgconfig/*",
]
_SHARE = ["usr/share/*"]

# Set by --config=newest_packages, and by the launcher after yes at its question.
_NEWEST = "MLGO_NEWEST_PACKAGES"

def _lock(mctx):
    """The pinned lock, or the one in out/ in which newer packages take the place of those that are gone."""
    pinned = json.decode(mctx.read(Label("//third_party/debian:lock.json")))
    if mctx.os.environ.get(_NEWEST, "") in ("", "0"):
        return pinned
    python = mctx.which("python3")
    if not python:
        fail(no_python())
    mctx.report_progress("looking for archives that are gone")
    result = mctx.execute(
        [python, "-EsB", mctx.path(Label("//third_party/debian:newest.py"))],
        timeout = 3600,
        quiet = False,
    )
    if result.return_code:
        fail(failed("debian", result.stderr))

    # newest.py looks at it whenever the extension runs. Watched, its writing would make the extension run again.
    chosen = json.decode(mctx.read(result.stdout.strip(), watch = "no"))
    if chosen != pinned:
        # buildifier: disable=print
        print("This is not the pinned build: its packages are those of " + result.stdout.strip())
    return chosen

def _packages(lock, tag):
    """The lock entries of a tag's group and packages."""
    group = lock["groups"].get(tag.group, {})
    if tag.group and not group:
        fail(missing_entry("group", tag.group, lock["groups"].keys()))
    table = dict(lock["packages"].get(tag.suite, {}), **lock["packages"].get(tag.version.get("suite", ""), {}))
    return [
        entry_of("package", name, entries)
        for entries, names in [(group, group.keys()), (table, tag.packages)]
        for name in names
    ]

def _versions(mctx, tag):
    """(decoded versions file, chosen version) of a tag."""
    file = json.decode(mctx.read(tag.versions))
    chosen, error = chosen_version(file, mctx.os.environ)
    if error:
        fail(error)
    return file, chosen

def _instances(mctx, tags, fields):
    return [made for tag in tags for made in instances(tag, fields, *_versions(mctx, tag))]

def _debian_impl(mctx):
    check_machine(mctx)
    lock = _lock(mctx)
    patchelf = patchelf_entries(lock)
    inventory = {}
    for target, cross in CROSS_TARGETS.items():
        name = "sysroot_" + target
        entries = [entry_of("package", package, lock["packages"]["bookworm"]) for package in cross.packages]
        inventory[name] = {"entries": entries, "kind": "packages"}
        debian_repository(
            name = name,
            kind = "packages",
            entries = entries,
            exclude = _SHARE + cross.exclude,
            build_file = Label("//toolchains/cc:cross_sysroot.BUILD.bazel"),
        )
    for module in mctx.modules:
        for tag in _instances(mctx, module.tags.tree, _TREE):
            entries = _packages(lock, tag)
            inventory[tag.name] = {"entries": entries, "kind": "packages"}
            debian_repository(
                name = tag.name,
                kind = "packages",
                entries = entries,
                exclude = _UNUSED + ([] if tag.keep_share else _SHARE) + tag.exclude,
                rpath = tag.rpath,
                patchelf = patchelf if tag.rpath else [],
                older_glibc = tag.older_glibc or tag.version.get("older_glibc", False),
                patches = tag.patches,
                build_file = tag.build_file,
            )
        for tag in _instances(mctx, module.tags.source, _SOURCE):
            entries = [entry_of("source", tag.package, lock["sources"])]
            inventory[tag.name] = {"entries": entries, "kind": "source"}
            debian_repository(
                name = tag.name,
                kind = "source",
                entries = entries,
                include = tag.include,
                exclude = tag.exclude,
                keep_bazel_files = tag.keep_bazel_files,
                patches = tag.patches,
                build_file = tag.build_file,
            )
        for tag in _instances(mctx, module.tags.archives, _PACKAGES):
            entries = _packages(lock, tag)
            inventory[tag.name] = {"entries": entries, "kind": "packages"}
            debian_archives(name = tag.name, entries = entries)
        for tag in module.tags.chosen:
            file, chosen = _versions(mctx, tag)

            # It holds nothing of its own.
            inventory[tag.name] = {"entries": [], "kind": "packages"}
            chosen_repository(
                name = tag.name,
                actual = tag.actual.replace("{major}", chosen),
                targets = file["targets"],
                version = json.encode(dict(file["versions"][chosen], default = file["default"], major = chosen)),
            )
    debian_inventory(
        name = "debian_inventory",
        repositories = json.encode({
            name: dict(repository, entries = [json.decode(entry) for entry in repository["entries"]])
            for name, repository in inventory.items()
        }),
    )

_VERSIONS = attr.label(
    doc = "JSON file of versions (versions.bzl) that `{major}` in this tag stands for; by default LLVM's.",
    default = Label("//third_party/llvm:versions.json"),
)

_NAME = attr.string(doc = "Name of the repository.", mandatory = True)

_COMMON = {
    "build_file": attr.label(doc = "BUILD file of the repository; by default every file is exported."),
    "exclude": attr.string_list(doc = "Shell patterns of paths that are not unpacked."),
    "name": _NAME,
    "patches": attr.label_list(doc = "Patches in -p1 form, applied in order, before those of the version."),
    "versions": _VERSIONS,
}

_PACKAGES = {
    "group": attr.string(doc = "A group of packages.json; all its packages, which `closure` makes complete."),
    "name": _NAME,
    "packages": attr.string_list(doc = "Package names in lock.json, besides the group's; their dependencies are not added."),
    "suite": attr.string(doc = "Family of suites that `packages` come from, as in packages.json.", default = "bookworm"),
    "versions": _VERSIONS,
}

_SOURCE = dict(
    _COMMON,
    include = attr.string_list(doc = "Path prefixes (ending in /) or shell patterns that are unpacked; empty means all."),
    keep_bazel_files = attr.bool(doc = "Keep the tarball's own BUILD and MODULE files."),
    package = attr.string(doc = "Source package name in lock.json.", mandatory = True),
)

_TREE = dict(
    _COMMON | _PACKAGES,
    keep_share = attr.bool(doc = "Unpack usr/share too. Nothing of etc, and no file of CMake or pkg-config, is unpacked in any case."),
    older_glibc = attr.bool(doc = "Its programs were linked against a newer glibc than Debian 12's; make them run with that one."),
    rpath = attr.string_list(doc = "Directories of the tree that hold its shared libraries; its programs search them."),
)

debian = module_extension(
    implementation = _debian_impl,
    doc = "Repositories made of Debian archives pinned in lock.json.",
    environ = ["MLGO_GONE_ARCHIVES", "MLGO_LLVM_MAJOR", _NEWEST],
    os_dependent = True,
    arch_dependent = True,
    tag_classes = {
        "archives": tag_class(
            doc = "Binary packages that stay packed, as <package>.deb, with all that a tree leaves out.",
            attrs = _PACKAGES,
        ),
        "chosen": tag_class(
            doc = "Aliases for the targets of the chosen version's repository.",
            attrs = {
                "actual": attr.string(doc = "That repository; `{major}` stands for the version.", mandatory = True),
                "name": _NAME,
                "versions": _VERSIONS,
            },
        ),
        "source": tag_class(
            doc = "The upstream tarball of a Debian source package, without its top-level folder.",
            attrs = _SOURCE,
        ),
        "tree": tag_class(
            doc = "Binary packages unpacked into one tree, with bin, lib and sbin merged into usr/.",
            attrs = _TREE,
        ),
    },
)
