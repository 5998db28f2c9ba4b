"""The generated tables of README.md, docs/results.md and the READMEs of models, by name."""

import functools
import pathlib
from collections.abc import Mapping, Sequence

from mlgo.reporting.records import Content, Evaluation
from models.results import headlines, measured, tables

#: Languages of the corpora of evaluations.
LANGUAGES = dict.fromkeys(["cmark", "expat", "sqlite", "tidy_html5", "xz", "zstd"], "C") | dict.fromkeys(
    ["graphite2", "llvm_held_out", "muparser", "ninja", "re2"], "C++"
)

#: Of the exam: third_party/corpora/exam.bzl.
EXAM_LANGUAGES = dict.fromkeys(
    ["gdbm", "jbig2dec", "libexif", "libonig", "librsync", "mosquitto", "qhull", "speex"], "C"
) | dict.fromkeys(["angelscript", "libde265", "libebml", "libmodplug", "libraw", "mecab", "taglib", "zeromq3"], "C++")

#: Programs of --programs=all that the shipped policies were not trained on: all but --seen of models/*/BUILD.bazel.
UNSEEN_BY_EVICTION = ("cmark", "graphite2", "harfbuzz", "ninja", "re2", "sqlite", "tidy", "xmlwf", "xz", "zstd")

_LIBRARY_MEASURES = {"sum": measured.weighted_sum, "functions": measured.function_mean, "code": measured.object_code}
_EVICTION_SIDES = ("policy", "default_callee_saved_32768", "policy_callee_saved_32768")
_BRIEF_SIDES = dict(zip(_EVICTION_SIDES, ("policy", "cost", "both"), strict=True))
_ALLOCATION_SIDES = {"allocations_18": "18 allocations", "with_allocations": "both and 18 allocations"}
_EVICTION_LIBRARY_SIDES = ("trained", "default_callee_saved_32768", "trained_callee_saved_32768")
#: The exam measured mlgo-speed.cfg's cost too.
_EXAM_COST = f"default_{headlines.BY_FUNCTION}"
_EXAM_SIDES = ("policy", _EXAM_COST, f"policy_{headlines.BY_FUNCTION}", *_EVICTION_SIDES[1:])
_EXAM_LIBRARY_SIDES = ("trained", _EXAM_COST, f"trained_{headlines.BY_FUNCTION}", *_EVICTION_LIBRARY_SIDES[1:])
_EXECUTED = (
    ("instructions executed", "executed", "instructions"),
    ("data references executed", "executed", "data_references"),
)
_RUN = (("instructions executed", "run", "instructions"), ("data references executed", "run", "data_references"))
_THIN_LTO = (
    ("ThinLTO, instructions executed", "run", "instructions_thin_lto"),
    ("ThinLTO, data references executed", "run", "data_references_thin_lto"),
)
_SIZES = (
    ("code bytes", "size", "code_bytes"),
    ("code bytes with `--icf=all`", "size", "code_bytes_icf"),
    ("code bytes through ThinLTO", "size", "code_bytes_thinlto"),
)
_THRESHOLDS = ("threshold_10", "threshold_15", "threshold_25")
_TARGETS = {"aarch64": "AArch64", "armv7_thumb": "Thumb-2", "riscv64": "RISC-V"}


def tables_of(models: pathlib.Path) -> Mapping[str, str]:
    """Name -> table, from the results in `models`.

    Raises: ValueError, OSError: a result is missing or damaged.
    """

    @functools.cache
    def evaluation(name: str) -> Evaluation:
        return measured.read_evaluation(models / name)

    @functools.cache
    def programs(name: str) -> Content:
        return measured.read_programs(models / name)

    exam = headlines.Exam(lambda look: evaluation(f"exam/{look}"), lambda look: programs(f"exam/{look}"))
    found = _exam(exam) | {
        "inlining-development": tables.libraries(
            evaluation("inlining_for_size/evaluation"), ["trained"], measured.linked_code, LANGUAGES, thresholds=True
        ),
        "inlining-searches": tables.libraries(
            evaluation("inlining_for_size/searches"),
            ["trained", "search_2", "search_8"],
            measured.linked_code,
            LANGUAGES,
        ),
        "inlining-programs": tables.programs(
            programs("inlining_for_size/all_programs"), [*_SIZES, *_EXECUTED], ["policy"]
        ),
        "inlining-programs-thresholds": tables.programs(
            programs("inlining_for_size/programs"), _SIZES[:1], ["policy", *_THRESHOLDS]
        ),
        "eviction-programs": tables.programs(
            programs("regalloc_eviction/all_programs"), [*_RUN, *_THIN_LTO], _EVICTION_SIDES, UNSEEN_BY_EVICTION
        ),
        "eviction-programs-profiles": tables.programs(
            programs("regalloc_eviction/programs_pgo"), _RUN, [*_EVICTION_SIDES, "allocations_18", "with_allocations"]
        ),
        "eviction-programs-speed": tables.programs(programs("regalloc_eviction/programs_pgo_speed"), _RUN, ["speed"]),
        "eviction-programs-allocations": tables.programs(
            programs("regalloc_eviction/programs_allocations"), _RUN, ["policy", "allocations_18"]
        ),
    }
    cost = evaluation("regalloc_eviction/callee_saved_cost")
    for name, measure in _LIBRARY_MEASURES.items():
        found[f"eviction-libraries-{name}"] = tables.libraries(cost, _EVICTION_LIBRARY_SIDES, measure, LANGUAGES)
    found["eviction-libraries-score"] = tables.several(
        [
            ("executed cost, geometric mean", evaluation("regalloc_eviction/executed_cost"), measured.function_mean),
            ("RegAllocScore, geometric mean", evaluation("regalloc_eviction/libraries"), measured.function_mean),
            ("RegAllocScore, geometric mean", evaluation("regalloc_eviction/evaluation"), measured.function_mean),
            ("code of all functions", evaluation("regalloc_eviction/executed_cost"), measured.object_code),
        ],
        "trained",
    )
    found["inlining-each-program"] = tables.each_program(
        [
            (
                programs("inlining_for_size/all_programs"),
                [(words, table, "policy", measure) for words, table, measure in (*_SIZES, *_EXECUTED)],
            )
        ]
    )
    found["inlining-each-threshold"] = tables.each_program(
        [
            (
                programs("inlining_for_size/programs"),
                [(side, "size", side, "code_bytes") for side in ("policy", *_THRESHOLDS)],
            )
        ]
    )
    found["inlining-each-program-on-targets"] = tables.each_program(
        [
            (
                programs(f"inlining_for_size/programs_{target}"),
                [
                    (f"{words}: code", "size", "policy", "code_bytes"),
                    ("instructions", "executed", "policy", "instructions"),
                ],
            )
            for target, words in _TARGETS.items()
        ]
    )
    folders = {"eviction-each-program": "all_programs", "eviction-each-program-profiles": "programs_pgo"}
    folders |= {f"eviction-each-program-{target}": f"programs_{target}" for target in _TARGETS}
    for name, folder in folders.items():
        columns = [
            (f"{words}: {measure.replace('_', ' ')}", table, side, measure)
            for side, words in {**_BRIEF_SIDES, **(_ALLOCATION_SIDES if folder == "programs_pgo" else {})}.items()
            for _, table, measure in _RUN
        ]
        found[name] = tables.each_program([(programs(f"regalloc_eviction/{folder}"), columns)])
    found["cold-each-program"] = tables.each_program(
        [
            (
                programs("regalloc_eviction/programs_pgo_cold"),
                [
                    ("code", "run", "cold", "code_bytes"),
                    ("instructions", "run", "cold", "instructions"),
                    ("data references", "run", "cold", "data_references"),
                ],
            )
        ]
    )
    for target in _TARGETS:
        inlining, eviction = (
            programs(f"{policy}/programs_{target}") for policy in ("inlining_for_size", "regalloc_eviction")
        )
        found[f"inlining-programs-{target}"] = tables.programs(inlining, [_SIZES[0], *_EXECUTED[:1]], ["policy"])
        found[f"eviction-programs-{target}"] = tables.programs(eviction, _RUN[:1], _EVICTION_SIDES)
    return found


def _exam(exam: headlines.Exam) -> dict[str, str]:
    """The tables of models/exam."""
    found = {
        "inlining": _exam_code(exam.evaluation("inlining_for_size"), ["trained"]),
        "inlining-icf": _exam_code(exam.evaluation("inlining_for_size_icf"), ["trained"]),
        "inlining-searches": _exam_code(
            exam.evaluation("inlining_for_size_searches"), ["trained", "search_2", "search_8"]
        ),
        "inlining-llvm23": tables.two_majors(
            ("22", exam.evaluation("inlining_for_size_searches")),
            ("23", exam.evaluation("inlining_for_size_searches_llvm23")),
            ["trained", "search_2", "search_8"],
            measured.linked_code,
            EXAM_LANGUAGES,
        ),
        "eviction-llvm23": tables.two_majors(
            ("22", exam.evaluation("regalloc_eviction")),
            ("23", exam.evaluation("regalloc_eviction_llvm23")),
            ["trained", _EXAM_COST],
            measured.weighted_sum,
            EXAM_LANGUAGES,
        ),
        "inlining-programs": tables.programs(exam.programs("programs_inlining"), [*_SIZES[:2], *_EXECUTED], ["policy"]),
        "eviction-programs": tables.programs(exam.programs("programs_eviction"), _RUN, _EXAM_SIDES),
        "eviction-programs-profiles": tables.programs(exam.programs("programs_eviction_pgo"), _RUN, _EXAM_SIDES),
        "speed-programs-profiles": tables.programs(
            exam.programs("programs_speed_pgo"), [("code bytes", "run", "code_bytes"), *_RUN], ["speed"]
        ),
        "cold-programs": tables.programs(
            exam.programs("programs_cold"),
            [("code bytes", "run", "code_bytes"), *_RUN],
            ["cold", "cold_size_policy", "cold_cost"],
        ),
    }
    for name, measure in _LIBRARY_MEASURES.items():
        found[f"eviction-{name}"] = tables.libraries(
            exam.evaluation("regalloc_eviction"), _EXAM_LIBRARY_SIDES, measure, EXAM_LANGUAGES
        )
    named = {f"exam-{name}": table for name, table in found.items()}
    return {"headlines": headlines.table(exam, EXAM_LANGUAGES), **named}


def _exam_code(result: Evaluation, sides: Sequence[str]) -> str:
    thresholds = any(side.name.startswith("threshold_") for corpus in result.corpora for side in corpus.sides)
    return tables.libraries(result, sides, measured.linked_code, EXAM_LANGUAGES, thresholds=thresholds)
