"""Module extension `chromium`: parts of Chromium's source as repositories, pinned in lock.json.

    chromium = use_extension("//third_party/chromium:extensions.bzl", "chromium")
    chromium.tree(name = "chromium_net", include = ["net/", ...])
    use_repo(chromium, "chromium_libraries", "chromium_complete", "chromium_net")

`@chromium_libraries`, `@chromium_base`, `@chromium_v8`, `@chromium_complete` and the tools in `@chromium_rust` are there without a tag; nothing is downloaded
until a target asks for one.
"""

load("//third_party/debian:entries.bzl", "entry_of", "patchelf_entries")
load(":browser.bzl", "browser_build", "browser_repositories")
load(":repository.bzl", "chromium_repository")
load(":rust.bzl", "chromium_rust_repository")
load(":trees.bzl", "ALL", "BASE", "BASE_EXCLUDE", "LIBRARIES", "LIBRARIES_EXCLUDE", "V8", "V8_EXCLUDE")

# The folder is what counts; one name of it tells where it is, all of them that it changed.
_OWN_PATCHES = [
    Label("//patches/chromium:" + name)
    for name in [
        "bindgen_with_its_tools.patch",
        "bitcode_of_the_default_toolchain.patch",
        "v8_in_its_own_checkout.patch",
        "libraries_without_the_browser.patch",
        "lld_emits_index.patch",
        "older_trees_have_both_arguments.patch",
    ]
]

# Rust that Debian's patches to this version are for; the security suite has a newer one, and drops it for the next.
_RUST_SUITE = "bookworm-without-security"
_RUST = [
    "libclang1-19",
    "libllvm19",
    "libstd-rust-web-1.85",
    "libstd-rust-web-dev",
    "rustc-web",
    "rustfmt-web",
    # Shared libraries of those programs, down to libc.
    "libbsd0",
    "libedit2",
    "libffi8",
    "libgcc-s1",
    "libgmp10",
    "libicu72",
    "liblzma5",
    "libmd0",
    "libstdc++6",
    "libtinfo6",
    "libxml2",
    "libz3-4",
    "libzstd1",
    "zlib1g",
]

def _chromium_impl(mctx):
    lock = json.decode(mctx.read(Label("//third_party/debian:lock.json")))

    # Programs that repository rules run.
    patch, patchelf = entry_of("package", "patch", lock["packages"]["bookworm"]), patchelf_entries(lock)
    chromium_rust_repository(
        name = "chromium_rust",
        entries = [entry_of("package", name, lock["packages"][_RUST_SUITE]) for name in _RUST],
        exclude = [
            "usr/bin/cargo-fmt",
            "usr/bin/rustdoc",
            "usr/libexec/*",
            "usr/share/*",
        ],
        patchelf = patchelf,
        rpath = ["usr/lib/x86_64-linux-gnu"],
    )
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
    rust = [Label("//patches/chromium:bindgen_with_its_tools.patch")]
    chromium_repository(
        name = "chromium_base",
        exclude = BASE_EXCLUDE,
        include = BASE,
        own_patches = _OWN_PATCHES,
        patch = patch,
        patches = rust,
    )
    chromium_repository(
        name = "chromium_v8",
        exclude = V8_EXCLUDE,
        include = V8,
        own_patches = _OWN_PATCHES,
        patch = patch,
        # As V8's own checkout is configured: without Perfetto, which the browser traces with.
        patches = [
            Label("//patches/chromium:libraries_without_the_browser.patch"),
            Label("//patches/chromium:v8_in_its_own_checkout.patch"),
        ],
        unbundle = False,
    )
    browser_repositories(lock, patchelf)
    chromium_repository(
        name = "chromium_complete",
        build = browser_build(lock),
        include = ALL,
        own_patches = _OWN_PATCHES,
        patch = patch,
        patches = rust,
    )
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
