"""The rule that writes the provenance of a compiler, and the aspect that finds the repositories below it."""

load("//release/packaging/private:files.bzl", "linked_program")
load("//release/private:policy_directory.bzl", "policy_directory")

visibility(["//release/packaging/..."])

_RepositoriesInfo = provider(
    doc = "The repositories below a target.",
    fields = {"names": "depset of str: canonical repository names; the main one is the empty string."},
)

def _targets(value):
    """The targets among an attribute's value: a target, a list of them, or a dict whose keys they are."""
    kind = type(value)
    if kind == "Target":
        return [value]
    if kind == "list":
        return [item for item in value if type(item) == "Target"]
    if kind == "dict":
        return [item for item in value.keys() if type(item) == "Target"]
    return []

def _repositories_impl(target, ctx):
    direct, transitive = [target.label.repo_name], []
    for name in dir(ctx.rule.attr):
        for dep in _targets(getattr(ctx.rule.attr, name)):
            # Aspects do not visit source files, but their labels name the repository.
            direct.append(dep.label.repo_name)
            if _RepositoriesInfo in dep:
                transitive.append(dep[_RepositoriesInfo].names)
    return [_RepositoriesInfo(names = depset(direct, transitive = transitive))]

_repositories = aspect(
    implementation = _repositories_impl,
    doc = "Collects the repositories of everything a target depends on, tools and implicit dependencies included.",
    attr_aspects = ["*"],
)

def _provenance_impl(ctx):
    out = ctx.actions.declare_file(ctx.label.name + "/provenance.json")
    readme = ctx.actions.declare_file(ctx.label.name + "/README.txt")
    request = ctx.actions.declare_file(ctx.label.name + "/request.json")
    program = linked_program(ctx.attr.program)
    names = depset(transitive = [
        target[_RepositoriesInfo].names
        for target in [ctx.attr.program] + ctx.attr.policies.keys() + ctx.attr.toolchains_used + ctx.attr.runtime
        if _RepositoriesInfo in target
    ] + [depset([target.label.repo_name for target in ctx.attr.runtime])])
    ctx.actions.write(request, json.encode({
        "backend": ctx.attr.backend,
        "llvm": ctx.attr.llvm_version,
        "module": ctx.attr.module,
        "repositories": sorted(names.to_list()),
        "target": "//{}:{}".format(ctx.attr.program.label.package, ctx.attr.program.label.name),
    }))
    arguments = ctx.actions.args()
    arguments.add(request, format = "--request=%s")
    arguments.add(program, format = "--program=%s")
    arguments.add(ctx.file._inventory, format = "--inventory=%s")
    for lock, repository in ctx.attr._python_locks.items():
        arguments.add(lock.files.to_list()[0], format = "--python_lock={}=%s".format(repository))
    arguments.add_all(ctx.files._rule_modules, format_each = "--rule_module=%s")
    arguments.add(ctx.file._readme_template, format = "--readme_template=%s")
    inputs = ctx.files._python_locks + ctx.files._rule_modules + [program]
    for policy, problem in ctx.attr.policies.items():
        files = policy.files.to_list()
        if not files:
            continue
        directory, message = policy_directory(policy.label, files)
        if message:
            fail(message)
        inputs += files
        arguments.add("--policy={}={}".format(problem, directory))
    arguments.add(out, format = "--output=%s")
    arguments.add(readme, format = "--readme=%s")
    ctx.actions.run(
        executable = ctx.executable._provenance,
        arguments = [arguments],
        inputs = inputs + [request, ctx.file._inventory, ctx.file._readme_template],
        outputs = [out, readme],
        mnemonic = "Provenance",
        progress_message = "Writing the provenance of %{label}",
    )
    return [
        DefaultInfo(files = depset([out, readme])),
        OutputGroupInfo(provenance = depset([out]), readme = depset([readme])),
    ]

provenance = rule(
    implementation = _provenance_impl,
    doc = "`<name>/provenance.json` and `<name>/README.txt` of a compiler.",
    attrs = {
        "backend": attr.string(doc = "Backend of the policies.", mandatory = True),
        "llvm_version": attr.string(doc = "LLVM's version.", mandatory = True),
        "module": attr.string(doc = "Name and version of the workspace's module.", mandatory = True),
        "policies": attr.label_keyed_string_dict(
            doc = "Policy -> its problem, with `:<name>` or `:<name>@<architecture>,...` for one of several policies; a policy without files counts as absent.",
            allow_files = True,
            aspects = [_repositories],
        ),
        "program": attr.label(
            doc = "The compiler, a target of `mlgo_clang`.",
            aspects = [_repositories],
            mandatory = True,
        ),
        "runtime": attr.label_list(
            doc = "Packages that are shipped beside the compiler.",
            allow_files = True,
            aspects = [_repositories],
        ),
        "toolchains_used": attr.label_list(
            doc = "Toolchains that Bazel selects; no attribute refers to them.",
            aspects = [_repositories],
        ),
        "_inventory": attr.label(allow_single_file = True, default = "@debian_inventory//:inventory.json"),
        "_provenance": attr.label(cfg = "exec", default = "//release/packaging:provenance", executable = True),
        "_python_locks": attr.label_keyed_string_dict(
            allow_files = True,
            default = {
                "//toolchains/python:requirements_lock.txt": "pip",
                "//toolchains/python:requirements_tensorflow_lock.txt": "pip_tensorflow",
            },
        ),
        "_readme_template": attr.label(allow_single_file = True, default = "//release/packaging:README.receiver.txt"),
        "_rule_modules": attr.label(allow_files = True, default = "//third_party/registry:archives"),
    },
)
