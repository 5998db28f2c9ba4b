"""Whether C++ targets compile with the headers of another major of LLVM. One report a source, so that all errors are seen at once."""

load("@rules_cc//cc:find_cc_toolchain.bzl", "find_cpp_toolchain", "use_cc_toolchain")
load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")

_CompilesInfo = provider(
    "How the sources of a target are compiled.",
    fields = {
        "commands": "dict from a source's path to its command",
        "inputs": "depset of the sources and of all headers",
        "folder": "name of the target's folder of reports",
    },
)

# Flags of a compile that name a file which it writes; the next word is the file.
_OUTPUTS = [
    "-MF",
    "-o",
]

def without_outputs(command, folders):
    """The words of a compile without what it writes, and without some folders of system headers.

    Args:
        command: list of words.
        folders: list of paths.
    Returns: list of words.
    """
    kept = []
    flag = None
    for word in command:
        if flag in _OUTPUTS or (flag == "-isystem" and word in folders):
            flag = None
        elif flag:
            kept += [flag, word]
            flag = None
        elif word == "-isystem" or word in _OUTPUTS:
            flag = word
        elif word not in ("-c", "-MD"):
            kept.append(word)
    return kept

def _aspect_impl(target, ctx):
    commands = {}
    for action in target.actions:
        if action.mnemonic == "CppCompile" and action.argv:
            commands.setdefault(action.argv[action.argv.index("-c") + 1], action.argv)
    headers = target[CcInfo].compilation_context.headers
    return [_CompilesInfo(
        folder = "{}/{}".format(ctx.label.package, ctx.label.name).replace("/", "+"),
        commands = commands,
        inputs = depset(ctx.rule.files.srcs, transitive = [headers]),
    )]

_compiles_aspect = aspect(implementation = _aspect_impl)

def _folders(target):
    return target[CcInfo].compilation_context.system_includes.to_list()

def _other_major_reports_impl(ctx):
    tools = find_cpp_toolchain(ctx).all_files
    replaced = [folder for target in ctx.attr.replaced for folder in _folders(target)]
    other = [word for folder in _folders(ctx.attr.headers) for word in ("-isystem", folder)]
    headers = ctx.attr.headers[CcInfo].compilation_context.headers
    reports = []
    for target in ctx.attr.targets:
        compiles = target[_CompilesInfo]
        for source, command in compiles.commands.items():
            report = ctx.actions.declare_file("{}/{}/{}.txt".format(ctx.label.name, compiles.folder, source.replace("/", "+")))
            reports.append(report)
            ctx.actions.run_shell(
                outputs = [report],
                inputs = depset(transitive = [compiles.inputs, headers, tools]),
                toolchain = None,
                mnemonic = "OtherMajor",
                command = 'report=$1; shift; "$@" > "$report" 2>&1; echo "exit code $?" >> "$report"',
                arguments = [report.path] + without_outputs(command, replaced) + other + ["-fsyntax-only"],
            )
    return [DefaultInfo(files = depset(reports))]

other_major_reports = rule(
    implementation = _other_major_reports_impl,
    doc = "What the compiler says about each source of some C++ targets with the headers of another major. No code is generated.",
    attrs = {
        "headers": attr.label(doc = "Headers of the other major.", mandatory = True, providers = [CcInfo]),
        "replaced": attr.label_list(doc = "Libraries of the major for which the targets are configured; their headers are not searched.", providers = [CcInfo]),
        "targets": attr.label_list(doc = "C++ targets.", aspects = [_compiles_aspect], providers = [CcInfo]),
    },
    fragments = ["cpp"],
    toolchains = use_cc_toolchain(),
)
