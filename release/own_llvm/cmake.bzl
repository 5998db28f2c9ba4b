"""Texts of the CMake files that name policies to LLVM's own build, as pure functions for testing.

What LLVM expects: llvm/cmake/modules/TensorFlowCompile.cmake (`tf_find_and_compile`) and llvm/CMakeLists.txt (`TENSORFLOW_AOT_PATH`).
"""

# Slot of //llvm:slots.bzl that a stock LLVM has -> the CMake variable of its SavedModel. A stock LLVM has no priority model.
MODEL_PATHS = {
    "eviction_policy": "LLVM_RAEVICT_MODEL_PATH",
    "inlining_policy": "LLVM_INLINER_MODEL_PATH",
}

# LLVM's build links a target of this name with every model. Nothing in our objects needs it.
RUNTIME = """\
# LLVM's build expects TensorFlow's runtime here. The policies do not need it, so this library is empty.
file(WRITE "${CMAKE_CURRENT_BINARY_DIR}/empty.cpp" "")
add_library(tf_xla_runtime STATIC "${CMAKE_CURRENT_BINARY_DIR}/empty.cpp")
"""

def cache_file(models):
    """The text of mlgo.cmake, to be passed to cmake with -C.

    Args:
      models: dict, slot of MODEL_PATHS -> name of LLVM's class for it, or None without a policy.
    """
    lines = [
        "# Policies for LLVM's own build: cmake -C mlgo.cmake ... The folder may be moved before cmake runs, and must stay until LLVM is built.",
        "set(TENSORFLOW_AOT_PATH \"${CMAKE_CURRENT_LIST_DIR}/runtime\" CACHE PATH \"\" FORCE)",
        "set(LLVM_HAVE_TF_AOT ON CACHE BOOL \"\" FORCE)",
    ]
    for slot, model in models.items():
        lines.append("set({} none CACHE STRING \"\" FORCE)".format(MODEL_PATHS[slot]))
        if model:
            for kind, suffix in [("HEADER", "h"), ("OBJECT", "o")]:
                lines.append("set(LLVM_OVERRIDE_MODEL_{kind}_{upper} \"${{CMAKE_CURRENT_LIST_DIR}}/{model}.{suffix}\" CACHE FILEPATH \"\" FORCE)".format(
                    kind = kind,
                    model = model,
                    suffix = suffix,
                    upper = model.upper(),
                ))
    return "\n".join(lines) + "\n"
