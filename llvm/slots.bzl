"""The policy slots: every place in LLVM that can evaluate an embedded policy. All other lists of slots are derived from this one.

Starlark loads this file, and mlgo/problems/slots.py parses it, so it holds one literal and no expression. Fields of a slot, whose key is
its name: a label flag //release:<name> and an argument of mlgo_clang, mlgo_opt and mlgo_llc.

    advisor_flag      LLVM option, without dash, of the advisor; `=release` makes it evaluate the embedded policy
    interactive_flag  LLVM option, without dash: base of the file names of the advisor's interactive channel
    model             C++ class, in the namespace llvm, that the advisor evaluates; also the name of the header that it includes
    problem           folder below mlgo/problems
    selector_flag     option, without dash, whose value is the name of the policy that decides, in a program with several for the problem.
                      LLVM has the one of the inliner; llvm/embedded defines those that begin with "mlgo-"
    decides           what the policy decides, for documentation
    decides_in        "all functions", or "functions for size": those with the attribute optsize or minsize, which -Os, -Oz and the source
                      set; the default heuristic decides in all others. Only the inliner reads this field (release/inlining)
    levels            optimisation levels that the policy is for, for documentation
    measured_on       architectures (release/private/architectures.bzl) for which policies for the problem were measured (models/). A compiler
                      warns once if one decides for another, unless the policy is `for_targets` of it
"""

SLOTS = {
    "eviction_policy": {
        "advisor_flag": "regalloc-enable-advisor",
        "decides": "register evictions",
        "decides_in": "all functions",
        "interactive_flag": "regalloc-evict-interactive-channel-base",
        "levels": "-O1 and above",
        "measured_on": "aarch64 arm riscv64 x86_64",
        "model": "RegAllocEvictModel",
        "problem": "regalloc_eviction",
        "selector_flag": "mlgo-eviction-selector",
    },
    "inlining_policy": {
        "advisor_flag": "enable-ml-inliner",
        "decides": "inlining for size",
        "decides_in": "functions for size",
        "interactive_flag": "inliner-interactive-channel-base",
        "levels": "-Oz and -Os",
        "measured_on": "aarch64 arm riscv64 x86_64",
        "model": "InlinerSizeModel",
        "problem": "inlining_for_size",
        "selector_flag": "ml-inliner-model-selector",
    },
    "priority_policy": {
        "advisor_flag": "regalloc-enable-priority-advisor",
        "decides": "the order in which live ranges are allocated",
        "decides_in": "all functions",
        "interactive_flag": "regalloc-priority-interactive-channel-base",
        "levels": "-O1 and above",
        "measured_on": "x86_64",
        "model": "RegAllocPriorityModel",
        "problem": "regalloc_priority",
        "selector_flag": "mlgo-priority-selector",
    },
}
