"""Tests of the policies that the rule accepts and of its messages about others."""

load("@bazel_skylib//lib:unittest.bzl", "asserts", "unittest")
load(":architectures.bzl", "architectures_of", "label_of", "policy_for", "wrong_targets")
load(":messages.bzl", "named_policy_is_absent", "no_saved_model", "policies_given_twice", "unknown_slots", "wrong_names")
load(":policy_directory.bzl", "policy_directory")
load(":policy_names.bzl", "unusable_names")

def _file(path):
    folder, _, name = path.rpartition("/")
    return struct(path = path, short_path = path, basename = name, dirname = folder)

def _policy_directory_impl(ctx):
    env = unittest.begin(ctx)

    # Files of a SavedModel, and one directory.
    files = [_file("m/policy/policy.json"), _file("m/policy/saved_model.pb"), _file("m/policy/variables/variables.index")]
    asserts.equals(env, ("m/policy", None), policy_directory("//m:policy", files))
    asserts.equals(env, ("m/policy", None), policy_directory("//m:policy", [_file("m/policy")]))

    for wrong in ([], [_file("a/x"), _file("a/y")], [_file("a/saved_model.pb"), _file("b/saved_model.pb")]):
        directory, message = policy_directory("//m:policy", wrong)
        asserts.equals(env, None, directory)
        asserts.true(env, message.startswith("//m:policy: expected one SavedModel"), message)
    return unittest.end(env)

def _messages_impl(ctx):
    env = unittest.begin(ctx)
    asserts.true(env, "found no file. Set --//release:<policy>" in no_saved_model("//a", []))
    asserts.true(env, "found 2 files: x, y." in no_saved_model("//a", ["x", "y"]))
    twice = policies_given_twice("mlgo_clang", "clang", ["backend", "eviction_policy"])
    asserts.true(env, twice.startswith("mlgo_clang(name = \"clang\"): got policies and backend, eviction_policy. Remove one side"), twice)
    unknown = unknown_slots("mlgo_clang", "clang", ["eviction"])
    asserts.true(env, unknown.startswith("mlgo_clang(name = \"clang\"): got eviction, but the policy slots are eviction_policy, "), unknown)
    absent = named_policy_is_absent("//a:slot", "small")
    asserts.true(env, absent.startswith("//a:slot: the policy \"small\" is //release:no_policy"), absent)
    wrong = wrong_names("mlgo_clang", "clang", "inlining_policy", ["a b"])
    asserts.true(env, wrong.startswith("mlgo_clang(name = \"clang\"): inlining_policy got \"a b\", but a dict of policies"), wrong)
    empty = wrong_names("mlgo_clang", "clang", "inlining_policy", [])
    asserts.true(env, "inlining_policy got an empty dict" in empty, empty)
    return unittest.end(env)

def _policy_names_impl(ctx):
    env = unittest.begin(ctx)
    asserts.equals(env, [], unusable_names(["arm32-size", "a", "x.2_y", "0"]))
    wrong = ["", "a b", "-a", "a-", ".", "a/b", "a:b", "a=b", "a,b", "a\n"]
    asserts.equals(env, wrong, unusable_names(wrong))
    return unittest.end(env)

def _wrong(given, **more):
    return wrong_targets("mlgo_clang", "clang", "inlining_policy", given, **more)

def _architectures_impl(ctx):
    env = unittest.begin(ctx)
    arm = policy_for("//a", ["arm", "riscv64"])
    asserts.equals(env, ("//a", ["arm", "riscv64"]), (label_of(arm), architectures_of(arm)))
    asserts.equals(env, ("//b", []), (label_of("//b"), architectures_of("//b")))
    for right in ("//b", {"b": "//b"}, {"b": "//b", "a": arm}):
        asserts.equals(env, None, _wrong(right))
    start = "mlgo_clang(name = \"clang\"): inlining_policy "
    for given, message in (
        (arm, "has a policy for targets where its default belongs. Give a dict"),
        ({"a": arm, "b": "//b"}, "has a policy for targets where its default belongs. Give a dict"),
        ({"b": "//b", "a": policy_for("//a", ["armv7"])}, "\"a\" is for \"armv7\", but the architectures are aarch64, arm, "),
        ({"b": "//b", "a": policy_for("//a", [])}, "\"a\" is for no architecture, but the architectures are"),
        ({"b": "//b", "a": arm, "c": policy_for("//c", ["riscv64"])}, "has \"a\" and \"c\" for riscv64. Leave it in one"),
    ):
        found = _wrong(given)
        asserts.true(env, found and found.startswith(start + message), found)
    return unittest.end(env)

architectures_test = unittest.make(_architectures_impl)
policy_names_test = unittest.make(_policy_names_impl)
policy_directory_test = unittest.make(_policy_directory_impl)
messages_test = unittest.make(_messages_impl)
