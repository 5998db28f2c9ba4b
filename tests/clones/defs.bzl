"""`nested_bazel_test`: a py_test that runs Bazel itself, outside of the sandbox and in the user's own environment."""

load("@rules_python//python:defs.bzl", "py_test")

# What of the environment the nested Bazel gets; INHERITED in nested.py is the same list.
_INHERITED = [
    "BAZEL",
    "HOME",
    "MLGO_DEBIAN_MIRRORS",
    "MLGO_LLVM_MAJOR",
    "PATH",
    "PIP_CONFIG_FILE",
    "PIP_FIND_LINKS",
    "PIP_INDEX_URL",
    "SSL_CERT_FILE",
    "USER",
    "XDG_CACHE_HOME",
]

# One file of each repository that is large or slow to unpack.
_FETCHED = [
    "@llvm//:clang",
    "@llvm_source//:llvm/tools/opt/opt.cpp",
    "@pip//:site",
    "@pip_tensorflow//:xla_aot_runtime_src",
    "@python311//:usr/bin/python3.11",
    "@sysroot//:usr",
]

def nested_bazel_test(name, args = [], data = [], deps = [], shared = True, disk_cache = None, tags = [], **kwargs):
    """A py_test that runs Bazel in another folder with another output base.

    Args:
      name: name of the target.
      args: arguments of the test, after those of `shared`.
      data: what the test reads, and what has to change for it to run again.
      deps: libraries besides //tests/clones.
      shared: give the nested Bazel the large repositories as they are fetched here, by `--share=FILE` for a file of each.
      disk_cache: give it the disk cache of .ci/run; by default where `shared`. Not for tests that look at what it builds itself,
        for Bazel leaves what it finds in the cache there.
      tags: more tags.
      **kwargs: to py_test.
    """
    py_test(
        name = name,
        args = (["--share=$(rootpath {})".format(file) for file in _FETCHED] if shared else []) + args,
        data = depset(data + (_FETCHED if shared else [])).to_list(),
        env_inherit = _INHERITED + (["MLGO_TEST_DISK_CACHE"] if (shared if disk_cache == None else disk_cache) else []),
        # One processor, as any test: most of it is fetching, analysis and waiting. As tests of two they all came last, one by one.
        tags = tags + [
            "local",
            "no-cache",
        ],
        deps = deps + ["//tests/clones"],
        **kwargs
    )
