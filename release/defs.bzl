"""Compilers that ship: clang, opt and llc with trained policies inside.

    load("@mlgo//release:defs.bzl", "mlgo_clang")

    mlgo_clang(
        name = "clang",
        eviction_policy = "//models/regalloc_eviction:policy",
        inlining_policy = "//my:inlining_policy",
    )

Each policy is asked when LLVM's flag for it says so, and one that is not inside is then missed with an error:

    eviction_policy   -mllvm -regalloc-enable-advisor=release            -O1 and above
    inlining_policy   -mllvm -enable-ml-inliner=release                  made for -Oz
    priority_policy   -mllvm -regalloc-enable-priority-advisor=release   -O1 and above

Without those flags a program compiles to the same bytes as the packaged one. It needs no TensorFlow and no file besides its own
tree. `clang --version` says which policies are inside.

A policy is the label of a SavedModel: one directory, or files of which one is called saved_model.pb, such as a training run
writes. A changed policy compiles two small generated units and links; everything else comes out of the cache.

Compiled into C++ (`backend = "cpp"`) is how policies of //mlgo/policy ship; TensorFlow's ahead-of-time compiler (`"aot"`) takes
any SavedModel with the right signature. Policies of //mlgo/policy decide the same through both.
"""

load("@rules_cc//cc:defs.bzl", "cc_library")
load("//development:llvm_program.bzl", "llvm_program")
load("//release/private:messages.bzl", "policies_given_twice")
load("//release/private:slot.bzl", "policy_slots")

def mlgo_policies(
        name,
        eviction_policy = None,
        inlining_policy = None,
        priority_policy = None,
        backend = None,
        visibility = None):
    """Policies that several programs share: `mlgo_clang(name = "clang", policies = ":<name>")`, and so on.

    Args:
      name: name of the C++ library that a program links.
      eviction_policy: label of a SavedModel that decides register evictions.
      inlining_policy: label of a SavedModel that decides inlining for size.
      priority_policy: label of a SavedModel that orders live ranges.
      backend: what compiles them, `cpp` or `aot`; by default what --@mlgo//release:backend says.
      visibility: visibility of `name`.
    """
    given = {"eviction_policy": eviction_policy, "inlining_policy": inlining_policy, "priority_policy": priority_policy}
    cc_library(
        name = name,
        linkstatic = True,
        visibility = visibility,
        deps = policy_slots(name, given, backend) + [Label("//release:policy_list")],
    )

def mlgo_clang(
        name,
        eviction_policy = None,
        inlining_policy = None,
        priority_policy = None,
        backend = None,
        policies = None,
        visibility = None):
    """A clang with policies inside, in the tree `<name>.llvm` (see `llvm_program` of //development:llvm_program.bzl).

    Args:
      name: name of the target.
      eviction_policy: label of a SavedModel that decides register evictions.
      inlining_policy: label of a SavedModel that decides inlining for size.
      priority_policy: label of a SavedModel that orders live ranges.
      backend: what compiles them, `cpp` or `aot`; by default what --@mlgo//release:backend says.
      policies: a `mlgo_policies` in place of the four above.
      visibility: visibility of `name`.
    """
    _program(
        name,
        "clang",
        {
            "backend": backend,
            "eviction_policy": eviction_policy,
            "inlining_policy": inlining_policy,
            "policies": policies,
            "priority_policy": priority_policy,
        },
        visibility,
        aliases = [name + "++"],
        resource_directory = Label("//third_party/llvm:resource_headers"),
    )

def mlgo_opt(name, visibility = None, **policies):
    """LLVM's opt with policies inside, so that a pass can be studied alone: `-passes=... -enable-ml-inliner=release`.

    Args:
      name: name of the target.
      visibility: visibility of `name`.
      **policies: the policies, `backend` or `policies` as of `mlgo_clang`.
    """
    _program(name, "opt", policies, visibility)

def mlgo_llc(name, visibility = None, **policies):
    """LLVM's llc with policies inside, for the advisors of register allocation alone.

    Args:
      name: name of the target.
      visibility: visibility of `name`.
      **policies: the policies, `backend` or `policies` as of `mlgo_clang`.
    """
    _program(name, "llc", policies, visibility)

def _program(name, program, given, visibility, **more):
    given = {argument: value for argument, value in given.items() if value != None}
    policies = given.pop("policies", None)
    if policies and given:
        fail(policies_given_twice("mlgo_" + program, name, sorted(given)))
    if not policies:
        policies = name + "_policies"
        mlgo_policies(name = policies, visibility = ["//visibility:private"], **given)
    llvm_program(
        name = name,
        program = program,
        visibility = visibility,
        deps = [
            policies,
            Label("//development:{}_driver".format(program)),
            Label("//development:no_z3"),
            Label("//release:advisor_units"),
        ],
        **more
    )
