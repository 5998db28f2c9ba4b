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

# //base and the three, configured as in the browser: gn then loads what the browser's own files name.
BASE = [
    "*.gn",
    "*.gni",
    "DEPS",
    "LICENSE",
    "base/",
    "build/",
    "build_overrides/",
    "chrome/VERSION",
    "crypto/",
    "mojo/public/tools/",
    "testing/",
    "tools/",
    "url/",
] + ["third_party/{}/".format(name) for name in [
    "abseil-cpp",
    "boringssl",
    "brotli",
    "ced",
    "compiler-rt",
    "cpuinfo",
    "dragonbox",
    "fast_float",
    "fuzztest",
    "google_benchmark",
    "googletest",
    "highway",
    "icu",
    "inspector_protocol",
    "jinja2",
    "jni_zero",
    "jsoncpp",
    "libpfm4",
    "libxml",
    "lss",
    "markupsafe",
    "modp_b64",
    "perfetto",
    "ply",
    "protobuf",
    "protobuf-javascript",
    "re2",
    "rust",
    "simdutf",
    "six",
    "snappy",
    "zlib",
]]

BASE_EXCLUDE = [
    "third_party/icu/source/test/*",
    "third_party/perfetto/test/*",
    "third_party/perfetto/ui/*",
    "third_party/protobuf/java/*",
]

# V8 and its shell d8 as V8's own checkout has them: without //base.
V8 = _CONFIGURATION + [
    "testing/gmock/",
    "testing/gtest/",
    "third_party/icu/*.gn",
    "third_party/icu/*.gni",
    "v8/",
] + ["third_party/{}/".format(name) for name in [
    "abseil-cpp",
    "dragonbox",
    "fast_float",
    "fp16",
    "googletest",
    "highway",
    "jinja2",
    "markupsafe",
    "re2",
    "simdutf",
]] + ["third_party/devtools-frontend/src/front_end/third_party/" + path for path in [
    # Libraries that //mlgo/evaluation/chromium:d8_programs runs.
    "acorn/package/dist/acorn.js",
    "axe-core/axe.js",
    "diff/diff_match_patch.js",
    "lighthouse/lighthouse-dt-bundle.js",
    "marked/package/lib/marked.umd.js",
]]

V8_EXCLUDE = [
    "build/android/*",
    "build/fuchsia/*",
]

# Everything that is in the tarball: 6.6 GB, about 450,000 files.
ALL = ["*"]
