"""Rules that collect the files of a package: a compiler in its tree, parts of Debian packages, licences."""

load("@rules_pkg//pkg:providers.bzl", "PackageFilegroupInfo", "PackageFilesInfo", "PackageSymlinkInfo")
load("@rules_python//python:py_info.bzl", "PyInfo")

visibility(["//release/packaging/..."])

def linked_program(compiler):
    """The file of a `mlgo_clang` that the linker wrote; that in its tree is a copy of 170 MB, which no package needs."""
    return compiler[OutputGroupInfo].linked.to_list()[0]

def _compiler_files_impl(ctx):
    tree = ctx.attr.program.label.name + ".llvm/"
    programs, directories, settings, links = {}, {}, {}, []
    for file in ctx.attr.program[DefaultInfo].default_runfiles.files.to_list():
        _, inside, path = file.short_path.partition(tree)
        if not inside:
            continue
        if file.is_directory:
            directories[path] = file
        elif path == "bin/" + ctx.attr.program_name:
            programs[path] = linked_program(ctx.attr.program)
        elif path.endswith(".cfg") or path.startswith("share/"):
            settings[path] = file
    if len(programs) != 1:
        fail("{}: has no {}bin/{} among its runfiles, so it is not a target of mlgo_clang; name one".format(
            ctx.attr.program.label,
            tree,
            ctx.attr.program_name,
        ))
    for name in ctx.attr.links:
        links.append((PackageSymlinkInfo(
            attributes = {"mode": "0777"},
            destination = "bin/" + name,
            target = ctx.attr.program_name,
        ), ctx.label))
    return [
        PackageFilegroupInfo(
            pkg_dirs = [],
            pkg_files = [
                (PackageFilesInfo(attributes = {"mode": "0755"}, dest_src_map = programs), ctx.label),
                (PackageFilesInfo(attributes = {"mode": "0644"}, dest_src_map = directories | settings), ctx.label),
            ],
            pkg_symlinks = links,
        ),
        DefaultInfo(files = depset(programs.values() + directories.values() + settings.values())),
    ]

compiler_files = rule(
    implementation = _compiler_files_impl,
    doc = "A target of `mlgo_clang` as files for rules_pkg: bin/clang, more names of it, configuration files, lib/clang, share.",
    attrs = {
        "links": attr.string_list(doc = "More names of the program in bin/."),
        "program": attr.label(doc = "The compiler.", mandatory = True),
        "program_name": attr.string(doc = "Its file name in bin/.", default = "clang"),
    },
)

def _by_path(targets):
    return {path: target[DefaultInfo].files.to_list()[0] for target, path in targets.items()}

def _python_tree_impl(ctx):
    found = depset(transitive = [
        ctx.attr.library[PyInfo].transitive_sources,
        ctx.attr.library[DefaultInfo].default_runfiles.files,
    ])
    modules = {
        "{}/{}".format(ctx.attr.folder, file.short_path): file
        for file in found.to_list()
        if file.short_path.startswith("mlgo/")
    }
    modules |= _by_path(ctx.attr.files)
    programs = _by_path(ctx.attr.programs)
    links = [
        (PackageSymlinkInfo(attributes = {"mode": "0777"}, destination = path, target = target), ctx.label)
        for path, target in ctx.attr.links.items()
    ]
    return [
        PackageFilegroupInfo(
            pkg_dirs = [],
            pkg_files = [
                (PackageFilesInfo(attributes = {"mode": "0755"}, dest_src_map = programs), ctx.label),
                (PackageFilesInfo(attributes = {"mode": "0644"}, dest_src_map = modules), ctx.label),
            ],
            pkg_symlinks = links,
        ),
        DefaultInfo(files = depset(programs.values() + modules.values())),
    ]

python_tree = rule(
    implementation = _python_tree_impl,
    doc = "A Python library of this workspace with its dependencies and data as files for rules_pkg, and programs that use it.",
    attrs = {
        "files": attr.label_keyed_string_dict(doc = "Other file -> path.", allow_files = True),
        "folder": attr.string(doc = "Where the modules go; Python's path begins there.", mandatory = True),
        "library": attr.label(doc = "The library.", mandatory = True, providers = [PyInfo]),
        "links": attr.string_dict(doc = "Path of a link -> its target."),
        "programs": attr.label_keyed_string_dict(doc = "Executable file -> path.", allow_files = True),
    },
)

def _run(ctx, executable, arguments, inputs, output, mnemonic, message):
    ctx.actions.run(
        executable = executable,
        arguments = [arguments],
        inputs = inputs,
        outputs = [output],
        mnemonic = mnemonic,
        progress_message = message,
    )

def _package_part_impl(ctx):
    out = ctx.actions.declare_directory(ctx.label.name)
    arguments = ctx.actions.args()
    arguments.add_all([out], before_each = "--output", expand_directories = False)
    arguments.add(ctx.attr.prefix, format = "--prefix=%s")
    arguments.add_all(ctx.attr.exclude, format_each = "--exclude=%s")
    arguments.add(ctx.file.package)
    _run(ctx, ctx.executable._part, arguments, [ctx.file.package], out, "PackagePart", "Unpacking a part of %{input}")
    return [DefaultInfo(files = depset([out]))]

package_part = rule(
    implementation = _package_part_impl,
    doc = "A folder of a Debian package as a directory.",
    attrs = {
        "exclude": attr.string_list(doc = "Shell patterns of paths below the folder that are left out."),
        "package": attr.label(doc = "The .deb file.", allow_single_file = [".deb"], mandatory = True),
        "prefix": attr.string(doc = "The folder, relative to the root.", mandatory = True),
        "_part": attr.label(cfg = "exec", default = "//release/packaging:part", executable = True),
    },
)

def _licences_impl(ctx):
    out = ctx.actions.declare_directory(ctx.label.name)
    arguments = ctx.actions.args()
    arguments.add_all([out], before_each = "--output", expand_directories = False)
    arguments.add(ctx.file.common, format = "--common=%s")
    inputs = ctx.files.packages + [ctx.file.common]
    for package, name in ctx.attr.packages.items():
        arguments.add("--package={}={}".format(name, package.files.to_list()[0].path))
    for text, name in ctx.attr.texts.items():
        arguments.add("--text={}={}".format(name, text.files.to_list()[0].path))
        inputs += text.files.to_list()
    for path, name in ctx.attr.directory_texts.items():
        arguments.add("--text={}={}/{}".format(name, ctx.file.directory.path, path))
        inputs.append(ctx.file.directory)
    _run(ctx, ctx.executable._licences, arguments, inputs, out, "Licences", "Collecting the licences of %{label}")
    return [DefaultInfo(files = depset([out]))]

licences = rule(
    implementation = _licences_impl,
    doc = "A directory with the licences of Debian packages and of other components.",
    attrs = {
        "common": attr.label(doc = "The package base-files, which has the texts that others refer to.", allow_single_file = [".deb"], mandatory = True),
        "directory": attr.label(doc = "A directory with more licence files.", allow_single_file = True),
        "directory_texts": attr.string_dict(doc = "Path of a licence file in `directory` -> name."),
        "packages": attr.label_keyed_string_dict(doc = "The .deb file -> name.", allow_files = [".deb"], mandatory = True),
        "texts": attr.label_keyed_string_dict(doc = "Licence file -> name.", allow_files = True),
        "_licences": attr.label(cfg = "exec", default = "//release/packaging:licences", executable = True),
    },
)
