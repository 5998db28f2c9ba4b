"""`mlgo_gn_corpus`: a corpus of a project that gn configures and ninja builds, in one action."""

load("@bazel_skylib//rules:common_settings.bzl", "BuildSettingInfo")
load(":modules.bzl", "NO_LICENCE")

visibility(["//mlgo/corpus/...", "//mlgo/evaluation/gn"])

# What a gn project is, and what it is configured with.
GN_PROJECT_ATTRIBUTES = {
    "tree": attr.label(doc = "The project: one folder, with a .gn file.", allow_files = True, mandatory = True),
    "gn_args": attr.string_dict(doc = "gn arguments, values as gn writes them: `true`, `2`, `\"text\"`."),
    "toolchain": attr.label_keyed_string_dict(
        doc = "Folders and files that the build sees below //mlgo_toolchain, each with its path there.",
        allow_files = True,
    ),
    "placed": attr.label_keyed_string_dict(
        doc = "Folders and files that the build sees among those of the tree, each with its path from the project's root.",
        allow_files = True,
    ),
    "copied": attr.string_list(
        doc = "Folders of the tree of which the build sees copies instead of links. A script that Python starts knows the " +
              "place that a link leads to: one that compares it with paths in the build needs this.",
    ),
    "tools": attr.label_list(doc = "Files that the programs of `toolchain`, gn, ninja and python need besides.", allow_files = True),
    "path": attr.string_list(doc = "Folders below //mlgo_toolchain with programs that the build starts by name."),
    "env": attr.string_dict(doc = "Environment of gn and ninja; they start in a folder two below the project's root."),
    "gn": attr.label(doc = "The program gn.", executable = True, cfg = "exec", allow_single_file = True, mandatory = True),
    "ninja": attr.label(doc = "The program ninja.", executable = True, cfg = "exec", allow_single_file = True, mandatory = True),
    "python": attr.label(
        doc = "The interpreter of the project's scripts.",
        executable = True,
        cfg = "exec",
        allow_single_file = True,
        default = "@python311//:usr/bin/python3.11",
    ),
    "fingerprints": attr.label_list(doc = "Small files that change when tree or toolchain do: then a build is begun anew.", allow_files = True),
}

def only_file(ctx, target, attribute):
    files = target[DefaultInfo].files.to_list()
    if len(files) != 1:
        fail("%s: %s = %s is %d files, not one. Name a file, or a filegroup whose only source is a folder." %
             (ctx.label, attribute, target.label, len(files)))
    return files[0]

def _named_files(ctx, attribute):
    """The paths of an attribute that maps labels to paths, each with its file."""
    return {name: only_file(ctx, target, attribute) for target, name in getattr(ctx.attr, attribute).items()}

def runfile(file):
    """The rlocation path of a file.

    Args:
      file: a File.

    Returns:
      Its path below the runfiles.
    """
    return file.short_path[3:] if file.short_path.startswith("../") else "_main/" + file.short_path

def gn_project(ctx, place = runfile):
    """The project that the attributes GN_PROJECT_ATTRIBUTES describe.

    Args:
      ctx: of a rule with these attributes.
      place: File -> how the content names it.

    Returns:
      A struct: `content`, fields of a JSON file that mlgo/corpus/gn/gn_build.py reads; `files`, a depset of what they name.
    """
    tree = only_file(ctx, ctx.attr.tree, "tree")
    toolchain, placed = _named_files(ctx, "toolchain"), _named_files(ctx, "placed")
    programs = [ctx.executable.gn, ctx.executable.ninja, ctx.executable.python]
    return struct(
        content = {
            "copied": ctx.attr.copied,
            "env": ctx.attr.env,
            "fingerprints": [place(file) for file in ctx.files.fingerprints],
            "gn": place(ctx.executable.gn),
            "gn_args": ctx.attr.gn_args,
            "ninja": place(ctx.executable.ninja),
            "path": ctx.attr.path,
            "placed": {name: place(file) for name, file in placed.items()},
            "python": place(ctx.executable.python),
            "toolchain": {name: place(file) for name, file in toolchain.items()},
            "tree": place(tree),
        },
        files = depset(
            [tree] + toolchain.values() + placed.values() + programs + ctx.files.fingerprints,
            transitive = [target[DefaultInfo].files for target in ctx.attr.tools],
        ),
    )

def described_project(ctx, content, files):
    """What a rule returns that only describes a project for a command.

    Args:
      ctx: of the rule.
      content: of NAME.json.
      files: depset of what the content names.

    Returns:
      Providers.
    """
    output = ctx.actions.declare_file(ctx.label.name + ".json")
    ctx.actions.write(output, json.encode_indent(content, indent = " ") + "\n", is_executable = True)

    # Of an executable, Bazel puts the runfiles beside it when the command asks for the label alone.
    return [DefaultInfo(executable = output, runfiles = ctx.runfiles([output], transitive_files = files))]

GnProgramInfo = provider(
    doc = "A program that the build of a corpus links, kept by mlgo_gn_corpus(program = ...).",
    fields = {
        "corpus": ":type: File. The corpus directory that has its modules.",
        "directory": ":type: File. Folder with the program and what it takes to link it again (mlgo/corpus/gn/linked_program.py).",
        "name": ":type: str. Name of the program in that folder.",
    },
)

def _path(file):
    return file.path

def _gn_corpus_impl(ctx):
    directory = ctx.actions.declare_directory(ctx.label.name)
    project = gn_project(ctx, _path)
    description = ctx.actions.declare_file(ctx.label.name + ".project.json")
    ctx.actions.write(description, json.encode_indent(project.content, indent = " ") + "\n")
    arguments = ctx.actions.args()
    arguments.add(description, format = "--project=%s")

    # Not declared, so that Bazel leaves it alone: an interrupted build goes on there.
    arguments.add(directory.path + ".build", format = "--work=%s")
    arguments.add_all([directory], format_each = "--output=%s", expand_directories = False)
    arguments.add_all(ctx.attr.targets, format_each = "--target=%s")
    if ctx.attr.linked:
        arguments.add("--linked")
        arguments.add_all(ctx.attr.library_flags, format_each = "--library_flag=%s")
    part = ctx.attr._part[BuildSettingInfo].value
    if part:
        arguments.add(part, format = "--part=%s")

    # A part of the objects makes no program; one that was linked with ThinLTO cannot be linked again from modules.
    program = None
    if ctx.attr.program and not part:
        arguments.add(ctx.attr.program, format = "--program=%s")
        if not ctx.attr.linked:
            program = ctx.actions.declare_directory(ctx.label.name + ".program")
            arguments.add_all([program], format_each = "--program_output=%s", expand_directories = False)
    arguments.add(ctx.attr.licence, format = "--licence=%s")
    ctx.actions.run(
        executable = ctx.executable._make,
        arguments = [arguments],
        inputs = depset([description], transitive = [project.files]),
        tools = [ctx.executable.gn, ctx.executable.ninja, ctx.executable.python],
        outputs = [directory] + ([program] if program else []),
        mnemonic = "GnCorpus",
        progress_message = "Building corpus %{label} with gn and ninja",
        # In the sandbox nothing would be left of an interrupted build.
        execution_requirements = {"no-remote-exec": "1", "no-sandbox": "1"},
    )
    kept = [] if not program else [
        GnProgramInfo(corpus = directory, directory = program, name = ctx.attr.program.split("/")[-1]),
        OutputGroupInfo(program = depset([program])),
    ]
    return [DefaultInfo(files = depset([directory]), runfiles = ctx.runfiles([directory]))] + kept

mlgo_gn_corpus = rule(
    implementation = _gn_corpus_impl,
    doc = "A corpus directory of targets of a gn project. The objects stay in NAME.build beside it, for verify_corpus --obj_base_dir; " +
          "an interrupted build goes on there, which is why the action runs outside of the sandbox.",
    attrs = dict(GN_PROJECT_ATTRIBUTES, **{
        "targets": attr.string_list(doc = "gn labels of what the corpus is made of.", mandatory = True, allow_empty = False),
        "linked": attr.bool(doc = "Link the targets as a library with ThinLTO, or `program`; modules are as they are after importing. The " +
                                  "arguments must make the toolchain keep them (--save-temps=import, --thinlto-emit-index-files)."),
        "library_flags": attr.string_list(doc = "Options of that link. Without them, whole archives, all of them: a project whose links of shared " +
                                                "libraries take whole archives themselves gives -Wl,-Bsymbolic."),
        "licence": attr.string(doc = "SPDX expression of sources that name none.", default = NO_LICENCE),
        "program": attr.string(doc = "Path, in gn's folder, of a program that the targets link. It is kept in NAME.program (output group " +
                                     "`program`), with what it takes to link it again. With `linked`, it is not kept: the modules are those of its link."),
        "_make": attr.label(default = "//mlgo/corpus/gn:make", executable = True, cfg = "exec"),
        "_part": attr.label(default = "//mlgo/corpus/gn:part"),
    }),
)

def _gn_program_impl(ctx):
    program = ctx.attr.corpus[GnProgramInfo]
    executable = ctx.actions.declare_file(ctx.label.name)
    ctx.actions.run_shell(
        inputs = [program.directory],
        outputs = [executable],
        arguments = [program.directory.path + "/" + program.name, executable.path],
        command = "cp -- \"$1\" \"$2\"",
        mnemonic = "GnProgram",
    )
    return [DefaultInfo(executable = executable)]

mlgo_gn_program = rule(
    implementation = _gn_program_impl,
    executable = True,
    doc = "The program that mlgo_gn_corpus(program = ...) keeps, for `bazel run`.",
    attrs = {
        "corpus": attr.label(doc = "The corpus.", providers = [GnProgramInfo], mandatory = True),
    },
)
