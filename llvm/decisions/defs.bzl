"""How LLVM's eviction advisor is compiled beside the one of this folder."""

load("@llvm//:chosen.bzl", "CHOSEN")

# LLVM 19 names the pass differently, and its advisor stays as it is: eviction decisions are not supported there.
TAKES_EVICTION_DECISIONS = int(CHOSEN["major"]) >= 22

# Macros for MLRegAllocEvictAdvisor.cpp: of all compilers, and of development compilers only (llvm/eviction_search).
EVICTION_ADVISOR_RENAMED = [
    "createReleaseModeAdvisorAnalysisLegacy=createPolicyAdvisorAnalysisLegacy",
    "createReleaseModeAdvisorProvider=createPolicyAdvisorProvider",
] if TAKES_EVICTION_DECISIONS else []

TRAINING_ADVISOR_RENAMED = [
    "createDevelopmentModeAdvisorAnalysisLegacy=createTrainingAdvisorAnalysisLegacy",
] if TAKES_EVICTION_DECISIONS else []
