"""How the tables of this folder describe a library."""

def library_entry(package, licence, srcs, includes = [], exclude = [], defines = [], hdrs = ["**/*.h"], program = [], patch = None, build_file = None, bare_metal = False):
    """One library.

    Args:
      package: Debian source package, in third_party/debian/lock.json.
      licence: SPDX expression of its sources.
      srcs: patterns of the sources, one module each.
      includes: include directories.
      exclude: patterns of sources that are not part of it.
      defines: macros, without -D; Bazel reads them like a shell.
      hdrs: patterns of what the sources include.
      program: patterns of what a program of the package needs besides (//mlgo/evaluation/programs).
      patch: name of the file in patches/corpora that adds the headers which the library's ./configure would write.
      build_file: BUILD file with a cc_library `library`, for one that patterns cannot describe.
      bare_metal: whether it compiles without an operating system too, with nothing but a C library.

    Returns:
      The entry.
    """
    return struct(
        package = package,
        licence = licence,
        srcs = srcs,
        includes = includes,
        exclude = exclude,
        defines = defines,
        hdrs = hdrs,
        program = program,
        patch = patch,
        build_file = build_file,
        bare_metal = bare_metal,
    )
