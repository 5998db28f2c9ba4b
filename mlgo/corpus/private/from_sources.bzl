"""Compiles sources that no C++ target compiles, with options of their own."""

load("@rules_cc//cc:action_names.bzl", "ACTION_NAMES")
load("@rules_cc//cc:find_cc_toolchain.bzl", "CC_TOOLCHAIN_TYPE", "find_cpp_toolchain", "use_cc_toolchain")
load("@rules_cc//cc/common:cc_common.bzl", "cc_common")
load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")
load("//toolchains/cc:llvm_toolchain.bzl", "llvm_toolchain")
load(":aspect.bzl", "message_not_clang")
load(":modules.bzl", "ASSEMBLE", "CXX_EXTENSIONS", "FRONT_END", "LEVELS", "NO_LICENCE", "assemble", "corpus_modules", "corpus_providers", "front_end_module", "module_struct", "owner_name", "source_name")

visibility(["//mlgo/corpus/..."])

# How clang turns source into bitcode and records its command is the same at every compilation mode and with every --copt:
# a corpus does not depend on the compilation mode of the command line.
_MODES = ["dbg", "fastbuild", "opt"]

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

def _command(ctx, source, toolchain, features, context, object_path):
    """The command that compiles a source to an object: struct of argv and env."""
    is_cxx = source.extension in CXX_EXTENSIONS
    action = ACTION_NAMES.cpp_compile if is_cxx else ACTION_NAMES.c_compile
    variables = cc_common.create_compile_variables(
        feature_configuration = features,
        cc_toolchain = toolchain,
        source_file = source.path,
        output_file = object_path,
        user_compile_flags = ctx.attr.copts +
                             (ctx.attr.cxxopts if is_cxx else []) +
                             (["-" + ctx.attr.level] if ctx.attr.level else []) +
                             ["-w"] +
                             (["-Xclang", "-fembed-bitcode=all"] if ctx.attr.embedded else []),
        include_directories = context.includes,
        quote_include_directories = context.quote_includes,
        system_include_directories = depset(transitive = [context.system_includes, context.external_includes]),
        framework_include_directories = context.framework_includes,
        preprocessor_defines = context.defines,
        use_pic = True,
    )
    program = cc_common.get_tool_for_action(feature_configuration = features, action_name = action)
    return struct(
        argv = [program] + cc_common.get_memory_inefficient_command_line(
            feature_configuration = features,
            action_name = action,
            variables = variables,
        ),
        env = cc_common.get_environment_variables(
            feature_configuration = features,
            action_name = action,
            variables = variables,
        ),
    )

def _embedded_module(ctx, source, toolchain, features, headers, context, name):
    """Registers the two actions of a module whose bitcode is taken out of an object."""
    folder = ctx.label.name + ".modules/"
    object_file = ctx.actions.declare_file(folder + name + ".o")
    bitcode = ctx.actions.declare_file(folder + name + ".bc")
    command = ctx.actions.declare_file(folder + name + ".cmd")
    compile = _command(ctx, source, toolchain, features, context, object_file.path)
    ctx.actions.run(
        executable = compile.argv[0],
        arguments = compile.argv[1:],
        inputs = depset([source], transitive = [headers]),
        tools = toolchain.all_files,
        toolchain = CC_TOOLCHAIN_TYPE,
        outputs = [object_file],
        env = compile.env,
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
        toolchain = CC_TOOLCHAIN_TYPE,
        outputs = [bitcode, command],
        mnemonic = "CorpusExtract",
        progress_message = "Extracting bitcode of %s for corpus %%{label}" % name,
    )
    return module_struct(
        source = name,
        owner = owner_name(ctx.label),
        file = source,
        bitcode = bitcode,
        command = command,
        licence = ctx.attr.licence,
    )

def _module(ctx, source, toolchain, features, headers, context, name):
    if ctx.attr.embedded:
        return _embedded_module(ctx, source, toolchain, features, headers, context, name)
    folder = ctx.label.name + ".modules/"
    compile = _command(ctx, source, toolchain, features, context, name + ".o")
    return front_end_module(
        ctx,
        front_end = ctx.attr._front_end[DefaultInfo].files_to_run,
        argv = compile.argv,
        env = compile.env,
        inputs = depset([source], transitive = [headers]),
        tools = toolchain.all_files,
        source = source,
        name = name,
        owner = owner_name(ctx.label),
        folder = folder,
        licence = ctx.attr.licence,
        level = "",
    )

def _from_sources_impl(ctx):
    toolchain = find_cpp_toolchain(ctx)
    if "clang" not in toolchain.compiler:
        fail(message_not_clang(ctx.label, toolchain.compiler))
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
        name = source_name(source.short_path)
        if name in seen:
            fail(message_same_name(ctx.label, seen[name], source.path, name))
        seen[name] = source.path
        modules.append(_module(ctx, source, toolchain, features, headers, context, name))
    info = corpus_modules(modules)
    directory = assemble(ctx, info, ctx.label.name, program = ctx.attr._assemble[DefaultInfo].files_to_run)
    return corpus_providers(ctx, info, directory)

mlgo_corpus_from_sources = rule(
    implementation = _from_sources_impl,
    doc = "A corpus directory made from sources: per module one cached compile, bitcode as it is before optimisation.",
    cfg = llvm_toolchain,
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
        "embedded": attr.bool(
            doc = "Take bitcode out of objects that -fembed-bitcode makes, as mlgo-utils does. It costs twice the time and " +
                  "lacks `llvm.compiler.used`; a corpus that was always made so keeps its digest.",
        ),
        "level": attr.string(doc = "Optimisation level in place of the one in `copts`.", values = LEVELS, default = ""),
        "licence": attr.string(doc = "SPDX expression of sources that name none.", default = NO_LICENCE),
        "_allowlist_function_transition": attr.label(default = "@bazel_tools//tools/allowlists/function_transition_allowlist"),
        "_assemble": ASSEMBLE,
        "_front_end": FRONT_END,
    },
    toolchains = use_cc_toolchain(),
    fragments = ["cpp"],
)
