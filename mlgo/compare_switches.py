"""Compares the switches that make programs smaller, alone and together, with plain -Oz.

    ./bazelw run //mlgo:compare_switches                                          # lua and re2, for four targets
    ./bazelw run //mlgo:compare_switches -- --programs=zstd,ninja --targets=aarch64

The rows are in mlgo/evaluation/programs/switches.py: levels, the policy of the release clang, -mlgo-search, the machine
outliner, merging of functions, --icf, LTO. The programs are those of //mlgo:evaluate_programs, built with the release
clang and linked statically with --gc-sections; code is that of a program's own objects in the image. Some rows are also
linked as shared libraries, with the exports that a program's description names: code, stripped file, xz.

Nothing is run: //mlgo:evaluate_programs checks that programs behave the same.

Output, below --output_dir: summary.md, the tables, and result.json, the bytes:
{"kind": "switches", "languages": {PROGRAM: "C" or "C++"}, "bytes": {TARGET: {PROGRAM: {ROW: {NAME: bytes}}}},
"left_out": {TARGET: {PROGRAM: {ROW: reason}}}}. An interrupted command continues when it is started again.

Exit codes: 0 done, 2 wrong flag or input, 11 a row could not be built, 130 interrupted.
"""

import pathlib
from typing import Any

from absl import flags

from mlgo.evaluation.programs import switches
from mlgo.evaluation.programs.building import BuildFailure, Toolchain, build_inputs
from mlgo.evaluation.programs.compilers import linker_beside
from mlgo.evaluation.programs.program import Program
from mlgo.evaluation.programs.target import HOST, target_from_flags
from mlgo.evaluation.sides import Side
from mlgo.flags import counting
from mlgo.flags.main import refuse_arguments, run_command
from mlgo.identity.code import run_identity
from mlgo.identity.programs import program_identity
from mlgo.run import files, locate
from mlgo.run.exit_codes import ExitCode, RunError
from mlgo.run.manifest import digest_of_file, digest_of_json
from mlgo.run.progress import show, tell
from mlgo.run.run_folder import RunFolder

FLAGS = flags.FLAGS

_MEASURED = "measured.json"
_GN_PROGRAMS = "gn_programs"
_TARGETS = [HOST.name, "aarch64", "armv7_thumb", "riscv64"]

counting.define_program_tool_flags()
counting.define_program_choice_flags()
FLAGS.set_default("programs", ["lua", "re2"])
flags.DEFINE_list("targets", _TARGETS, "What programs are built for (platforms/README.md).")
flags.DEFINE_multi_string("row", [], "Row to measure besides -Oz, by its name; repeatable. Default: all.")
flags.DEFINE_string("clang", "//release:clang", "Release clang with the policy inside: a path or a label.")
flags.DEFINE_string("linker", None, "Path of ld.lld for links without LTO. Default: the packaged one.")
flags.DEFINE_integer("workers", None, "Compiles at a time. Default: one per core. Changes no result.", lower_bound=1)
flags.DEFINE_string("output_dir", None, "Folder of the results. Default: out/switches.")


def main(arguments: list[str]) -> int:
    refuse_arguments(arguments)
    catalogue = counting.catalogue_unless_listed()
    if catalogue is None:
        return ExitCode.DONE
    known = [row.name for row in switches.ROWS]
    if unknown := [name for name in FLAGS.row if name not in known]:
        raise RunError(f"--row={unknown[0]}", "is no row", f"Known: {'; '.join(known)}")
    folder = RunFolder(locate.output_directory(FLAGS.output_dir, "switches"), _GN_PROGRAMS)
    programs = counting.chosen_programs(catalogue, folder.path / _GN_PROGRAMS)
    clang = locate.program(FLAGS.clang, "--clang", variable="").resolve()
    comparison = _Comparison(folder, clang, linker_beside(clang))
    names = {"programs": [program.name for program in programs], "targets": FLAGS.targets}
    folder.claim(run_identity({"configuration": names}), grows=("configuration.programs", "configuration.targets"))
    result: dict[str, Any] = {
        "kind": "switches",
        "languages": {each.name: "C++" if each.has_c_plus_plus else "C" for each in programs},
        "bytes": {},
        "left_out": {},
    }
    for name in FLAGS.targets:
        toolchain = counting.toolchain_from_flags(target_from_flags(name))
        for program in programs:
            figures, reasons = comparison.rows(toolchain, program)
            result["bytes"].setdefault(name, {})[program.name] = figures
            if reasons:
                result["left_out"].setdefault(name, {})[program.name] = reasons
    files.write_json_atomically(folder.path / "result.json", result)
    lines = [*switches.table(result["bytes"], result["languages"]), "", *switches.shared_table(result["bytes"])]
    files.write_atomically(folder.path / "summary.md", "".join(f"{line}\n" for line in lines).encode())
    show(lines)
    return ExitCode.TOO_MANY_FAILURES if result["left_out"] else ExitCode.DONE


class _Comparison:
    """Measures programs in stages of `folder`."""

    def __init__(self, folder: RunFolder, clang: pathlib.Path, linker: pathlib.Path):
        self._folder, self._clang, self._linker = folder, clang, linker

    def rows(self, toolchain: Toolchain, program: Program) -> tuple[dict[str, switches.Figures], dict[str, str]]:
        """Row -> its figures, and row -> why there are none."""
        figures: dict[str, switches.Figures] = {}
        reasons: dict[str, str] = {}
        for group in switches.groups(toolchain.target.name, FLAGS.row):
            try:
                figures |= self._group(toolchain, program, group)
            except BuildFailure as error:
                tell(f"{toolchain.target.name}, {program.name}: {error}")
                reasons |= {row.name: str(error) for row in group}
        return figures, reasons

    def _group(
        self, toolchain: Toolchain, program: Program, rows: list[switches.Switches]
    ) -> dict[str, switches.Figures]:
        side = Side(rows[0].name, self._clang, rows[0].flags)
        inputs = {**build_inputs(toolchain, side, program, "-Oz"), "linker": program_identity(self._linker)}
        if program.exports is not None:
            inputs["exports"] = digest_of_file(program.exports)
        configuration = {"rows": [[row.name, *row.link_flags, str(row.lto), row.shared] for row in rows]}

        def work(folder: pathlib.Path) -> dict[str, Any]:
            tell(f"{toolchain.target.name}, {program.name}: {', '.join(row.name for row in rows)}")
            found = switches.measure_group(toolchain, self._clang, self._linker, program, rows)
            files.write_json_atomically(folder / _MEASURED, found)
            return {}

        # By what all of the group are compiled with: more rows may be asked for later.
        compiled = digest_of_json([rows[0].flags, rows[0].lto, configuration])
        place = f"{toolchain.target.name}/{program.name}/{compiled[:16]}"
        self._folder.stage(place, inputs, configuration, work)
        return files.read_json(self._folder.path / place / _MEASURED, f"results of stage {place}", "Delete its folder")


if __name__ == "__main__":
    run_command(main)
