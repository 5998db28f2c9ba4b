"""One policy in all the forms that a C++ program can evaluate."""

load("@rules_cc//cc:defs.bzl", "cc_library")
load("//release/private:compiled_policy.bzl", "compiled_policy")

def policy_forms(name, policy, problem):
    """A C++ library that defines `aotForm` and `cppForm` of tests/backends/backend.h for one policy.

    Args:
      name: name of the library. `<name>_borders.txt` has the borders of the normaliser's segments.
      policy: label of a policy directory's files.
      problem: folder below mlgo/problems.
    """
    for backend in ["aot", "cpp"]:
        compiled_policy(
            name = "{}_{}".format(name, backend),
            testonly = True,
            backend = backend,
            cpp_class = "mlgo::{}Policy".format(backend.capitalize()),
            policy = policy,
            problem = problem,
            visibility = ["//visibility:private"],
        )
    cc_library(
        name = name,
        testonly = True,
        srcs = ["//tests/backends:forms.cc"],
        copts = ["-O2"],
        linkstatic = True,
        local_defines = [
            '{}_HEADER=\\"{}_{}.h\\"'.format(backend.upper(), name, backend)
            for backend in ["aot", "cpp"]
        ],
        deps = [
            name + "_aot",
            name + "_cpp",
            "//tests/backends",
        ],
    )
    native.genrule(
        name = name + "_borders",
        testonly = True,
        srcs = [policy],
        outs = [name + "_borders.txt"],
        cmd = "for file in $(SRCS); do case $$file in *.json) $(execpath //tests/backends:borders) $$file $@;; esac; done",
        tools = ["//tests/backends:borders"],
        visibility = ["//visibility:private"],
    )
