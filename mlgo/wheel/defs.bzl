"""Rule `python_wheel`: Python modules and their data as an archive for pip."""

load("@rules_python//python:py_info.bzl", "PyInfo")

def _python_wheel_impl(ctx):
    # Packages of the site and files of other repositories are what the wheel requires, or has no use for.
    found = depset(transitive = [dep[PyInfo].transitive_sources for dep in ctx.attr.deps] +
                                [dep[DefaultInfo].default_runfiles.files for dep in ctx.attr.deps])
    root = ctx.attr.root + "/"
    members = {
        ctx.attr.moved.get(file.short_path, file.short_path): file
        for file in found.to_list()
        if (file.short_path.startswith(root) or file.short_path in ctx.attr.moved) and file.short_path not in ctx.attr.exclude
    }
    if not members:
        fail("{}: deps have no file below {}; name a folder of this workspace".format(ctx.label, root))
    output = ctx.actions.declare_file("{}-{}-{}.whl".format(ctx.attr.distribution, ctx.attr.version, ctx.attr.tag))
    arguments = ctx.actions.args()
    arguments.use_param_file("@%s", use_always = True)
    arguments.set_param_file_format("multiline")
    arguments.add(ctx.attr.distribution, format = "--name=%s")
    arguments.add(ctx.attr.version, format = "--version=%s")
    arguments.add(ctx.attr.python, format = "--python=%s")
    arguments.add(ctx.attr.tag, format = "--tag=%s")
    arguments.add_all(ctx.attr.requires, format_each = "--requires=%s")
    for name, function in ctx.attr.console_scripts.items():
        arguments.add("--script={}={}".format(name, function))
    for path, file in members.items():
        arguments.add("--member={}={}".format(path, file.path))
    arguments.add(ctx.file.licence, format = "--licence=%s")
    arguments.add(output, format = "--output=%s")
    ctx.actions.run(
        executable = ctx.executable._writer,
        inputs = members.values() + [ctx.file.licence],
        outputs = [output],
        arguments = [arguments],
        mnemonic = "PythonWheel",
        progress_message = "Writing %{output}",
    )
    return [DefaultInfo(files = depset([output]))]

python_wheel = rule(
    implementation = _python_wheel_impl,
    doc = "Writes <distribution>-<version>-<tag>.whl with all files of `deps` below one folder of this workspace.",
    attrs = {
        "console_scripts": attr.string_dict(
            doc = "Programs that pip makes: name -> module:function.",
        ),
        "deps": attr.label_list(
            doc = "Python libraries and programs.",
            mandatory = True,
            providers = [PyInfo],
        ),
        "distribution": attr.string(
            doc = "Name by which pip knows it.",
            mandatory = True,
        ),
        "exclude": attr.string_list(
            doc = "Files to leave out, relative to the workspace.",
        ),
        "licence": attr.label(
            doc = "File with the licence.",
            allow_single_file = True,
            mandatory = True,
        ),
        "moved": attr.string_dict(
            doc = "Files outside of `root` that the wheel has too: path in the workspace -> path in the wheel.",
        ),
        "python": attr.string(
            doc = "Versions of Python, such as >=3.11.",
            mandatory = True,
        ),
        "requires": attr.string_list(
            doc = "Packages that pip installs with it, such as numpy>=2.",
        ),
        "root": attr.string(
            doc = "The folder of this workspace whose files the wheel has.",
            mandatory = True,
        ),
        "tag": attr.string(
            doc = "Python, ABI and platform: py3-none-any, or py3-none-<platform> when there are programs among the files.",
            mandatory = True,
        ),
        "version": attr.string(
            doc = "Version of the distribution.",
            mandatory = True,
        ),
        "_writer": attr.label(
            default = "//mlgo/wheel:writer",
            executable = True,
            cfg = "exec",
        ),
    },
)
