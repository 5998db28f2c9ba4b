"""Module extension `debian`: repositories made of Debian archives pinned in lock.json.

    debian = use_extension("//third_party/debian:extensions.bzl", "debian")
    debian.tree(name = "sysroot", packages = ["libc6", "libc6-dev"], build_file = "//toolchains/cc:sysroot.BUILD.bazel")
    debian.source(name = "llvm_source", package = "llvm-toolchain-22", include = ["llvm/lib/"])
    debian.archives(name = "rescue_debs", group = "build_root")
    use_repo(debian, "sysroot", "llvm_source", "rescue_debs")

`@debian_inventory//:inventory.json` says which archives each of these repositories is made of.
"""

load(":archives.bzl", "debian_archives", "debian_inventory")
load(":messages.bzl", "missing_entry")
load(":repositories.bzl", "debian_repository")

def _entry(kind, name, table):
    if name not in table:
        fail(missing_entry(kind, name, table.keys()))
    return json.encode(dict(table[name], name = name))

def _debian_impl(mctx):
    lock = json.decode(mctx.read(Label("//third_party/debian:lock.json")))
    patchelf = _entry("package", "patchelf", lock["packages"]["bookworm"])
    inventory = {}
    for module in mctx.modules:
        for tag in module.tags.tree:
            table = lock["packages"].get(tag.suite, {})
            entries = [_entry("package", package, table) for package in tag.packages]
            inventory[tag.name] = {"entries": entries, "kind": "packages"}
            debian_repository(
                name = tag.name,
                kind = "packages",
                entries = entries,
                exclude = tag.exclude,
                rpath = tag.rpath,
                patchelf = patchelf if tag.rpath else "",
                patches = tag.patches,
                build_file = tag.build_file,
            )
        for tag in module.tags.source:
            entries = [_entry("source", tag.package, lock["sources"])]
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
        for tag in module.tags.archives:
            group = lock["groups"].get(tag.group, {})
            if tag.group and not group:
                fail(missing_entry("group", tag.group, lock["groups"].keys()))
            entries = [_entry("package", package, group) for package in group]
            entries += [_entry("package", package, lock["packages"][tag.suite]) for package in tag.packages]
            inventory[tag.name] = {"entries": entries, "kind": "packages"}
            debian_archives(name = tag.name, entries = entries)
    debian_inventory(
        name = "debian_inventory",
        repositories = json.encode({
            name: dict(fingerprints, entries = [json.decode(entry) for entry in fingerprints["entries"]])
            for name, fingerprints in inventory.items()
        }),
    )

_COMMON = {
    "build_file": attr.label(doc = "BUILD file of the repository; by default every file is exported."),
    "exclude": attr.string_list(doc = "Shell patterns of paths that are not unpacked."),
    "name": attr.string(doc = "Name of the repository.", mandatory = True),
    "patches": attr.label_list(doc = "Patches in -p1 form, applied in order."),
}

debian = module_extension(
    implementation = _debian_impl,
    doc = "Repositories made of Debian archives pinned in lock.json.",
    tag_classes = {
        "archives": tag_class(
            doc = "Binary packages as they are, <package>.deb each: for who needs what a tree leaves out.",
            attrs = {
                "group": attr.string(doc = "A group of packages.json; all its packages."),
                "name": attr.string(doc = "Name of the repository.", mandatory = True),
                "packages": attr.string_list(doc = "Package names in lock.json, besides the group's."),
                "suite": attr.string(doc = "Family of suites, as in packages.json.", default = "bookworm"),
            },
        ),
        "source": tag_class(
            doc = "The upstream tarball of a Debian source package, without its top-level folder.",
            attrs = dict(
                _COMMON,
                include = attr.string_list(doc = "Path prefixes (ending in /) or shell patterns that are unpacked; empty means all."),
                keep_bazel_files = attr.bool(doc = "Keep the tarball's own BUILD and MODULE files."),
                package = attr.string(doc = "Source package name in lock.json.", mandatory = True),
            ),
        ),
        "tree": tag_class(
            doc = "Binary packages unpacked into one tree, with bin, lib and sbin merged into usr/.",
            attrs = dict(
                _COMMON,
                packages = attr.string_list(doc = "Package names in lock.json; what they depend on is not added.", mandatory = True),
                rpath = attr.string_list(doc = "Directories of the tree that hold its shared libraries; programs are made to find them."),
                suite = attr.string(doc = "Family of suites, as in packages.json.", default = "bookworm"),
            ),
        ),
    },
)
