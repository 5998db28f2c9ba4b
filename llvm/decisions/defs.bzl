"""How LLVM's eviction advisor is compiled beside the one of this folder."""

# Macros for MLRegAllocEvictAdvisor.cpp: of all compilers, and of development compilers only (llvm/eviction_search).
EVICTION_ADVISOR_RENAMED = [
    "createReleaseModeAdvisorAnalysisLegacy=createPolicyAdvisorAnalysisLegacy",
    "createReleaseModeAdvisorProvider=createPolicyAdvisorProvider",
]

TRAINING_ADVISOR_RENAMED = [
    "createDevelopmentModeAdvisorAnalysisLegacy=createTrainingAdvisorAnalysisLegacy",
]
