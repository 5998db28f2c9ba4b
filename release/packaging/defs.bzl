"""`compiler_tarball`, `compiler_package` and `compiler_image`: a clang of `mlgo_clang`, packed for machines without Bazel.

    load("//release/packaging:defs.bzl", "compiler_image", "compiler_package", "compiler_tarball")

    compiler_tarball(
        name = "tarball",
        compiler = ":clang",
        policies = {"//models/regalloc_eviction:policy": "regalloc_eviction"},
    )
    compiler_image(name = "image", tarball = ":tarball")
    compiler_package(name = "package", tarball = ":tarball")
"""

load("@llvm//:chosen.bzl", "CHOSEN")
load("@rules_pkg//pkg:deb.bzl", "pkg_deb")
load("@rules_pkg//pkg:mappings.bzl", "pkg_files")
load("@rules_pkg//pkg:tar.bzl", "pkg_tar")
load("//release/packaging/private:files.bzl", "compiler_files", "licences", "package_part", "python_tree")
load("//release/packaging/private:image.bzl", "oci_image")
load("//release/packaging/private:provenance.bzl", "provenance")
load("//release/private:by_backend.bzl", "by_backend")
load("//release/tools:defs.bzl", "TOOLS")

# A test compares it with what clang prints.
LLVM_VERSION = CHOSEN["version"]
_MAJOR = CHOSEN["major"]
_CLANG_RUNTIME = Label("@release_debs//:libclang-rt-{}-dev.deb".format(_MAJOR))
_TOP = "mlgo-clang-" + LLVM_VERSION

# Name in /usr/bin of a Debian package -> program of ours.
_IN_USR_BIN = {
    "mlgo": "mlgo",
    "mlgo-clang": "clang",
    "mlgo-clang++": "clang++",
}

# The packages that a compiler with generated C++ is linked from. glibc: its start-up files and libc_nonshared.a.
_LINKED = {
    Label("@compiler_root_debs//:gcc-12-base.deb"): "libstdc++_and_libgcc",
    Label("@compiler_root_debs//:libc6-dev.deb"): "glibc",
    _CLANG_RUNTIME: "llvm",
    Label("@release_debs//:libgoogle-perftools-dev.deb"): "gperftools",
    Label("@release_debs//:libzstd-dev.deb"): "zstd",
    Label("@release_debs//:zlib1g-dev.deb"): "zlib",
}

# Clang's run-time libraries (built-ins, profiling, sanitizers) with their headers, in the package and in the tarball.
_RUNTIME_FOLDERS = [
    "include/fuzzer",
    "include/orc",
    "include/sanitizer",
    "lib",
    "share",
]

def compiler_tarball(name, compiler, policies, backend = None, visibility = None):
    """`mlgo-clang-<version>.tar.gz`: a compiler that runs from any folder of any Debian 12 machine.

    Compressed with gzip, which every Debian can unpack. Equal inputs give equal bytes.
    Also makes `<name>_provenance`, `provenance.json` and the receiver's README; and `<name>_tree.tar.gz`, the same files
    compressed fast, for `compiler_install`, and `<name>_installed.tar`, the same below usr/lib, for `compiler_package`.

    Args:
      name: name of the target.
      compiler: label of a `mlgo_clang`.
      policies: dict, policy label -> the problem it decides, as given to `mlgo_clang`; a label without files is skipped. One of
        several policies for a problem has its name after the problem, "inlining_for_size:arm32-size", and one that is `for_targets`
        these too, "inlining_for_size:arm32-size@arm"; the default is the first.
      backend: as given to `mlgo_clang`; "aot" adds the licences of TensorFlow and Eigen.
      visibility: visibility of `name`.
    """
    private = ["//visibility:private"]

    compiler_files(
        name = name + "_compiler",
        links = TOOLS,
        program = compiler,
        visibility = private,
    )
    for folder in _RUNTIME_FOLDERS:
        package_part(
            name = "{}_runtime/{}".format(name, folder),
            exclude = [
                "*i386*",
                "README.txt",
            ],
            package = _CLANG_RUNTIME,
            prefix = "usr/lib/llvm-{0}/lib/clang/{0}/{1}".format(_MAJOR, folder),
            visibility = private,
        )
    licences(
        name = name + "_licences",
        common = Label("@compiler_root_debs//:base-files.deb"),
        directory = by_backend(backend, None, Label("@pip_tensorflow//:tensorflow_include")),
        directory_texts = by_backend(backend, {}, {"LICENSE": "tensorflow"}),
        packages = by_backend(backend, _LINKED, _LINKED | {Label("@release_debs//:libeigen3-dev.deb"): "eigen"}),
        texts = {Label("//:LICENSE"): "mlgo"},
        visibility = private,
    )
    provenance(
        name = name + "_provenance",
        backend = by_backend(backend, "cpp", "aot"),
        llvm_version = LLVM_VERSION,
        module = "{} {}".format(native.module_name() or "mlgo", native.module_version() or ""),
        policies = policies,
        program = compiler,
        runtime = [_CLANG_RUNTIME],
        toolchains_used = [
            Label("@toolchain_llvm//:cc_toolchain"),
            Label("@python311//:files"),
        ],
        visibility = visibility,
    )
    pkg_files(
        name = name + "_texts",
        srcs = [name + "_provenance"],
        visibility = private,
    )
    pkg_files(
        name = name + "_licence_files",
        srcs = [name + "_licences"],
        renames = {name + "_licences": "licences"},
        visibility = private,
    )
    pkg_files(
        name = name + "_runtime_files",
        srcs = ["{}_runtime/{}".format(name, folder) for folder in _RUNTIME_FOLDERS],
        prefix = "lib/clang/" + _MAJOR,
        renames = {"{}_runtime/{}".format(name, folder): folder for folder in _RUNTIME_FOLDERS},
        visibility = private,
    )
    python_tree(
        name = name + "_mlgo",
        folder = "lib/mlgo",
        library = Label("//mlgo/project"),
        links = {"lib/mlgo/record/clang++": "clang"},
        files = {
            Label("//mlgo/project:started_compilers.so"): "lib/mlgo/record/started_compilers.so",
        },
        programs = {
            Label("//mlgo/project:launcher.py"): "bin/mlgo",
            Label("//mlgo/project:record.sh"): "lib/mlgo/record/clang",
            Label("//mlgo/project:scan_modules.py"): "lib/mlgo/record/clang-scan-deps",
        },
        visibility = private,
    )
    for target, out, extension, compressor, folder, tags in [
        (name, _TOP + ".tar.gz", "tar.gz", None, _TOP, []),
        (name + "_tree", name + "_tree.tar.gz", "tar.gz", Label("//release/packaging:compress_fast"), _TOP, ["manual"]),
        (name + "_installed", name + "_installed.tar", "tar", None, "usr/lib/" + _TOP, ["manual"]),
    ]:
        pkg_tar(
            name = target,
            out = out,
            srcs = [
                name + "_compiler",
                name + "_licence_files",
                name + "_mlgo",
                name + "_runtime_files",
                name + "_texts",
            ],
            compressor = compressor,
            extension = extension,
            mode = "0644",
            package_dir = folder,
            tags = tags,
            visibility = visibility,
        )

def compiler_package(name, tarball, visibility = None):
    """`mlgo-clang_<version>_amd64.deb`: a `compiler_tarball` as a Debian package, for Debian 12 or newer.

    Its files lie in /usr/lib/mlgo-clang-<version>; /usr/bin has mlgo, mlgo-clang and mlgo-clang++. Tagged `manual`.

    Args:
      name: name of the target.
      tarball: label of a `compiler_tarball`, in the same package.
      visibility: visibility of `name`.
    """
    pkg_tar(
        name = name + "_data",
        extension = "tar.gz",
        mode = "0644",
        symlinks = {"usr/bin/" + link: "../lib/{}/bin/{}".format(_TOP, program) for link, program in _IN_USR_BIN.items()},
        tags = ["manual"],
        visibility = ["//visibility:private"],
        deps = [tarball + "_installed"],
    )
    pkg_deb(
        name = name,
        architecture = "amd64",
        data = name + "_data",
        depends = [
            "libc6 (>= 2.36)",
            "python3 (>= 3.9)",
        ],
        description = """clang with trained policies inside, and mlgo, which applies them to a build
 A clang that decides about inlining and register allocation by machine-learned
 policies: --config=mlgo-size.cfg or --config=mlgo-speed.cfg turns them on.
 `mlgo smaller -- make` measures what a build gains by which options.""",
        homepage = "https://llvm.org/docs/MLGO.html",
        maintainer = "The founders of mlgo <mlgo@localhost>",
        package = "mlgo-clang",
        priority = "optional",
        recommends = [
            "libc6-dev",
            "libstdc++-12-dev | libstdc++-dev",
        ],
        section = "devel",
        tags = ["manual"],
        version = "{}+mlgo{}".format(LLVM_VERSION, native.module_version() or "0"),
        visibility = visibility,
    )

def compiler_image(name, tarball, visibility = None):
    """`<name>.oci.tar`: a container image whose command is the compiler of a `compiler_tarball`.

    Two layers: the Debian packages that a compiler needs, and the tarball, byte for byte.

    Args:
      name: name of the target.
      tarball: label of a `compiler_tarball`, in the same package.
      visibility: visibility of `name`.
    """
    oci_image(
        name = name,
        entrypoint = ["/{}/bin/clang".format(_TOP)],
        env = ["PATH=/{}/bin:/usr/bin".format(_TOP)],
        image_name = "mlgo-clang:" + LLVM_VERSION,
        labels = {
            "org.opencontainers.image.title": "mlgo-clang",
            "org.opencontainers.image.description": "clang with trained policies inside, on a Debian 12 root made of pinned packages",
        },
        layers = [
            Label("//release/packaging:compiler_root"),
            tarball,
        ],
        provenance = tarball + "_provenance",
        visibility = visibility,
        working_directory = "/src",
    )
