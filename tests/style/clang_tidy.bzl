"""clang-tidy over the sources of C++ targets, one report a source. The test reads the reports, so a finding does not stop the build."""

load("@rules_cc//cc:find_cc_toolchain.bzl", "find_cpp_toolchain", "use_cc_toolchain")
load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")

_ReportsInfo = provider("Reports of clang-tidy.", fields = {"files": "list of files"})

def _aspect_impl(target, ctx):
    tools = find_cpp_toolchain(ctx).all_files
    compiles = {}
    for action in target.actions:
        if action.mnemonic == "CppCompile" and action.argv:
            compiles.setdefault(action.argv[action.argv.index("-c") + 1], action.argv)
    reports = []
    for source, argv in compiles.items():
        report = ctx.actions.declare_file("{}.tidy/{}.txt".format(ctx.label.name, source.replace("/", "+")))
        reports.append(report)
        ctx.actions.run_shell(
            outputs = [report],
            inputs = depset(
                ctx.rule.files.srcs + ctx.files._settings,
                transitive = [target[CcInfo].compilation_context.headers, tools],
            ),
            tools = [ctx.executable._clang_tidy] + ctx.files._libraries,
            toolchain = None,
            mnemonic = "ClangTidy",
            command = 'report=$1; shift; "$@" > "$report" 2> /dev/null; echo "exit code $?" >> "$report"',
            arguments = [
                report.path,
                ctx.executable._clang_tidy.path,
                "--quiet",
                "--config-file=" + ctx.file._settings.path,
                # Headers of ours, which stand below no folder of a repository.
                "--header-filter=^(.*/_main/)?(llvm|release|development)/",
                source,
                "--",
            ] + argv[1:],
            env = {"LD_LIBRARY_PATH": ctx.files._libraries[0].dirname},
        )
    return [_ReportsInfo(files = reports)]

_clang_tidy_aspect = aspect(
    implementation = _aspect_impl,
    attrs = {
        "_clang_tidy": attr.label(
            default = "@clang_tools//:clang-tidy",
            allow_single_file = True,
            cfg = "exec",
            executable = True,
        ),
        "_libraries": attr.label(default = "@toolchain_llvm//:shared_libraries", allow_files = True),
        "_settings": attr.label(default = "//:.clang-tidy", allow_single_file = True),
    },
    toolchains = use_cc_toolchain(),
    fragments = ["cpp"],
)

def _reports_impl(ctx):
    return [DefaultInfo(files = depset([file for target in ctx.attr.targets for file in target[_ReportsInfo].files]))]

clang_tidy_reports = rule(
    implementation = _reports_impl,
    doc = "What clang-tidy says about each source of some C++ targets.",
    attrs = {"targets": attr.label_list(doc = "C++ targets.", aspects = [_clang_tidy_aspect], providers = [CcInfo])},
)
