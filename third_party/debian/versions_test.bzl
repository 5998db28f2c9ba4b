"""Tests of the versions that a tag of the extension stands for."""

load("@bazel_skylib//lib:unittest.bzl", "asserts", "unittest")
load(":versions.bzl", "chosen_version", "filled", "instances")

_FILE = {
    "default": "22",
    "variable": "MLGO_LLVM_MAJOR",
    "versions": {
        "22": {"patches": {"source": ["//patches/llvm/22:a.patch"]}, "version": "22.1.8"},
        "99": {"suite": "sid", "version": "99.1.0"},
    },
}

def _chosen_version_impl(ctx):
    env = unittest.begin(ctx)
    asserts.equals(env, ("22", None), chosen_version(_FILE, {}))
    asserts.equals(env, ("22", None), chosen_version(_FILE, {"MLGO_LLVM_MAJOR": ""}))
    asserts.equals(env, ("99", None), chosen_version(_FILE, {"MLGO_LLVM_MAJOR": "99"}))
    chosen, error = chosen_version(_FILE, {"MLGO_LLVM_MAJOR": "7"})
    asserts.equals(env, None, chosen)
    asserts.true(env, error.startswith("MLGO_LLVM_MAJOR=7: no such version; known: 22, 99. Choose one"), error)
    return unittest.end(env)

def _instances_impl(ctx):
    env = unittest.begin(ctx)
    fields = ["name", "packages", "patches"]

    # Without {major}: the tag as it is.
    plain = struct(name = "a", packages = ["x-22"], patches = ["p"])
    as_it_is = struct(name = "a", packages = ["x-22"], patches = ["p"], version = {})
    asserts.equals(env, [as_it_is], instances(plain, fields, _FILE, "99"))

    # {major} in the name: one repository per version; else the chosen version's, with that version's patches.
    made = instances(struct(name = "llvm{major}", packages = ["clang-{major}"], patches = []), fields, _FILE, "99")
    asserts.equals(env, [("llvm22", ["clang-22"]), ("llvm99", ["clang-99"])], sorted([(one.name, one.packages) for one in made]))
    asserts.equals(env, {"llvm22": None, "llvm99": "sid"}, {one.name: one.version.get("suite") for one in made})
    source = struct(name = "source", packages = ["{major}"], patches = ["p"])
    asserts.equals(env, [["p"]], [one.patches for one in instances(source, fields, _FILE, "99")])
    asserts.equals(env, [["p", Label("//patches/llvm/22:a.patch")]], [one.patches for one in instances(source, fields, _FILE, "22")])

    asserts.equals(env, True, filled(True, "22"))
    return unittest.end(env)

chosen_version_test = unittest.make(_chosen_version_impl)
instances_test = unittest.make(_instances_impl)
