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

C: compiler (tcc, cc65); tracing of images (potrace, jbigkit); enumeration of graphs (nauty, cliquer); satisfiability (picosat, minisat2);
assembler (nasm, byacc).
C++: formatting of source code (astyle, bcpp); spelling (hunspell, aspell); generator of scanners (re2c, ragel); alignment of sequences (muscle3,
clustalw); tessellation of space (voro++, tetgen).

Dropped by 2: astyle and re2c (no mirror had the archive), muscle3 and tcc (no top-level folder).
"""
