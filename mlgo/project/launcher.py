#!/usr/bin/env python3
"""bin/mlgo of an installed compiler: checks Python's version and calls mlgo/project/command.py below lib/mlgo."""

import os
import sys

if sys.version_info < (3, 9):
    sys.exit("error: python3 is %d.%d. mlgo needs Python 3.9 or newer" % sys.version_info[:2])
_real = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
sys.path[0] = os.path.join(_real, "lib", "mlgo")
# Files beside the modules would make an installation differ from its record, and without bytecode the modules would be
# compiled in each run: a tenth of the CPU time of a small build. Archives have one date for all versions, so the folder
# is named after the time at which this file was unpacked.
_cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
if os.path.isabs(_cache) and os.path.isdir(os.path.dirname(_cache)):
    _unpacked = os.stat(os.path.realpath(__file__)).st_ctime_ns
    sys.pycache_prefix = os.path.join(_cache, "mlgo", "python-%d" % _unpacked)
else:
    sys.dont_write_bytecode = True

if not os.path.isdir(os.path.join(sys.path[0], "mlgo")):
    sys.exit(
        "error: %s: has no lib/mlgo beside its folder. Leave it there, and call it by its path or a link" % __file__
    )

import pathlib

from mlgo.project.command import main

# The path that the user knows outlives the installed version; a link to this file elsewhere has no compiler beside it.
_given = os.path.dirname(os.path.dirname(os.path.abspath(sys.argv[0])))
_has_compiler = os.path.exists(os.path.join(_given, "lib", "mlgo", "record", "clang"))
sys.exit(main(sys.argv[1:], pathlib.Path(_given if _has_compiler else _real)))
