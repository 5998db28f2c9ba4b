"""Which paths of Chromium the trees have: what gn reads and what the targets are compiled from."""

# What gn itself reads, whatever the target.
_CONFIGURATION = [
    ".gn",
    "build/",
    "build_overrides/",
    "testing/*.gni",
    "third_party/angle/dotfile_settings.gni",
    "third_party/compiler-rt/",
]

# Abseil, BoringSSL and RE2, as Chromium has them, and what their benchmarks are written with.
LIBRARIES = _CONFIGURATION + [
    "third_party/abseil-cpp/",
    "third_party/boringssl/",
    "third_party/google_benchmark/",
    "third_party/re2/",
]

LIBRARIES_EXCLUDE = [
    "build/android/*",
    "build/fuchsia/*",
    "third_party/boringssl/src/crypto/*/wycheproof/*",
    "third_party/boringssl/src/fuzz/*_corpus*",
    "third_party/boringssl/src/third_party/wycheproof_testvectors/*",
    "third_party/boringssl/src/util/fipstools/*",
]

# Everything that is in the tarball: 6.6 GB, about 450,000 files.
ALL = ["*"]
