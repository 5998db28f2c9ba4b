"""`exam_programs`: what released policies do to the programs of `//mlgo:evaluate_programs -- --programs=exam`."""

load("//mlgo:programs.bzl", "EXAM_PROGRAMS_DATA", "EXAM_PROGRAMS_ENV", "PROFILE_DATA", "PROFILE_ENV")
load("//models:defs.bzl", "published")

# Of -regalloc-csr-first-time-cost, as //release/configuration:mlgo-speed.cfg sets it.
_CALLEE_SAVED_COST = "32768"

# The best of those in //models/inlining_for_size:programs. None is chosen here.
_INLINE_THRESHOLD = "10"

def _programs(name, problem, args, parts, data = [], env = {}):
    published(
        name = name,
        args = [
            "--clang={release/clang}",
            "--nocost",
            "--problem=" + problem,
            "--programs=exam",
        ] + args,
        command = "//mlgo:evaluate_programs",
        data = EXAM_PROGRAMS_DATA + ["//release:clang"] + data,
        env = EXAM_PROGRAMS_ENV | env,
        files = ["result.json" + part for part in parts],
    )

def exam_programs():
    """Declares `programs_inlining`, `programs_eviction` and `programs_eviction_pgo`: the policies, and what there is without ML."""
    _programs(
        name = "programs_inlining",
        args = ["--inline_thresholds=" + _INLINE_THRESHOLD],
        parts = ["#size", "~executed", "~totals"],
        problem = "inlining_for_size",
    )

    # The policy alone, the cost of callee-saved registers alone, and both. What is counted is exact, so one turn suffices.
    eviction = dict(
        parts = ["~run", "~totals"],
        problem = "regalloc_eviction",
    )
    args = ["--callee_saved_costs=" + _CALLEE_SAVED_COST, "--repeats=1"]
    _programs(
        name = "programs_eviction",
        args = args,
        **eviction
    )
    _programs(
        name = "programs_eviction_pgo",
        args = args + ["--pgo"],
        data = PROFILE_DATA,
        env = PROFILE_ENV,
        **eviction
    )
