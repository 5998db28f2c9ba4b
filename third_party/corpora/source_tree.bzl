"""A source tree with the files that its build generates, in one folder."""

def _source_tree_impl(ctx):
    tree = ctx.actions.declare_directory(ctx.label.name)
    pairs = ctx.actions.args()
    pairs.add(tree.path)
    for file in ctx.files.srcs:
        # Sources and generated files of another repository: "../REPOSITORY/PATH".
        pairs.add_all([file.path, file.short_path.split("/", 2)[2]])
    ctx.actions.run_shell(
        arguments = [pairs],
        command = """set -e
tree=$1
shift
while [ $# -gt 0 ]; do
  mkdir -p "$tree/$(dirname "$2")"
  cp -L "$1" "$tree/$2"
  shift 2
done""",
        inputs = ctx.files.srcs,
        mnemonic = "SourceTree",
        outputs = [tree],
        progress_message = "Copying the sources of %{label}",
    )
    return [DefaultInfo(files = depset([tree]), runfiles = ctx.runfiles([tree]))]

source_tree = rule(
    implementation = _source_tree_impl,
    doc = "Copies files of this repository into one folder, each at its path in the repository.",
    attrs = {"srcs": attr.label_list(
        allow_files = True,
        doc = "Sources and generated files of the repository.",
        mandatory = True,
    )},
)
