"""Modules with a profile."""


def profiled(module: str, calls: int, hot_from: int | None) -> str:
    """IR whose functions were called so often.

    Args: hot_from: the smallest hot count of the profile's summary; None: there is no summary.
    """
    text = module.replace(" {\n", " !prof !99 {\n") + f'!99 = !{{!"function_entry_count", i64 {calls}}}\n'
    if hot_from is None:
        return text
    numbers = ("TotalCount", "MaxCount", "MaxInternalCount", "MaxFunctionCount", "NumCounts", "NumFunctions")
    fields = ['!{!"ProfileFormat", !"InstrProf"}', *(f'!{{!"{name}", i64 9}}' for name in numbers)]
    counts = [f"!{{i32 {cutoff}, i64 {hot_from}, i32 1}}" for cutoff in (10_000, 990_000, 999_999)]
    fields.append(f'!{{!"DetailedSummary", !{{{", ".join(counts)}}}}}')
    text = text.replace("!llvm.module.flags = !{", "!llvm.module.flags = !{!98, ")
    return text + f'!98 = !{{i32 1, !"ProfileSummary", !{{{", ".join(fields)}}}}}\n'
