"""`cc_library` and `cc_binary` for the packages of LLVM's overlay: rules_cc's, with the flags of //third_party/llvm:copts.bzl."""

load("@rules_cc//cc:defs.bzl", _cc_binary = "cc_binary", _cc_library = "cc_library")
load("//third_party/llvm:copts.bzl", "LLVM_COPTS")

# As in the packages, whatever the compilation mode; debug information of LLVM would be 30 GB.
_COPTS = LLVM_COPTS + ["-fomit-frame-pointer", "-g0"]

def cc_library(name, copts = [], **kwargs):
    """rules_cc's, with LLVM's flags after its own."""
    _cc_library(name = name, copts = copts + _COPTS, **kwargs)

def cc_binary(name, copts = [], **kwargs):
    """rules_cc's, with LLVM's flags after its own."""
    _cc_binary(name = name, copts = copts + _COPTS, **kwargs)
