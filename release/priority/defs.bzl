"""How LLVM's priority advisor is compiled beside the one of this folder."""

load("@llvm//:chosen.bzl", "CHOSEN")

# LLVM 19 has no providers of advisors: there the priority advisor does not know the target.
KNOWS_TARGET = int(CHOSEN["major"]) >= 22

# Macros for MLRegAllocPriorityAdvisor.cpp.
PRIORITY_ADVISOR_RENAMED = [
    "createReleaseModePriorityAdvisorAnalysis=createPolicyPriorityAdvisorAnalysis",
    "createReleaseModePriorityAdvisorProvider=createPolicyPriorityAdvisorProvider",
] if KNOWS_TARGET else []
