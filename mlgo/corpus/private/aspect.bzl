"""The aspect that makes a corpus of whatever a C++ target links, from the compile actions which the target itself registers.

Those actions hold the very command: copts of target and package, features, defines, toolchain, generated sources, whichever rule
they come from. So no rule's way of making a command is imitated here.
"""

load("@llvm//:chosen.bzl", "CHOSEN")
load("@rules_cc//cc:find_cc_toolchain.bzl", "find_cpp_toolchain", "use_cc_toolchain")
load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")
load(":modules.bzl", "ASSEMBLE", "CXX_EXTENSIONS", "C_EXTENSIONS", "CorpusModulesInfo", "FRONT_END", "LEVELS", "NO_LICENCE", "assemble", "corpus_modules", "front_end_module", "owner_name", "source_name")

visibility(["//mlgo/corpus/..."])

# Attributes that lead to what a target links.
EDGES = ["actual", "deps", "dynamic_deps", "exports", "implementation_deps", "interface_deps", "malloc", "roots", "srcs"]

_COMPILE_MNEMONICS = ["CppCompile", "ObjcCompile"]
_PREBUILT = ["a", "lo", "o", "pic.a", "so"]
_ASSEMBLY = ["S", "asm", "s"]
_PROFILES = ["afdo", "memprof", "prof", "profdata"]

def message_not_clang(label, compiler):
    """What is said when the C++ toolchain is no clang.

    Args:
      label: the target.
      compiler: the toolchain's own word for its compiler.

    Returns:
      The message.
    """
    return ("%s: its C++ toolchain's compiler is %s, and a corpus is made by clang %s, which also compiles it. Register " +
            "@mlgo//toolchains/cc:clang_toolchain, or build with --extra_toolchains=@mlgo//toolchains/cc:clang_toolchain") % (
        label,
        compiler,
        CHOSEN["major"],
    )

def source_of(argv):
    """The source which a compile command compiles to an object.

    Args:
      argv: the command.

    Returns:
      The path after `-c`, or None when the command makes no object (a header that is parsed, a module).
    """
    if "-c" not in argv or "-o" not in argv:
        return None
    return argv[argv.index("-c") + 1]

def kind_of(path):
    """Why a source has no bitcode.

    Args:
      path: of the source.

    Returns:
      "assembly", "object", "other", or None for C and C++.
    """
    extension = path.rpartition(".")[2]
    if extension in C_EXTENSIONS + CXX_EXTENSIONS:
        return None
    if extension in _ASSEMBLY:
        return "assembly"
    return "object" if extension in _PREBUILT else "other"

def chosen(compiles, wants_pic):
    """One compile per source: where a library has two objects, the one that a program of this configuration links.

    Args:
      compiles: list of struct(source = str, output = str, ...).
      wants_pic: programs are linked from position-independent objects.

    Returns:
      dict from source to compile.
    """
    found = {}
    for compile in compiles:
        if compile.source not in found or compile.output.endswith(".pic.o") == wants_pic:
            found[compile.source] = compile
    return found

def outside(files, directories):
    """Files that lie in none of the directories.

    Args:
      files: list of struct or File with `path`.
      directories: list of paths.

    Returns:
      List, in order.
    """
    below = tuple([directory + "/" for directory in directories])
    return [file for file in files if not file.path.startswith(below)]

def _targets(value):
    if type(value) == "Target":
        return [value]
    if type(value) == "list":
        return [item for item in value if type(item) == "Target"]
    return []

def _headers(target, ctx):
    """What the target's sources may include: depset of files."""
    providers = [target] + [dep for name in dir(ctx.rule.attr) for dep in _targets(getattr(ctx.rule.attr, name))]
    beside = [
        file
        for name in ["srcs", "hdrs", "textual_hdrs", "additional_compiler_inputs"]
        for file in getattr(ctx.rule.files, name, [])
    ]
    return depset(
        beside,
        transitive = [provider[CcInfo].compilation_context.headers for provider in providers if CcInfo in provider],
    )

def _compiles(target):
    """The target's own compiles: list of struct."""
    found = []
    for action in target.actions:
        source = source_of(action.argv) if action.mnemonic in _COMPILE_MNEMONICS and action.argv else None
        if source:
            found.append(struct(source = source, output = action.argv[action.argv.index("-o") + 1], action = action))
    return found

def _path(ctx, suffix):
    """Where in the target's package its files go; each level has its own, for one build can ask for several."""
    return ".".join([ctx.label.name] + ([ctx.attr.level] if ctx.attr.level else []) + [suffix])

def _own_modules(target, ctx):
    """The modules of the target's own sources, and the sources that give none."""
    owner = owner_name(ctx.label)
    modules, skipped = [], []
    for file in getattr(ctx.rule.files, "srcs", []):
        if file.extension in _PREBUILT:
            skipped.append(struct(source = source_name(file.path), owner = owner, kind = "object"))
    compiles = chosen(_compiles(target), ctx.var["COMPILATION_MODE"] != "opt")
    if not compiles:
        return modules, skipped
    toolchain = find_cpp_toolchain(ctx)
    if "clang" not in toolchain.compiler:
        fail(message_not_clang(ctx.label, toolchain.compiler))
    toolchain_paths = [file.path for file in toolchain.all_files.to_list()]
    headers = _headers(target, ctx)
    for path, compile in compiles.items():
        name = source_name(path)
        if kind_of(path):
            skipped.append(struct(source = name, owner = owner, kind = kind_of(path)))
            continue

        # An object that has been compiled already names the headers which it found, one by one; the toolchain's lie in directories
        # that are inputs as a whole, and no sandbox takes both.
        stated = compile.action.inputs.to_list()
        inputs = outside(stated, toolchain_paths)
        modules.append(front_end_module(
            ctx,
            front_end = ctx.attr._front_end[DefaultInfo].files_to_run,
            argv = compile.action.argv,
            env = compile.action.env,
            inputs = depset(transitive = [compile.action.inputs if len(inputs) == len(stated) else depset(inputs), headers]),
            tools = depset(),
            source = [file for file in inputs if file.path == path][0],
            reads = [file for file in inputs if file.extension in _PROFILES],
            name = name,
            owner = owner,
            folder = _path(ctx, "mlgo_modules/"),
            licence = NO_LICENCE,
            level = ctx.attr.level,
        ))
    return modules, skipped

def _corpus_aspect_impl(target, ctx):
    modules, skipped = _own_modules(target, ctx)
    below = [
        dep[CorpusModulesInfo]
        for name in EDGES
        for dep in _targets(getattr(ctx.rule.attr, name, None))
        if CorpusModulesInfo in dep
    ]
    info = corpus_modules(modules, skipped, below)
    directory = assemble(
        ctx,
        info,
        _path(ctx, "mlgo_corpus"),
        program = ctx.attr._assemble[DefaultInfo].files_to_run,
    )
    return [info, OutputGroupInfo(mlgo_corpus = depset([directory]))]

corpus_aspect = aspect(
    implementation = _corpus_aspect_impl,
    doc = """A corpus of everything a C++ target links, `TARGET.mlgo_corpus` or `TARGET.LEVEL.mlgo_corpus` in the output group `mlgo_corpus`.

    bazel build -c opt --aspects=@mlgo//mlgo/corpus:defs.bzl%corpus_aspect --output_groups=mlgo_corpus //my:program""",
    attr_aspects = EDGES,
    attrs = {
        "level": attr.string(doc = "Optimisation level in place of each target's own.", values = LEVELS, default = ""),
        "_assemble": ASSEMBLE,
        "_front_end": FRONT_END,
    },
    toolchains = use_cc_toolchain(),
    fragments = ["cpp"],
)
