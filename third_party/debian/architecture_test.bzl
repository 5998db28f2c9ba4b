"""Tests of the host's architecture and its part of the lock."""

load("@bazel_skylib//lib:unittest.bzl", "asserts", "unittest")
load(
    ":architecture.bzl",
    "AMD64",
    "ARCHITECTURES",
    "absent_package",
    "filled_for",
    "host_architecture",
    "lock_of",
)

_ARM64 = ARCHITECTURES[1]

def _host_impl(ctx):
    env = unittest.begin(ctx)
    for machine, environ, name in [
        ("amd64", {}, "amd64"),
        ("aarch64", {}, "arm64"),
        ("amd64", {"MLGO_HOST_ARCHITECTURE": ""}, "amd64"),
        ("amd64", {"MLGO_HOST_ARCHITECTURE": "arm64"}, "arm64"),
        ("aarch64", {"MLGO_HOST_ARCHITECTURE": "x86_64"}, "amd64"),
    ]:
        found, error = host_architecture(machine, environ)
        asserts.equals(env, (name, None), (found.name, error))
    found, error = host_architecture("amd64", {"MLGO_HOST_ARCHITECTURE": "vax"})
    asserts.equals(env, None, found)
    asserts.equals(env, "MLGO_HOST_ARCHITECTURE=vax: no packages are pinned for this architecture; choose one of amd64, arm64", error)
    asserts.true(env, host_architecture("riscv64", {})[1].startswith("the machine=riscv64: no packages"))
    return unittest.end(env)

def _filled_impl(ctx):
    env = unittest.begin(ctx)
    asserts.equals(env, ["usr/lib/aarch64-linux-gnu/*.so", "a"], filled_for(_ARM64, ["usr/lib/{multiarch}/*.so", "a"]))
    asserts.equals(env, "rt-x86_64.a {major}", filled_for(AMD64, "rt-{cpu}.a {major}"))
    asserts.equals(env, True, filled_for(AMD64, True))
    return unittest.end(env)

def _lock_impl(ctx):
    env = unittest.begin(ctx)
    path = "pool/main/{}_1_{}.deb".format
    lock = {
        "architectures": {"arm64": {
            "groups": {"g": {"a": {"sha256": "3"}, "own": {"path": path("own", "arm64")}}},
            "packages": {"bookworm": {"a": {"sha256": "2"}, "docs": {}, "none": None}},
        }},
        "groups": {"g": {"a": {"path": path("a", "amd64"), "sha256": "1"}}},
        "packages": {"bookworm": {
            "a": {"path": path("a", "amd64"), "sha256": "1", "version": "1"},
            "docs": {"path": path("docs", "all"), "sha256": "1"},
            "none": {"path": path("none", "amd64"), "sha256": "1"},
        }},
        "sources": {"s": {"path": "pool/s.orig.tar.xz"}},
    }

    # amd64's part as it is: an entry that changed would make each repository anew.
    asserts.equals(env, (lock, None), lock_of(lock, AMD64))
    found, error = lock_of(lock, _ARM64)
    asserts.equals(env, None, error)
    asserts.equals(env, {
        "a": {"path": path("a", "arm64"), "sha256": "2", "version": "1"},
        "docs": {"path": path("docs", "all"), "sha256": "1"},
        "none": None,
    }, found["packages"]["bookworm"])
    asserts.equals(env, {
        "a": {"path": path("a", "arm64"), "sha256": "3"},
        "own": {"path": path("own", "arm64")},
    }, found["groups"]["g"])
    asserts.equals(env, lock["sources"], found["sources"])

    found, error = lock_of({"groups": {}, "packages": {}, "sources": {}}, _ARM64)
    asserts.equals(env, None, found)
    asserts.true(env, "no packages for arm64; run ./bazelw run //third_party/debian:lock -- --only_missing" in error)
    asserts.true(env, "Debian has no package x for arm64; build on another host" in absent_package("package", "x", _ARM64))
    return unittest.end(env)

host_test = unittest.make(_host_impl)
filled_test = unittest.make(_filled_impl)
lock_test = unittest.make(_lock_impl)
