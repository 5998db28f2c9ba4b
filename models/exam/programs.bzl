"""What released policies are measured with on the programs of `//mlgo:evaluate_programs -- --programs=exam`."""

load("//mlgo:programs.bzl", "EXAM_PROGRAMS_DATA", "EXAM_PROGRAMS_ENV", "PROFILE_DATA", "PROFILE_ENV")
load("//models:defs.bzl", "published")

_COMMAND = "//mlgo:evaluate_programs"

# The best of those in //models/inlining_for_size:programs. None is chosen by the exam.
_INLINE_THRESHOLD = "10"

# Of -regalloc-csr-first-time-cost, as //release/configuration:mlgo-speed.cfg sets it.
_CALLEE_SAVED_COST = "32768"

# The policy alone, the cost alone, and both. Counts are exact, so one timed turn suffices.
_EVICTION_FLAGS = [
    "--callee_saved_costs=" + _CALLEE_SAVED_COST,
    "--problem=regalloc_eviction",
    "--repeats=1",
]

def _measurement(flags, files, data = [], env = {}):
    """A struct of the flags, data and environment of the command, and the files to compare as `published` has them."""
    return struct(
        command = _COMMAND,
        flags = ["--clang={release/clang}", "--nocost", "--programs=exam"] + flags,
        files = ["result.json" + part for part in files],
        data = EXAM_PROGRAMS_DATA + data + ["//release:clang"],
        env = EXAM_PROGRAMS_ENV | env,
    )

# Folder in models/exam -> how its result.json is measured.
PROGRAM_MEASUREMENTS = {
    "programs_inlining": _measurement(
        ["--inline_thresholds=" + _INLINE_THRESHOLD, "--problem=inlining_for_size"],
        ["#size", "~executed", "~totals"],
    ),
    "programs_eviction": _measurement(_EVICTION_FLAGS, ["~run", "~totals"]),
    "programs_eviction_pgo": _measurement(_EVICTION_FLAGS + ["--pgo"], ["~run", "~totals"], PROFILE_DATA, PROFILE_ENV),
}

def exam_programs():
    """Declares NAME.update and NAME_test for each of PROGRAM_MEASUREMENTS."""
    for name, measured in PROGRAM_MEASUREMENTS.items():
        published(
            name = name,
            args = measured.flags,
            command = measured.command,
            data = measured.data,
            env = measured.env,
            files = measured.files,
        )
