"""Runs when an interpreter starts whose path holds the site directory (the interpreter imports it by this name).

The one place for what must be decided before TensorFlow is imported.
"""

import _ctypes  # the whole ctypes takes three times as long, in every program
import os
import sys

# Wheels look for the C++ library on the machine, unless it is loaded already: then that one serves them all.
_CXX_LIBRARY = os.path.join(os.path.dirname(os.path.realpath(sys.executable)), "../lib/{multiarch}/libstdc++.so.6")
if os.path.exists(_CXX_LIBRARY):
    _ctypes.dlopen(_CXX_LIBRARY, os.RTLD_NOW)

# tf-agents 0.19 is written against Keras 2; TensorFlow 2.19 takes it from tf-keras only when told before its import.
os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")
# TensorFlow reports CPU features and missing GPUs on standard error; warnings and errors stay.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "1")
# oneDNN picks kernels by CPU and thread count, so that sums round differently on another machine.
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
# The site is an input of many actions: writing byte code into it would change them.
sys.dont_write_bytecode = True
