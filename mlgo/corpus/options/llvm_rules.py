"""Which options of LLVM (-mllvm) a recorded command may have.

Numbers, truth values and enumerations change code, except for those that also print, open a file or take part in a
conversation: their names say so. A string may be anything, so only the strings listed here are known.
"""

from __future__ import annotations

import re

# Words in names of options that print, write or measure, over both majors' tables. Some take harmless options along.
_MORE_THAN_CODE = re.compile(
    r"""
      print | dump | view | (^|-)dot(-|$) | (^|-)stats?(-|$)   # text and graphs of passes, to the terminal or to files
    | (^|-)debug(?!-?(info|variable|macro|line)) | ^debugify   # text, or a pass that also prints
    | ^time- | (^|-)timers(-|$) | ^insert-timing | ^track- | ^trace-  # measurements
    | (^|-)verbos | (^|-)report(-|$) | (^|-)show(-|$) | remark | bisect | (^|-)crash(-|$) | ^color$
    | interactive                                              # a policy over named pipes
    | ^exec | ^threads$ | ^disable-symbolication$              # processes and threads
    | verify-hsa-metadata                                      # prints what it parsed
    | polly                                                    # of the packaged clang only; reads and writes files
    """,
    re.VERBOSE,
)

#: Strings that name a file which passes read (cl::opt of type string in llvm/lib).
READS = frozenset(
    """
    cgscc-inline-replay codegen-data-use-path extract-blocks-file forceattrs-csv-path fs-profile-file fs-remapping-file
    internalize-public-api-file ir2vec-vocab-path lowertypetests-read-summary memprof-import-summary mir2vec-vocab-path
    ml-inliner-ir2vec-vocab-file ms-secure-hotpatch-functions-file pgo-test-profile-file pgo-test-profile-remapping-file
    sample-profile-file sample-profile-inline-replay sample-profile-remapping-file summary-file
    thinlto-workload-def use-ctx-profile wholeprogramdevirt-read-summary
    """.split()
)

#: Strings that name a file or folder which is written. Without the option, the code is the same.
WRITES = frozenset(
    """
    as-secure-log-file attributor-depgraph-dot-filename-prefix
    callgraph-dot-filename-prefix cfg-dot-filename-prefix crash-diagnostics-dir
    dot-cfg-dir dot-cfg-mssa dot-ddg-filename-prefix info-output-file ir-dump-directory lowertypetests-write-summary
    lto-pass-remarks-output lto-stats-file mcfg-dot-filename-prefix memprof-dot-file-path-prefix
    module-summary-dot-file opt-bisect-print-ir-path print-changed-diff-path
    print-changed-dot-path print-on-crash-path regalloc-priority-training-log regalloc-training-log training-log
    stack-usage-file wholeprogramdevirt-write-summary
    """.split()
)

_WORDS = re.compile(r"[A-Za-z0-9_.:,;+*=-]*")
# Strings that become names, sections or lists in the code, and are never opened.
_TEXTS = frozenset(
    """
    aarch64-stack-hazard-size alloc-token-prefix amdgpu-sched-strategy asan-memory-access-callback-prefix
    bbsections-cold-text-prefix break-anti-dependencies default-gcov-version epilogue-vectorization-force-VF
    force-attribute force-remove-attribute force-vector-width hotcoldsplit-cold-section-name
    hwasan-memory-access-callback-prefix icp-ignored-base-types memprof-memory-access-callback-prefix
    memprof-runtime-default-options spirv-ext sve-tail-folding target-abi wholeprogramdevirt-skip x86-align-branch
    """.split()
)

#: They switch on a policy inside the build's clang. Compiles of the corpus choose their own, and LLVM refuses an option
#: that is given twice.
SWITCHES = frozenset(("enable-ml-inliner", "regalloc-enable-advisor", "regalloc-enable-priority-advisor"))

#: They select one of several policies inside the build's clang. Compiles of the corpus choose their own.
SELECTORS = frozenset(("ml-inliner-model-selector", "mlgo-eviction-selector", "mlgo-priority-selector"))

#: With these, decisions in the build were taken beforehand or searched (llvm/decisions, release/search), callee-saved
#: registers had another cost (llvm/callee_saved_cost), or a policy decided with a profile or without a warning.
#: Compiles of the corpus decide for themselves.
DECISIONS = frozenset(
    """
    mlgo-allocations mlgo-allocations-with-profile mlgo-allocations-work mlgo-callee-saved-cost
    mlgo-callee-saved-longest-call mlgo-decisions mlgo-decisions-replay mlgo-decisions-taken mlgo-evictions-taken
    mlgo-executed-cost mlgo-executed-cost-file
    mlgo-policy-with-profile mlgo-search mlgo-warn-unmeasured
    """.split()
)

#: With any of these, something else than the compiler's heuristic decided in the build.
DECIDING = SWITCHES | SELECTORS | DECISIONS

#: Makes ThinLTO's back end embed what it read. The corpus has that already; an object with it is not the linked one.
EMBEDDING = "lto-embed-bitcode"


def only_changes_code(name: str) -> bool:
    """Whether numbers, truth values and enumerators of the option `name` (without dashes) change nothing but code."""
    return _MORE_THAN_CODE.search(name) is None


def is_text(name: str, value: str | None) -> bool:
    """Whether the option `name` takes a text that only goes into code, and `value` is one."""
    return name in _TEXTS and value is not None and _WORDS.fullmatch(value) is not None
