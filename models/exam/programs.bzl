"""Looks at the programs of `//mlgo:evaluate_programs -- --programs=exam`."""

load("//mlgo:programs.bzl", "EXAM_PROGRAMS_DATA", "EXAM_PROGRAMS_ENV", "PROFILE_DATA", "PROFILE_ENV")
load("//models:defs.bzl", "CALLEE_SAVED_COST", "COLD_OPTIONS", "SPEED_OPTIONS")
load(":exam.bzl", "look", "measurement")

_COMMAND = "//mlgo:evaluate_programs"

# The best of those in //models/inlining_for_size:programs. None is chosen by the exam.
_INLINE_THRESHOLD = "10"

# The policy alone, a cost alone, and both: the cost by function, as mlgo-speed.cfg has it, and LLVM's option. Counts are exact, so one timed turn suffices.
_EVICTION_FLAGS = [
    "--callee_saved_costs=" + CALLEE_SAVED_COST,
    "--csr_first_time_costs=" + CALLEE_SAVED_COST,
    "--problem=regalloc_eviction",
    "--repeats=1",
]

# mlgo-speed.cfg where there is a profile.
_SPEED_FLAGS = [
    "--compiler=speed={release/clang}" + SPEED_OPTIONS,
    "--pgo",
    "--problem=regalloc_eviction",
    "--repeats=1",
]

# What the profile calls cold is compiled for size, as mlgo-cold.cfg has it: no policy decides. With the size policy in these functions; with the
# cost of callee-saved registers too.
_COLD_FLAGS = [
    "--compiler=cold={release/clang}" + COLD_OPTIONS,
    "--compiler=cold_size_policy={release/clang}" + COLD_OPTIONS + ",-mllvm,-enable-ml-inliner=release",
    "--compiler=cold_cost={release/clang}" + COLD_OPTIONS + ",-mllvm,-mlgo-callee-saved-cost=" + CALLEE_SAVED_COST,
    "--pgo",
    "--problem=regalloc_eviction",
    "--repeats=1",
]

def exam_programs():
    """Declares a look for each measurement of programs."""
    for name, problem, flags, data, env in [
        ("programs_inlining", "inlining_for_size", ["--inline_thresholds=" + _INLINE_THRESHOLD, "--problem=inlining_for_size"], [], {}),
        ("programs_eviction", "regalloc_eviction", _EVICTION_FLAGS, [], {}),
        ("programs_eviction_pgo", "regalloc_eviction", _EVICTION_FLAGS + ["--pgo"], PROFILE_DATA, PROFILE_ENV),
        ("programs_speed_pgo", "regalloc_eviction", _SPEED_FLAGS, PROFILE_DATA, PROFILE_ENV),
        ("programs_cold", "regalloc_eviction", _COLD_FLAGS, PROFILE_DATA, PROFILE_ENV),
    ]:
        look(
            name = name,
            compilers = ["//release:clang"],
            data = [_COMMAND] + EXAM_PROGRAMS_DATA + data,
            env = EXAM_PROGRAMS_ENV | env,
            measurements = [
                measurement(
                    command = _COMMAND,
                    flags = ["--clang={release/clang}", "--nocost", "--programs=exam"] + flags,
                    folder = name,
                ),
            ],
            policy = "//models/{}:policy".format(problem),
        )
