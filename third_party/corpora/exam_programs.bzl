"""Source packages of the programs of `//mlgo:evaluate_programs -- --programs=exam`. They are no corpora: a policy never learns from them.

The rule of their choice, written down and committed before any of them was compiled:

1. Ten fields that none of the 22 other programs covers, five in C and five in C++. One program a field.
2. A source package of Debian bookworm (main) under a free licence, whose name no file of this repository had before. The mirrors have its
   archive, which has the top-level folder that third_party/debian expects.
3. A list of its files builds it, with macros or one configuration header, without a generator and without libraries besides those of C and C++.
4. From inputs that the package has or that we write, a batch run prints or writes the same each time, and executes 20 million to 2 billion
   instructions by the default compiler at -O2.
5. Of a field's candidates, in the order below, the first that fulfils 2 to 4. What a policy makes of a program is no reason for or against it,
   and was not known.

C: compiler (tcc, cc65); tracing of images (potrace, jbigkit); search in graphs (nauty, cliquer); satisfiability (picosat, minisat2);
assembler (nasm, byacc).
C++: formatting of source code (astyle, bcpp); spelling (hunspell, aspell); generator of scanners (re2c, ragel); alignment of sequences (muscle3,
clustalw); tessellation of space (voro++, tetgen).

Dropped by 2: astyle and re2c (no mirror had the archive), muscle3 and tcc (no top-level folder). By 3: nauty (./configure writes its main headers).
"""

def _program(package, licence, patch = None):
    """A program's sources.

    Args:
      package: Debian source package, in third_party/debian/lock.json.
      licence: SPDX expression of its sources.
      patch: name of the file in patches/corpora that adds the header which ./configure would write.

    Returns:
      The entry.
    """
    return struct(package = package, licence = licence, patch = patch, build_file = "//third_party/corpora:program.BUILD.bazel")

EXAM_PROGRAMS = {
    # C
    "cc65": _program("cc65", "Zlib"),
    "cliquer": _program("cliquer", "GPL-2.0-or-later"),
    "nasm": _program("nasm", "BSD-2-Clause"),
    "picosat": _program("picosat", "MIT", patch = "picosat_is_configured.patch"),
    "potrace": _program("potrace", "GPL-2.0-or-later"),
    # C++
    "bcpp": _program("bcpp", "X11-distribute-modifications-variant"),
    "clustalw": _program("clustalw", "LGPL-3.0-or-later"),
    "hunspell": _program("hunspell", "GPL-2.0-or-later OR LGPL-2.1-or-later OR MPL-1.1", patch = "hunspell_is_configured.patch"),
    "ragel": _program("ragel", "GPL-2.0-or-later", patch = "ragel_is_configured.patch"),
    "voropp": _program("voro++", "BSD-3-Clause-LBNL"),
}
