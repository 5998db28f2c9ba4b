"""Makes a corpus of real programs, compiled with profiles: what a policy sees in builds with -fprofile-use.

    ./bazelw run //mlgo:program_corpus -- --programs=lua,brotli --output_dir=profiled
    ./bazelw run //mlgo:program_corpus -- --program_file=my.json --level=-Oz
    ./bazelw run //mlgo:train_regalloc -- --train_corpus=profiled/corpus

The programs are those of //mlgo:evaluate_programs. Each is built with instrumentation, does its training runs, whose
inputs are not the measured ones, and is compiled with the profile that they give; the modules carry it. --nopgo leaves
all that out. A program without training runs is left out.

Output, below --output_dir: profile/, parts/ with a corpus of each program, and corpus/, all of them as one. An
interrupted command continues when it is started again.

Exit codes: 0 done, 2 wrong flag or input, 10 no program is left, 11 a program was left out, 130 interrupted.
"""

import pathlib
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from typing import Any

from absl import flags

from mlgo.corpus import combination
from mlgo.corpus.extraction.extraction import Extraction, extract
from mlgo.evaluation.programs.building import EMBEDDED, BuildFailure, Toolchain, build_inputs, compile_objects
from mlgo.evaluation.programs.evaluation import ProgramEvaluation
from mlgo.evaluation.programs.profiles import profile_tools, with_profiles
from mlgo.evaluation.programs.program import Program
from mlgo.evaluation.programs.target import HOST
from mlgo.evaluation.sides import Side
from mlgo.flags import counting
from mlgo.flags.main import refuse_arguments, run_command
from mlgo.identity.code import run_identity
from mlgo.run import locate, progress
from mlgo.run.exit_codes import ExitCode, RunError
from mlgo.run.progress import tell
from mlgo.run.run_folder import RunFolder

FLAGS = flags.FLAGS

_CORPUS = "corpus"

counting.define_program_tool_flags()
counting.define_program_choice_flags()
flags.DEFINE_enum("level", "-O2", ("-O1", "-O2", "-O3", "-Os", "-Oz"), "Optimisation level, also of the profiled runs.")
flags.DEFINE_bool("pgo", True, "Compile with profiles of the programs' training runs.")
flags.DEFINE_string("linker", None, "Path of ld.lld. Default: the packaged one.")
flags.DEFINE_integer("workers", None, "Parallel compiles. Default: one per core. Changes no result.", lower_bound=1)
flags.DEFINE_string("output_dir", None, "Folder of the corpus. Default: out/program_corpus.")


def main(arguments: list[str]) -> int:
    refuse_arguments(arguments)
    catalogue = counting.catalogue_unless_listed()
    if catalogue is None:
        return ExitCode.DONE
    folder = RunFolder(locate.output_directory(FLAGS.output_dir, "program_corpus"))
    programs = counting.chosen_programs(catalogue, folder.work)
    toolchain = counting.toolchain_from_flags()
    # Else programs of an earlier command would stay in the combined corpus.
    settings = {"programs": [program.name for program in programs], "level": FLAGS.level, "pgo": FLAGS.pgo}
    folder.claim(run_identity({**settings, "toolchain": toolchain.digest()}))
    left_out: dict[str, str] = {}
    if FLAGS.pgo:
        evaluation = ProgramEvaluation(folder, toolchain)
        programs, left_out = with_profiles(evaluation, programs, [FLAGS.level], profile_tools(HOST))
    parts = _parts(folder, toolchain, programs, left_out)
    for name, reason in left_out.items():
        tell(f"left out {name}: {reason}")
    if not parts:
        wrong = "cannot be compiled, or have no training runs (mlgo/evaluation/programs/README.md)"
        raise RunError("the programs", wrong, "Name others", ExitCode.NOTHING_PRODUCED)
    output = folder.path / _CORPUS
    shutil.rmtree(output, ignore_errors=True)  # An interrupted command may have left a part of it.
    made = combination.combine_copies(output, parts)
    tell(f"done {sum(made.values()):,} modules of {len(made)} programs -> {output}")
    return ExitCode.TOO_MANY_FAILURES if left_out else ExitCode.DONE


def _parts(
    folder: RunFolder, toolchain: Toolchain, programs: Sequence[Program], left_out: dict[str, str]
) -> dict[str, pathlib.Path]:
    """Makes a corpus of each program; returns their folders by program, and adds failures to `left_out`."""
    made = {}
    bar = progress.start("corpora", len(programs), "programs")
    for program in programs:
        try:
            made[program.name] = _part(folder, toolchain, program)
        except BuildFailure as error:
            left_out[program.name] = str(error)
        bar.advance()
    bar.close()
    return made


def _part(folder: RunFolder, toolchain: Toolchain, program: Program) -> pathlib.Path:
    side = Side("default", toolchain.driver)
    roots = tuple(profile.parent for profile in program.profiles.values())  # The corpus carries them.

    def work(stage: pathlib.Path) -> Mapping[str, Any]:
        with tempfile.TemporaryDirectory(prefix="mlgo-objects-") as scratch:
            objects = pathlib.Path(scratch)
            compile_objects(toolchain, side, program, objects, FLAGS.level, EMBEDDED)
            output = stage / _CORPUS
            extract(Extraction(output, input=objects, input_type="directory", verbosity="ERROR", allow_file_root=roots))
        return {}

    inputs = build_inputs(toolchain, side, program, FLAGS.level)
    stage = f"parts/{program.name}"
    folder.stage(stage, inputs, {"level": FLAGS.level}, work)
    return folder.path / stage / _CORPUS


if __name__ == "__main__":
    run_command(main)
