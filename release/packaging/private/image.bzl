"""Rules that make container images: a layer of Debian packages, and an image of layers."""

visibility(["//release/packaging/..."])

def _layer_impl(ctx):
    out = ctx.actions.declare_file(ctx.label.name + ".tar.gz")
    arguments = ctx.actions.args()
    arguments.add(out, format = "--output=%s")
    arguments.add_all(ctx.attr.exclude, format_each = "--exclude=%s")
    arguments.add_all(ctx.attr.keep, format_each = "--keep=%s")
    arguments.add_all(ctx.attr.directories, format_each = "--directory=%s")
    for path, target in ctx.attr.links.items():
        arguments.add("--link={}={}".format(path, target))
    for file, path in ctx.attr.files.items():
        arguments.add("--file={}={}".format(path, file.files.to_list()[0].path))
    if ctx.attr.certificates:
        arguments.add("--certificates")
    arguments.add_all(ctx.files.packages)
    ctx.actions.run(
        executable = ctx.executable._layer,
        arguments = [arguments],
        inputs = ctx.files.packages + ctx.files.files,
        outputs = [out],
        mnemonic = "ImageLayer",
        progress_message = "Packing packages into %{output}",
    )
    return [DefaultInfo(files = depset([out]))]

debian_layer = rule(
    implementation = _layer_impl,
    doc = "Debian packages as one file system, `<name>.tar.gz`; see layer.py.",
    attrs = {
        "certificates": attr.bool(doc = "Write the bundle of certificate authorities."),
        "directories": attr.string_list(doc = "MODE:OWNER:PATH of directories to add."),
        "exclude": attr.string_list(doc = "Shell patterns of paths to leave out."),
        "files": attr.label_keyed_string_dict(doc = "File -> its path in the layer.", allow_files = True),
        "keep": attr.string_list(doc = "Shell patterns of paths that stay although excluded."),
        "links": attr.string_dict(doc = "Path -> target of symbolic links to add."),
        "packages": attr.label_list(doc = "The .deb files.", allow_files = [".deb"], mandatory = True),
        "_layer": attr.label(cfg = "exec", default = "//release/packaging:layer", executable = True),
    },
)

def _image_impl(ctx):
    out = ctx.actions.declare_file(ctx.label.name + ".oci.tar")
    arguments = ctx.actions.args()
    arguments.add(out, format = "--output=%s")
    arguments.add(ctx.attr.image_name, format = "--name=%s")
    arguments.add_all(ctx.files.layers, format_each = "--layer=%s")
    arguments.add_all(ctx.attr.entrypoint, format_each = "--entrypoint=%s")
    arguments.add_all(ctx.attr.env, format_each = "--env=%s")
    arguments.add(ctx.attr.working_directory, format = "--working_directory=%s")
    for key, value in ctx.attr.labels.items():
        arguments.add("--label={}={}".format(key, value))
    provenance = [file for file in ctx.files.provenance if file.basename == "provenance.json"]
    arguments.add_all(provenance, format_each = "--provenance=%s")
    ctx.actions.run(
        executable = ctx.executable._oci,
        arguments = [arguments],
        inputs = ctx.files.layers + provenance,
        outputs = [out],
        mnemonic = "OciImage",
        progress_message = "Writing the image %{output}",
    )
    return [DefaultInfo(files = depset([out]))]

oci_image = rule(
    implementation = _image_impl,
    doc = "An OCI image of layers, `<name>.oci.tar`; see oci.py.",
    attrs = {
        "entrypoint": attr.string_list(doc = "Words of the command that the image is."),
        "env": attr.string_list(doc = "NAME=VALUE."),
        "image_name": attr.string(doc = "NAME:TAG.", mandatory = True),
        "labels": attr.string_dict(doc = "Labels."),
        "layers": attr.label_list(doc = "Files .tar.gz, the lowest first.", allow_files = [".tar.gz"], mandatory = True),
        "provenance": attr.label(doc = "provenance.json of the compiler inside, for labels.", allow_files = True),
        "working_directory": attr.string(doc = "Where the command starts.", default = "/"),
        "_oci": attr.label(cfg = "exec", default = "//release/packaging:oci", executable = True),
    },
)
