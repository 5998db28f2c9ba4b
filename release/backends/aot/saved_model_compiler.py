"""The part of aot_policy.py that calls TensorFlow. It runs in its own process, which TensorFlow's C++ code may abort.

    saved_model_compiler --policy=DIR --problem=NAME --cpp_class=CLASS --header=OUT.h --object=OUT.o

A fault of the policy is written to stdout as a JSON list [subject, wrong, remedy]. TensorFlow's own messages go to
stderr.
"""

import argparse
import json
import os
import pathlib
import shutil
import sys
import tempfile

from mlgo.policy.saved_model_signature import SIGNATURE, one_line, read_checked
from mlgo.problems.problem import Problem, load_problem
from mlgo.run.exit_codes import ExitCode, RunError

#: The processor is the baseline that all x86-64 machines have: without FMA a product is rounded before it is added, as
#: in TensorFlow Lite.
TARGET_TRIPLE, TARGET_CPU = "x86_64-pc-linux-gnu", "x86-64"

#: Constant folding must not depend on the machine's instruction set or on the number of threads.
_ENVIRONMENT = {
    "TF_CPP_MIN_LOG_LEVEL": "3",
    "TF_ENABLE_ONEDNN_OPTS": "0",
    "TF_NUM_INTEROP_THREADS": "1",
    "TF_NUM_INTRAOP_THREADS": "1",
    "CUDA_VISIBLE_DEVICES": "",
}


def remedy(problem: Problem) -> str:
    """How to name a policy for `problem`."""
    setting = problem.release_setting or f"//release:{problem.name}"
    slot = setting.partition(":")[2]
    return f"Name the directory `policy` of a training run with --{setting}, or {slot} of mlgo_clang"


def compile_saved_model(
    policy: pathlib.Path, problem: Problem, cpp_class: str, header: pathlib.Path, object_file: pathlib.Path
) -> None:
    """Writes `header` and `object_file`; leaves the working directory in a removed folder.

    Raises: RunError: `policy` is not a SavedModel, or not one of a policy for `problem`.
    """
    from tensorflow.python.tools import saved_model_aot_compile  # Slow to import.

    what = f"the policy {policy / 'saved_model.pb'}"
    meta_graph = read_checked(policy, problem, remedy(problem))
    variables = policy / "variables" / "variables"
    with tempfile.TemporaryDirectory(prefix="mlgo_aot_") as scratch:
        os.chdir(scratch)
        try:
            saved_model_aot_compile.aot_compile_cpu_meta_graph_def(
                checkpoint_path=str(variables),
                meta_graph_def=meta_graph,
                # Relative: the name of the compiled function is made from it.
                output_prefix="policy",
                signature_def_key=SIGNATURE,
                cpp_class=cpp_class,
                target_triple=TARGET_TRIPLE,
                target_cpu=TARGET_CPU,
                multithreading=False,
            )
        except Exception as error:
            raise RunError(what, f"cannot be compiled ahead of time ({one_line(error)})", remedy(problem)) from error
        shutil.copyfile("policy.h", header)
        shutil.copyfile("policy.o", object_file)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--policy", type=pathlib.Path, required=True, help="directory of the SavedModel; absolute")
    parser.add_argument("--problem", required=True, help="folder below mlgo/problems")
    parser.add_argument("--cpp_class", required=True, help="name of the C++ class, with its namespace")
    parser.add_argument("--header", type=pathlib.Path, required=True, help="C++ header to write; absolute")
    parser.add_argument("--object", type=pathlib.Path, required=True, help="object file to write; absolute")
    flags = parser.parse_args(arguments)
    os.environ.update(_ENVIRONMENT)
    try:
        compile_saved_model(flags.policy, load_problem(flags.problem), flags.cpp_class, flags.header, flags.object)
    except RunError as error:
        json.dump([error.subject, error.wrong, error.remedy], sys.stdout)
        return error.exit_code
    return ExitCode.DONE


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
