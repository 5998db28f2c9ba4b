"""How LLVM's priority advisor is compiled beside the one of this folder."""

# Macros for MLRegAllocPriorityAdvisor.cpp.
PRIORITY_ADVISOR_RENAMED = [
    "createReleaseModePriorityAdvisorAnalysis=createPolicyPriorityAdvisorAnalysis",
    "createReleaseModePriorityAdvisorProvider=createPolicyPriorityAdvisorProvider",
]
