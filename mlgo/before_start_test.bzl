"""`before_start_test`: what Bazel builds before a command starts is no corpus, no source of one, and no release compiler.

Those are built when a command uses them: it has their labels (mlgo/run/labels.py). As `data` they would be built for every run.
"""

_SlowInfo = provider(
    doc = "What is built when it is used.",
    fields = {"labels": ":type: depset[str]; targets that make a corpus or a release compiler, or belong to sources of corpora."},
)

def _is_slow(target):
    if not target.actions:
        return "corpora~" in target.label.repo_name or "corpora+" in target.label.repo_name
    return target.label.package == "release" or any(["Corpus" in action.mnemonic for action in target.actions])

def _targets(value):
    values = value if type(value) == "list" else value.keys() if type(value) == "dict" else [value]
    return [value for value in values if type(value) == "Target" and _SlowInfo in value]

def _slow_aspect_impl(target, ctx):
    below = [
        found[_SlowInfo].labels
        for name in dir(ctx.rule.attr)
        for found in _targets(getattr(ctx.rule.attr, name))
    ]
    return [_SlowInfo(labels = depset([str(target.label)] if _is_slow(target) else [], transitive = below))]

_slow_aspect = aspect(
    implementation = _slow_aspect_impl,
    attr_aspects = ["*"],
    apply_to_generating_rules = True,
)

def _before_start_test_impl(ctx):
    slow = depset(transitive = [command[_SlowInfo].labels for command in ctx.attr.commands]).to_list()
    complaints = ["{}: is built before a command starts. Give the command its label".format(label) for label in slow]
    seen = ctx.attr.slow_command[_SlowInfo].labels.to_list()
    if str(ctx.attr.slow_corpus.label) not in seen:
        complaints.append("{} depends on a corpus, and only {} were seen".format(ctx.attr.slow_command.label, seen))
    script = ctx.actions.declare_file(ctx.label.name + ".sh")
    lines = ["#!/bin/sh"] + ["echo '{}'".format(line) for line in complaints] + ["exit {}".format(1 if complaints else 0)]
    ctx.actions.write(script, "\n".join(lines) + "\n", is_executable = True)
    return [DefaultInfo(executable = script)]

before_start_test = rule(
    implementation = _before_start_test_impl,
    doc = "Fails if a corpus, sources of a corpus or a release compiler are built before one of the commands can start.",
    attrs = {
        "commands": attr.label_list(aspects = [_slow_aspect], mandatory = True),
        "slow_command": attr.label(doc = "A command that needs `slow_corpus`: proves that it would be seen.", aspects = [_slow_aspect], mandatory = True),
        "slow_corpus": attr.label(mandatory = True),
    },
    test = True,
)
