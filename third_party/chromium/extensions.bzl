"""Module extension `chromium`: parts of Chromium's source as repositories, pinned in lock.json.

    chromium = use_extension("//third_party/chromium:extensions.bzl", "chromium")
    chromium.tree(name = "chromium_net", include = ["net/", ...])
    use_repo(chromium, "chromium_libraries", "chromium_complete", "chromium_net")

`@chromium_libraries` and `@chromium_complete` are there without a tag; nothing is downloaded until a target asks for one.
"""

load("//third_party/debian:messages.bzl", "missing_entry")
load(":repository.bzl", "chromium_repository")
load(":trees.bzl", "ALL", "LIBRARIES", "LIBRARIES_EXCLUDE")

# The folder is what counts; one name of it tells where it is, all of them that it changed.
_OWN_PATCHES = [
    Label("//patches/chromium:" + name)
    for name in [
        "bitcode_of_the_default_toolchain.patch",
        "libraries_without_the_browser.patch",
        "lld_emits_index.patch",
        "older_trees_have_both_arguments.patch",
    ]
]

def _chromium_impl(mctx):
    packages = json.decode(mctx.read(Label("//third_party/debian:lock.json")))["packages"]["bookworm"]
    if "patch" not in packages:
        fail(missing_entry("package", "patch", packages.keys()))
    patch = json.encode(dict(packages["patch"], name = "patch"))
    chromium_repository(
        name = "chromium_libraries",
        exclude = LIBRARIES_EXCLUDE,
        include = LIBRARIES,
        own_patches = _OWN_PATCHES,
        patch = patch,
        patches = [Label("//patches/chromium:libraries_without_the_browser.patch")],
        # None of them is asked for.
        unbundle = False,
    )
    chromium_repository(name = "chromium_complete", include = ALL, own_patches = _OWN_PATCHES, patch = patch)
    for module in mctx.modules:
        for tag in module.tags.tree:
            chromium_repository(
                name = tag.name,
                exclude = tag.exclude,
                include = tag.include,
                origin = tag.origin,
                own_patches = _OWN_PATCHES,
                patch = patch,
                patch_set = tag.patch_set,
                patches = tag.patches,
                unbundle = tag.unbundle,
            )

chromium = module_extension(
    implementation = _chromium_impl,
    doc = "Parts of Chromium's source.",
    tag_classes = {
        "tree": tag_class(
            doc = "A repository NAME with the folder @NAME//:tree and @NAME//:source.json, which says what it is made of.",
            attrs = {
                "exclude": attr.string_list(doc = "Shell patterns of paths that are not unpacked."),
                "include": attr.string_list(doc = "Path prefixes (ending in /) or shell patterns that are unpacked.", mandatory = True),
                "name": attr.string(doc = "Name of the repository.", mandatory = True),
                "origin": attr.string(doc = "`debian`, or `upstream` after lock --upstream=URL.", default = "debian"),
                "patch_set": attr.string(doc = "A set in patch_sets.py, if the version chooses wrongly."),
                "patches": attr.label_list(doc = "Further patches in -p1 form."),
                "unbundle": attr.bool(doc = "Put gn files of system libraries where Debian took the bundled ones away.", default = True),
            },
        ),
    },
)
