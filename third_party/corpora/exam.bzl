"""Libraries of the exam (//models/exam), which a released policy is measured on once. Nothing is chosen by their results."""

load(":entry.bzl", "library_entry")

_MECAB_PROGRAMS = ["src/{}.cpp".format(name) for name in ["mecab", "mecab-cost-train", "mecab-dict-gen", "mecab-system-eval", "mecab-test-gen"]]

# C++17, our default, has no such storage class; clang refuses it where GCC warns.
_NO_REGISTER = ["register="]

# Of other processors, and of other compilers.
_ANGELSCRIPT_OTHERS = ["arm", "arm64", "mips", "ppc", "ppc_64", "sh4", "x64_mingw", "x64_msvc", "x86", "xenon"]

_LIBONIG_INCLUDED = ["src/{}.c".format(name) for name in ["unicode_egcb_data", "unicode_fold_data", "unicode_property_data", "unicode_property_data_posix", "unicode_wb_data"]]

_SPEEX_UNUSED = ["libspeex/{}.c".format(name) for name in ["fftwrap", "kiss_fft*", "smallft", "testenc*", "vorbis_psy"]]

EXAM_C = {
    # A database of keys and values in a file.
    "gdbm": library_entry("gdbm", "GPL-3.0-or-later", ["src/*.c"], includes = ["src"], exclude = ["src/debug.c"], defines = ["HAVE_CONFIG_H"], patch = "gdbm_is_configured.patch"),
    # A decoder of images with two colours.
    "jbig2dec": library_entry("jbig2dec", "AGPL-3.0-or-later", ["jbig2*.c"], exclude = ["jbig2_image_p*.c", "jbig2dec.c"]),
    # The metadata in photographs.
    "libexif": library_entry("libexif", "LGPL-2.1-or-later", ["libexif/**/*.c"], includes = ["."], patch = "libexif_is_configured.patch"),
    # Regular expressions in many encodings.
    "libonig": library_entry(
        "libonig",
        "BSD-2-Clause",
        ["src/*.c"],
        includes = ["src"],
        exclude = _LIBONIG_INCLUDED + ["src/koi8.c", "src/mktable.c", "src/regpos*.c"],
        defines = ["HAVE_CONFIG_H", "ONIG_STATIC"],
        hdrs = ["src/*.h"] + _LIBONIG_INCLUDED,
        patch = "libonig_is_configured.patch",
    ),
    # Differences between files by rolling checksums.
    "librsync": library_entry("librsync", "LGPL-2.1-or-later", ["src/*.c", "src/blake2/blake2b-ref.c"], includes = ["src", "src/blake2"], exclude = ["src/isprefix.c", "src/rdiff.c"], defines = ["LIBRSYNC_STATIC_DEFINE"], patch = "librsync_is_configured.patch"),
    # A client of a message broker.
    "mosquitto": library_entry("mosquitto", "EPL-2.0 OR BSD-3-Clause", ["lib/*.c"], includes = [".", "deps", "include", "lib"], exclude = ["lib/alias_mosq.c"], defines = ["WITH_SOCKS", "WITH_THREADING", "WITH_UNIX_SOCKETS"]),
    # Convex hulls and Delaunay triangulations in any dimension.
    "qhull": library_entry("qhull", "Qhull", ["src/libqhull_r/*.c", "src/qhull/unix_r.c"], includes = ["src"]),
    # A codec of speech.
    "speex": library_entry("speex", "BSD-3-Clause", ["libspeex/*.c"], includes = ["include", "libspeex"], exclude = _SPEEX_UNUSED, defines = ["HAVE_CONFIG_H"], patch = "speex_is_configured.patch"),
}

EXAM_CXX = {
    # The compiler and virtual machine of a scripting language.
    "angelscript": library_entry(
        "angelscript",
        "Zlib",
        ["angelscript/source/*.cpp"],
        includes = ["angelscript/include"],
        exclude = ["angelscript/source/as_callfunc_{}.cpp".format(name) for name in _ANGELSCRIPT_OTHERS],
    ),
    # A decoder of H.265 video.
    "libde265": library_entry("libde265", "LGPL-3.0-or-later", ["libde265/*.cc"], includes = [".", "libde265"], exclude = ["libde265/en265.cc"], defines = ["HAVE_CONFIG_H"], patch = "libde265_is_configured.patch"),
    # The container format that Matroska's is made of.
    "libebml": library_entry("libebml", "LGPL-2.1-or-later", ["src/*.cpp"], includes = ["."], patch = "libebml_is_configured.patch"),
    # A synthesiser of music in the formats of trackers.
    "libmodplug": library_entry("libmodplug", "LicenseRef-public-domain", ["src/*.cpp"], includes = ["src", "src/libmodplug"], defines = ["HAVE_INTTYPES_H", "HAVE_MALLOC_H", "HAVE_SETENV", "HAVE_SINF", "HAVE_STDINT_H", "MODPLUG_BUILD"] + _NO_REGISTER),
    # A developer of raw photographs.
    "libraw": library_entry("libraw", "LGPL-2.1-only OR CDDL-1.0", ["src/**/*.cpp"], includes = ["."], exclude = ["src/**/*_ph.cpp", "src/libraw_cxx.cpp"], defines = ["LIBRAW_NOTHREADS"]),
    # The analyser of Japanese words.
    "mecab": library_entry("mecab", "BSD-3-Clause OR LGPL-2.1-or-later OR GPL-2.0-or-later", ["src/*.cpp"], exclude = _MECAB_PROGRAMS, includes = ["src"], defines = ["DIC_VERSION=102", "HAVE_CONFIG_H", "MECAB_DEFAULT_RC=\\\"/etc/mecabrc\\\""] + _NO_REGISTER, patch = "mecab_is_configured.patch"),
    # The metadata of audio files.
    "taglib": library_entry(
        "taglib",
        "LGPL-2.1-only OR MPL-1.1",
        ["bindings/c/*.cpp", "taglib/**/*.cpp"],
        includes = [".", "3rdparty", "taglib"] + ["taglib/" + name for name in ["ape", "asf", "flac", "it", "mod", "mp4", "mpc", "mpeg", "mpeg/id3v1", "mpeg/id3v2", "mpeg/id3v2/frames", "ogg", "ogg/flac", "ogg/opus", "ogg/speex", "ogg/vorbis", "riff", "riff/aiff", "riff/wav", "s3m", "toolkit", "trueaudio", "wavpack", "xm"]],
        hdrs = ["**/*.h", "**/*.tcc"],
        defines = ["HAVE_CONFIG_H", "TAGLIB_STATIC"],
        patch = "taglib_is_configured.patch",
    ),
    # Sockets that carry messages.
    "zeromq3": library_entry("zeromq3", "LGPL-3.0-or-later WITH LGPL-3.0-linking-exception", ["external/sha1/sha1.c", "src/*.cpp"], includes = ["include", "src"], exclude = ["src/gssapi*", "src/vmci*", "src/ws*"], hdrs = ["**/*.h", "**/*.hpp"], defines = ["ZMQ_CUSTOM_PLATFORM_HPP", "ZMQ_STATIC", "_GNU_SOURCE", "_REENTRANT", "_THREAD_SAFE"], patch = "zeromq3_is_configured.patch"),
}

EXAM = EXAM_C | EXAM_CXX
