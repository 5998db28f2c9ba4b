"""Tools of //mlgo:evaluate_programs for tests: the real ones, but for a compiler with a policy that is known."""

import pathlib
import sys

from mlgo.trace.optimised_corpus import CODE_GENERATION_FLAG

_RELEASE_CLANG = """#!{python} -IS
import hashlib, os, subprocess, sys
words, given, policy = [], sys.argv[1:], []
while given:
    word = given.pop(0)
    if word == "-mllvm" and given[0] in ("-enable-ml-inliner=release", "-regalloc-enable-advisor=release"):
        given.pop(0)
        policy = ["-DPOLICY"]
    elif word == "-mllvm" and given[0] == "-mlgo-policy-with-profile":
        given.pop(0)
    else:
        words.append(word)
if {wrong!r}:
    words.append({wrong!r})
def with_policy(path):
    return os.path.join({folder!r}, hashlib.sha256(open(path, "rb").read()).hexdigest() + ".bc")
if {code_generation!r} in words and policy:
    source = words.index("-c") + 1
    words[source] = with_policy(words[source])
elif "-emit-llvm" in words:
    subprocess.run([{clang!r}, *words], check=True)
    output = words.index("-o") + 1
    words[output], policy = with_policy(words[output]), ["-DPOLICY"]
os.execv({clang!r}, [{clang!r}, *words, *policy])
"""

#: The packaged linker knows no policy: it is told everything but that.
_RELEASE_LINKER = """#!{python} -IS
import os, sys
words, given = [], sys.argv[1:]
while given:
    word = given.pop(0)
    if word == "-mllvm" and given[0] in ("-enable-ml-inliner=release", "-regalloc-enable-advisor=release"):
        open({asked!r}, "a").write(given.pop(0) + "\\n")
    else:
        words.append(word)
os.execv({linker!r}, ["ld.lld", *words])
"""
#: In `folder` of `flags`: a line for each link that was asked for a policy.
ASKED_LINKER = "asked_linker"


def flags(
    folder: pathlib.Path,
    clang: pathlib.Path,
    linker: pathlib.Path,
    usr: pathlib.Path,
    valgrind: pathlib.Path,
    wrong: str = "",
) -> list[str]:
    """Flags that name the tools.

    Args:
      folder: for the compiler with a policy, a script: where a policy is asked for, it compiles with -DPOLICY. Of
        bitcode from the optimiser, which policies share, it keeps a second one made with -DPOLICY for that. The linker
        beside it is the packaged one and notes in ASKED_LINKER that it was asked.
      usr: of the sysroot.
      wrong: an option that this script always adds.
    """
    script = folder / f"clang{wrong}"
    script.write_text(
        _RELEASE_CLANG.format(
            python=sys.executable,
            clang=str(clang.resolve()),
            wrong=wrong,
            folder=str(folder),
            code_generation=CODE_GENERATION_FLAG,
        ),
        encoding="utf-8",
    )
    script.chmod(0o755)
    beside = folder / "ld.lld"
    asked = str(folder / ASKED_LINKER)
    beside.write_text(
        _RELEASE_LINKER.format(python=sys.executable, linker=str(linker.resolve()), asked=asked), encoding="utf-8"
    )
    beside.chmod(0o755)
    # As the command finds the packaged Valgrind: its tools lie where they were unpacked, not where it was built for.
    wrapper = folder / "valgrind"
    tools = valgrind.parents[1] / "libexec" / "valgrind"
    wrapper.write_text(f'#!/bin/sh\nVALGRIND_LIB={tools} exec {valgrind} "$@"\n', encoding="utf-8")
    wrapper.chmod(0o755)
    return [
        f"--clang={script}",
        f"--packaged_clang={clang}",
        f"--linker={linker}",
        f"--sysroot={usr.resolve().parent}",
        f"--valgrind={wrapper}",
    ]
