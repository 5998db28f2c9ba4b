"""How to build a project so that its corpus is at a given level: the words of every error message and note.

docs/corpora.md has the same lines with explanations.
"""

_EMBED = "-Xclang -fembed-bitcode=all"


def cmake_flags(level: str) -> str:
    """Flags of `cmake`. The level replaces that of the build type, which CMake would put behind CMAKE_C_FLAGS.

    Args: level: such as "Oz".
    """
    return (
        "-DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++ -DCMAKE_BUILD_TYPE=Release"
        f" -DCMAKE_C_FLAGS_RELEASE='-{level} -DNDEBUG' -DCMAKE_CXX_FLAGS_RELEASE='-{level} -DNDEBUG'"
        f" -DCMAKE_C_FLAGS='{_EMBED}' -DCMAKE_CXX_FLAGS='{_EMBED}'"
    )


def configure_flags(level: str) -> str:
    """Variables for the `configure` of autotools and for most makefiles. Args: level: such as "Oz"."""
    return f"CC=clang CXX=clang++ CFLAGS='-{level} {_EMBED}' CXXFLAGS='-{level} {_EMBED}'"


def build_advice(level: str) -> str:
    """What to do when a corpus is at another level, in several lines. Args: level: such as "Oz"."""
    return (
        f"Build with clang at -{level} and extract the corpus again (docs/corpora.md):\n"
        f"  CMake:     cmake {cmake_flags(level)}\n"
        f"  autotools: ./configure {configure_flags(level)}\n"
        f'  Bazel:     level = "{level}" of mlgo_corpus'
    )
