"""Compilers with trained policies inside: clang, opt, llc and the linker.

    load("@mlgo//release:defs.bzl", "mlgo_clang")

    mlgo_clang(
        name = "clang",
        eviction_policy = "//models/regalloc_eviction:policy",
        inlining_policy = "//my:inlining_policy",
    )

//llvm:slots.bzl lists the policies that a compiler can carry. Each is an argument of the macros below, and the LLVM option
`-<advisor_flag>=release` of its slot switches it on. If that policy is not inside, the option is an error. Without these options the output equals the packaged compiler's, byte for byte. The compiler needs no TensorFlow and no file outside
its own tree. `clang --version` lists the policies inside.

A policy is the label of a SavedModel, as a training run writes it: one directory, or files of which one is named saved_model.pb.
A changed policy recompiles two small generated units and links.

Several policies for one problem are a dict of names and labels; the first decides unless the option `-<selector_flag>=NAME` of the slot
names another:

    inlining_policy = {"size": "//my:for_size", "arm32-size": "//my:for_arm"},    # -ml-inliner-model-selector=arm32-size

A policy that is `for_targets` decides without an option in modules of these targets:

    inlining_policy = {"size": "//my:for_size", "aarch64": for_targets("//my:for_aarch64", ["aarch64"])},

Backend `cpp` compiles policies of //mlgo/policy to C++; backend `aot`, TensorFlow's ahead-of-time compiler, compiles any SavedModel
with the right signature. Policies of //mlgo/policy make the same decisions with both.
"""

load("@rules_cc//cc:defs.bzl", "cc_library")
load("//llvm:llvm_program.bzl", "llvm_program")
load("//llvm:slots.bzl", "SLOTS")
load("//release/configuration:defs.bzl", "CONFIGURATION_FILES")
load("//release/private:architectures.bzl", "policy_for", "wrong_targets")
load("//release/private:messages.bzl", "policies_given_twice", "unknown_slots", "wrong_names")
load("//release/private:policy_names.bzl", "unusable_names")
load("//release/private:slot.bzl", "policy_slots")
load("//release/tools:defs.bzl", "LINKER_TOOLS", "TOOLS")

def for_targets(policy, architectures):
    """A policy, one of several for a problem, that decides in modules of some targets unless an option names another.

    Args:
      policy: label of a SavedModel.
      architectures: list of `aarch64`, `arm` (Thumb too), `riscv32`, `riscv64`, `x86_64`.

    Returns:
      A value for the dict of a slot. The first policy of the dict cannot be one: it decides for all other targets.
    """
    return policy_for(policy, architectures)

def mlgo_policies(name, backend = None, by_slot = {}, visibility = None, **slots):
    """Policies that several programs share: `mlgo_clang(name = "clang", policies = ":<name>")`, and so on.

    Args:
      name: name of the C++ library that a program links.
      backend: `cpp` or `aot`; default: the value of --@mlgo//release:backend.
      by_slot: dict, slot -> as `slots`; BUILD files cannot pass a computed dict as `**slots`.
      visibility: visibility of `name`.
      **slots: slot of //llvm:slots.bzl = label of a SavedModel, or a dict, name -> label or `for_targets`, of which the first is
        the default.
    """
    policies = by_slot | slots
    unknown = [slot for slot in policies if slot not in SLOTS]
    if unknown:
        fail(unknown_slots("mlgo_policies", name, unknown))
    for slot, policy in policies.items():
        if type(policy) == "dict" and (not policy or unusable_names(policy.keys())):
            fail(wrong_names("mlgo_policies", name, slot, unusable_names(policy.keys())))
        wrong = wrong_targets("mlgo_policies", name, slot, policy)
        if wrong:
            fail(wrong)
    cc_library(
        name = name,
        linkstatic = True,
        visibility = visibility,
        deps = policy_slots(name, policies, backend) + [Label("//llvm:policy_list")],
    )

def mlgo_clang(name, policies = None, backend = None, tools = True, visibility = None, **slots):
    """A clang with policies inside, in the tree `<name>.llvm` (see `llvm_program` of //llvm:llvm_program.bzl).

    `--config=mlgo-size.cfg` and `--config=mlgo-speed.cfg` (for Arm and Thumb `mlgo-speed-arm.cfg`), which lie beside it, switch policies
    on for build systems that pass one set of flags to compiles and links; `mlgo-cold.cfg` is for compiles with a profile, and needs no policy.

    The tree has the linker ld.lld, with the same policies inside, and LLVM's tools for archives and objects too (//release/tools).

    Args:
      name: name of the target.
      policies: a `mlgo_policies`, in place of `backend` and `slots`.
      backend: `cpp` or `aot`; default: the value of --@mlgo//release:backend.
      tools: whether the linker and the other tools are there. Without them the first build compiles ten units fewer.
      visibility: visibility of `name`.
      **slots: as of `mlgo_policies`.
    """
    _program(
        name,
        "clang",
        policies,
        backend,
        slots,
        visibility,
        aliases = [name + "++"],
        beside = CONFIGURATION_FILES,
        driver = Label("//release/tools") if tools else None,
        resource_directory = Label("//third_party/llvm:resource_headers"),
        tools = TOOLS if tools else [],
        units = [Label("//release/linking"), Label("//release/search")],
    )

def mlgo_opt(name, policies = None, backend = None, visibility = None, **slots):
    """LLVM's opt with policies inside, to run a pass alone: `-passes=... -enable-ml-inliner=release`.

    A policy for size decides only in functions with the attribute optsize or minsize, also under `default<Oz>` (`default<O2>` since LLVM 23).

    Args:
      name: name of the target.
      policies: as of `mlgo_clang`.
      backend: as of `mlgo_clang`.
      visibility: visibility of `name`.
      **slots: as of `mlgo_clang`.
    """
    _program(name, "opt", policies, backend, slots, visibility)

def mlgo_llc(name, policies = None, backend = None, visibility = None, **slots):
    """LLVM's llc with policies inside, to run register allocation alone.

    Args:
      name: name of the target.
      policies: as of `mlgo_clang`.
      backend: as of `mlgo_clang`.
      visibility: visibility of `name`.
      **slots: as of `mlgo_clang`.
    """
    _program(name, "llc", policies, backend, slots, visibility, units = [Label("//release/search:allocations")])

def mlgo_lld(name, policies = None, backend = None, visibility = None, **slots):
    """LLVM's linker for ELF with policies inside, for link-time optimisation behind another clang of the same LLVM.

    The tree `<name>.llvm` has bin/ld.lld, and llvm-ar, llvm-nm and llvm-ranlib for archives of bitcode. The linker of a `mlgo_clang` is
    the same without its tree.

    Args:
      name: name of the target.
      policies: as of `mlgo_clang`.
      backend: as of `mlgo_clang`.
      visibility: visibility of `name`.
      **slots: as of `mlgo_clang`.
    """
    _program(
        name,
        "ld.lld",
        policies,
        backend,
        slots,
        visibility,
        driver = Label("//release/tools:linker"),
        macro = "mlgo_lld",
        tools = LINKER_TOOLS,
    )

def _program(name, program, policies, backend, slots, visibility, driver = None, macro = None, units = [], **more):
    given = {argument: value for argument, value in dict(slots, backend = backend).items() if value != None}
    if policies and given:
        fail(policies_given_twice(macro or "mlgo_" + program, name, sorted(given)))
    if not policies:
        policies = name + "_policies"
        mlgo_policies(name = policies, visibility = ["//visibility:private"], **given)
    llvm_program(
        name = name,
        program = program,
        visibility = visibility,
        # In link order: do not sort.
        deps = [
            policies,
            driver or Label("//llvm:{}_driver".format(program)),
            Label("//llvm:no_z3"),
            Label("//release:advisor_units"),
        ] + units,
        **more
    )
