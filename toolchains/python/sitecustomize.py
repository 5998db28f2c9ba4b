"""Runs when an interpreter starts whose path holds the site directory (the interpreter imports it by this name).

The one place for what must be decided before TensorFlow is imported.
"""

import _ctypes  # the whole ctypes takes three times as long, in every program
import os
import sys

# exp and log of the C library have code with and without fused multiply-add. The dynamic loader chooses when a process
# starts, so this one starts anew where the choice is not made yet; what it starts inherits the choice.
_CPU = "glibc.cpu.hwcaps="
_TUNABLES = os.environ.get("GLIBC_TUNABLES", "").split(":")
_CHOSEN = ":".join([each for each in _TUNABLES if each and not each.startswith(_CPU)] + [_CPU + "-FMA,-FMA4"])
if os.uname().machine == "x86_64" and sys.executable and ":".join(_TUNABLES) != _CHOSEN:
    os.environ["GLIBC_TUNABLES"] = _CHOSEN
    os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])

# Wheels look for the C++ library on the machine, unless it is loaded already: then that one serves them all.
_CXX_LIBRARY = os.path.join(os.path.dirname(os.path.realpath(sys.executable)), "../lib/x86_64-linux-gnu/libstdc++.so.6")
if os.path.exists(_CXX_LIBRARY):
    _ctypes.dlopen(_CXX_LIBRARY, os.RTLD_NOW)

# tf-agents 0.19 is written against Keras 2; TensorFlow 2.19 takes it from tf-keras only when told before its import.
os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")
# TensorFlow reports CPU features and missing GPUs on standard error; warnings and errors stay.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "1")
# oneDNN picks kernels by CPU and thread count, so that sums round differently on another machine.
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
# The same bytes on every processor (tests/processors). Without these lines the libraries below choose code by the
# processor. They replace values from outside, which would change results.
os.environ |= {
    # TensorFlow's matrix products: oneDNN's sgemm, in spite of the setting above, for AVX, AVX2 or AVX-512.
    "TENSORFLOW_USE_CUSTOM_CONTRACTION_KERNEL": "false",
    # NumPy's products and linear algebra. TensorFlow's wheels need AVX as well.
    "OPENBLAS_CORETYPE": "Sandybridge",
    "OPENBLAS_NUM_THREADS": "1",
    # NumPy's exp, log and power, and the order of equal values in argsort: all that NumPy 2.1 chooses at run time.
    "NPY_DISABLE_CPU_FEATURES": "SSSE3 SSE41 POPCNT SSE42 AVX F16C FMA3 AVX2 AVX512F AVX512CD AVX512_KNL AVX512_KNM"
    " AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL",
}
# The site is an input of many actions: writing byte code into it would change them.
sys.dont_write_bytecode = True
