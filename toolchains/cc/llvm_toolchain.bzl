"""How corpus rules select the clang of the LLVM that our compilers are made of.

Bitcode of one major of LLVM is read by that major and by newer ones. So a corpus is made by the clang of @llvm, while everything else is
compiled by the clang of @toolchain_llvm. Where both are the same, configurations stay as they are.
"""

load("@llvm//:chosen.bzl", "CHOSEN")

FLAG = str(Label("//toolchains/cc:of_llvm"))

# Value of FLAG in a configuration that makes a corpus.
FOR_CORPUS = CHOSEN["major"] != CHOSEN["default"]

def _impl(_settings, _attr):
    return {FLAG: FOR_CORPUS}

llvm_toolchain = transition(
    implementation = _impl,
    inputs = [],
    outputs = [FLAG],
)
