"""Compiles sources with the toolchain's clang, takes bitcode and command out of the objects, assembles a directory."""

load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain", "use_cpp_toolchain")
load("@rules_cc//cc:action_names.bzl", "ACTION_NAMES")

CorpusModulesInfo = provider(
    doc = "Compiled modules that have not been put into a directory yet.",
    fields = {
        "modules": ":type: list[struct]: `name` (str, stable), `bitcode` (File) and `command` (File, a .llvmcmd section).",
    },
)

# How clang turns source into bitcode and records its command is the same at every compilation mode and with every --copt:
# a corpus must not change because somebody debugs something else.
_MODES = ["dbg", "fastbuild", "opt"]

_CXX_EXTENSIONS = ["cc", "cpp", "cxx", "c++", "C"]

def module_name(short_path):
    """The stable name of a source: its path in its repository, whatever that repository is called here.

    Args:
      short_path: `File.short_path` of the source.

    Returns:
      For "../+debian+llvm_source/llvm/lib/IR/Type.cpp", "llvm/lib/IR/Type.cpp".
    """
    if short_path.startswith("../"):
        return short_path.split("/", 2)[2]
    return short_path

def message_same_name(label, first, second, name):
    """What is said when two sources would be one module.

    Args:
      label: the corpus.
      first: a source's path.
      second: the other source's path.
      name: the module name of both.

    Returns:
      The message.
    """
    return "%s: sources %s and %s have the same module name %s. Remove one of them from `srcs`." % (label, first, second, name)

def _compile(ctx, source, toolchain, features, headers, context, name):
    """Registers the two actions of one module: compile, and take bitcode and command out of the object."""
    is_cxx = source.extension in _CXX_EXTENSIONS
    action = ACTION_NAMES.cpp_compile if is_cxx else ACTION_NAMES.c_compile
    folder = ctx.label.name + ".modules/"
    object_file = ctx.actions.declare_file(folder + name + ".o")
    bitcode = ctx.actions.declare_file(folder + name + ".bc")
    command = ctx.actions.declare_file(folder + name + ".cmd")

    variables = cc_common.create_compile_variables(
        feature_configuration = features,
        cc_toolchain = toolchain,
        source_file = source.path,
        output_file = object_file.path,
        user_compile_flags = ctx.attr.copts +
                             (ctx.attr.cxxopts if is_cxx else []) +
                             ["-w", "-Xclang", "-fembed-bitcode=all"],
        include_directories = context.includes,
        quote_include_directories = context.quote_includes,
        system_include_directories = depset(transitive = [context.system_includes, context.external_includes]),
        framework_include_directories = context.framework_includes,
        preprocessor_defines = context.defines,
        use_pic = True,
    )
    ctx.actions.run(
        executable = cc_common.get_tool_for_action(feature_configuration = features, action_name = action),
        arguments = cc_common.get_memory_inefficient_command_line(
            feature_configuration = features,
            action_name = action,
            variables = variables,
        ),
        inputs = depset([source], transitive = [headers]),
        tools = toolchain.all_files,
        outputs = [object_file],
        env = cc_common.get_environment_variables(
            feature_configuration = features,
            action_name = action,
            variables = variables,
        ),
        mnemonic = "CorpusCompile",
        progress_message = "Compiling %s for corpus %%{label}" % name,
    )
    ctx.actions.run(
        executable = toolchain.objcopy_executable,
        arguments = [
            "--dump-section=.llvmbc=" + bitcode.path,
            "--dump-section=.llvmcmd=" + command.path,
            object_file.path,
            "/dev/null",
        ],
        inputs = [object_file],
        tools = toolchain.all_files,
        outputs = [bitcode, command],
        mnemonic = "CorpusExtract",
        progress_message = "Extracting bitcode of %s for corpus %%{label}" % name,
    )
    return struct(name = name, bitcode = bitcode, command = command)

def _assemble(ctx, modules, part):
    """Registers the action which makes the directory; returns the target's providers."""
    directory = ctx.actions.declare_directory(ctx.label.name)
    listing = ctx.actions.declare_file(ctx.label.name + ".modules.list")
    ctx.actions.write(
        listing,
        "".join(["%s\t%s\t%s\n" % (m.name, m.bitcode.path, m.command.path) for m in modules]),
    )
    ctx.actions.run(
        executable = ctx.executable._assemble,
        arguments = ["--output", directory.path] + (["--part", part] if part else []) + [listing.path],
        inputs = [listing] + [m.bitcode for m in modules] + [m.command for m in modules],
        outputs = [directory],
        mnemonic = "CorpusAssemble",
        progress_message = "Assembling corpus %{label}",
    )
    return [
        DefaultInfo(files = depset([directory]), runfiles = ctx.runfiles([directory])),
        CorpusModulesInfo(modules = modules),
    ]

def _from_sources_impl(ctx):
    toolchain = find_cpp_toolchain(ctx)
    features = cc_common.configure_features(
        ctx = ctx,
        cc_toolchain = toolchain,
        requested_features = ctx.features,
        unsupported_features = ctx.disabled_features + _MODES,
    )
    context = cc_common.merge_compilation_contexts(
        compilation_contexts = [dep[CcInfo].compilation_context for dep in ctx.attr.deps],
    )
    headers = depset(ctx.files.hdrs, transitive = [context.headers])
    modules = []
    seen = {}
    for source in ctx.files.srcs:
        name = module_name(source.short_path)
        if name in seen:
            fail(message_same_name(ctx.label, seen[name], source.path, name))
        seen[name] = source.path
        modules.append(_compile(ctx, source, toolchain, features, headers, context, name))
    return _assemble(ctx, modules, None)

_ASSEMBLE = attr.label(default = "//mlgo/corpus:assemble", executable = True, cfg = "exec")

mlgo_corpus_from_sources = rule(
    implementation = _from_sources_impl,
    doc = "A corpus directory made from sources: per module one cached compile, bitcode as it is before optimisation.",
    attrs = {
        "srcs": attr.label_list(
            doc = "C and C++ sources, one module each. A module is named after its source's path in its repository.",
            allow_files = [".c", ".cc", ".cpp", ".cxx", ".c++", ".C"],
            allow_empty = False,
            mandatory = True,
        ),
        "hdrs": attr.label_list(
            doc = "Headers beside the sources that the sources include.",
            allow_files = True,
        ),
        "deps": attr.label_list(
            doc = "C++ libraries whose headers, include directories and defines the sources use.",
            providers = [CcInfo],
        ),
        "copts": attr.string_list(
            doc = "Compiler options of C and C++ sources. The optimisation level belongs here; --copt and -c have no influence.",
            default = ["-O2", "-DNDEBUG"],
        ),
        "cxxopts": attr.string_list(doc = "Further compiler options of C++ sources."),
        "_assemble": _ASSEMBLE,
    },
    toolchains = use_cpp_toolchain(),
    fragments = ["cpp"],
)

def _part_impl(ctx):
    return _assemble(ctx, ctx.attr.corpus[CorpusModulesInfo].modules, ctx.attr.part)

mlgo_corpus_part = rule(
    implementation = _part_impl,
    doc = "The modules of a corpus to train on, or those to judge by; mlgo/corpus/split.py says which is which.",
    attrs = {
        "corpus": attr.label(doc = "A mlgo_corpus_from_sources.", providers = [CorpusModulesInfo], mandatory = True),
        "part": attr.string(doc = "Which part.", values = ["train", "held_out"], mandatory = True),
        "_assemble": _ASSEMBLE,
    },
)
