"""Test that LLVM's units are compiled with assertions exactly when LLVM is built from source with them."""

load("@bazel_skylib//lib:unittest.bzl", "analysistest", "asserts")

_Flags = provider("Compiler flags.", fields = {"values": "List of strings."})

def _flags_impl(ctx):
    return [_Flags(values = ctx.attr.values)]

# Holds flags that depend on the configuration.
flags = rule(
    implementation = _flags_impl,
    attrs = {"values": attr.string_list(mandatory = True)},
)

def _test_impl(ctx):
    env = analysistest.begin(ctx)
    values = analysistest.target_under_test(env)[_Flags].values
    asserts.equals(env, [ctx.attr.expected], [value for value in values if value.endswith("NDEBUG")])
    asserts.true(env, "-O2" in values)
    return analysistest.end(env)

def _make(settings):
    return analysistest.make(
        _test_impl,
        attrs = {"expected": attr.string(mandatory = True)},
        config_settings = {str(Label("//third_party/llvm:" + name)): value for name, value in settings.items()},
    )

packaged_copts_test = _make({"from_source": False})
assertions_copts_test = _make({"assertions": True, "from_source": True})
no_assertions_copts_test = _make({"assertions": False, "from_source": True})
