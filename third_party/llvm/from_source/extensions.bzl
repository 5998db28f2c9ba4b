"""Module extension `llvm_from_source`: @llvm_project, LLVM's source under its own Bazel overlay.

    llvm_from_source = use_extension("//third_party/llvm/from_source:extensions.bzl", "llvm_from_source")
    use_repo(llvm_from_source, "llvm_project")

Nothing is unpacked until a target of it is needed.
"""

load(":edits.bzl", "EDITS", "edited", "version", "wanted_targets")

# Folders of the overlay that llvm and clang need. Of mlir it is only the rules around TableGen.
_OVERLAY = "utils/bazel/llvm-project-overlay"
_PACKAGES = ["clang", "llvm", "third-party"]

# Directories in one package; far more than there are.
_MOST_DIRECTORIES = 10000

def _overlay_file(rctx, file, path):
    """Puts a file of the overlay at `path`: with our changes, if there are any, else as a link."""
    if path not in EDITS:
        rctx.symlink(file, path)
        return
    text, error = edited(path, rctx.read(file), EDITS[path])
    if error:
        fail(error)
    rctx.file(path, text, executable = False)

def _overlay(rctx, source, package):
    """Links `package` of the source tree and the overlay's files in it into this repository, by whole folders where possible."""
    pending = [package]
    for _ in range(_MOST_DIRECTORIES):
        if not pending:
            return
        folder = pending.pop()
        laid_over = {entry.basename: entry for entry in source.get_child(_OVERLAY, folder).readdir()}
        for name, entry in laid_over.items():
            path = folder + "/" + name
            if entry.is_dir:
                pending.append(path)
            else:
                _overlay_file(rctx, entry, path)
        below = source.get_child(folder)
        for entry in below.readdir() if below.exists else []:
            if entry.basename not in laid_over:
                rctx.symlink(entry, folder + "/" + entry.basename)
    fail("{}: more than {} directories below {}; is it the tree of LLVM?".format(source, _MOST_DIRECTORIES, package))

def _llvm_project_impl(rctx):
    targets, error = wanted_targets(rctx.os.environ.get("MLGO_LLVM_TARGETS"))
    if error:
        fail(error)
    source = rctx.path(rctx.attr.source).dirname
    for package in _PACKAGES:
        _overlay(rctx, source, package)
    for name in ["mlir/tblgen.bzl", "workspace_root.bzl"]:
        _overlay_file(rctx, source.get_child(_OVERLAY, name), name)
    rctx.symlink(source.get_child("cmake"), "cmake")
    rctx.file("mlir/BUILD.bazel", "", executable = False)
    numbers = version(rctx.read(source.get_child("cmake", "Modules", "LLVMVersion.cmake")))
    rctx.file("vars.bzl", "".join(["{} = {}\n".format(name, repr(numbers[name])) for name in sorted(numbers)]), executable = False)
    rctx.file("llvm/targets.bzl", "llvm_targets = {}\n".format(repr(targets)), executable = False)
    rctx.file("BUILD.bazel", "", executable = False)
    rctx.file("REPO.bazel", "", executable = False)

_llvm_project = repository_rule(
    implementation = _llvm_project_impl,
    doc = "LLVM's source tree under its Bazel overlay, linked and not copied. MLGO_LLVM_TARGETS says for which targets it makes code.",
    attrs = {
        "source": attr.label(doc = "A file at the top of the source tree.", allow_single_file = True, mandatory = True),
    },
    environ = ["MLGO_LLVM_TARGETS"],
)

def _llvm_from_source_impl(_mctx):
    _llvm_project(
        name = "llvm_project",
        source = "@llvm_project_source//:BUILD.bazel",
    )

llvm_from_source = module_extension(
    implementation = _llvm_from_source_impl,
    doc = "Makes @llvm_project.",
)
