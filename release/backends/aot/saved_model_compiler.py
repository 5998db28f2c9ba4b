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
from collections.abc import Mapping

from mlgo.policy.checks import FEATURE_REMEDY, features_fault
from mlgo.problems.problem import Problem, TensorSpec, load_problem
from mlgo.run.exit_codes import ExitCode, RunError
from release.backends.aot.weight_checks import graph_fault, variables_fault

TAG = "serve"
SIGNATURE = "action"
TARGET_TRIPLE = "x86_64-pc-linux-gnu"
#: The baseline every x86-64 machine has: no FMA, so a product is rounded before it is added, as in TensorFlow Lite.
TARGET_CPU = "x86-64"

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


def signature_mismatch(
    inputs: Mapping[str, tuple[str, tuple[int, ...]]],
    outputs: Mapping[str, tuple[str, tuple[int, ...]]],
    problem: Problem,
) -> str | None:
    """Why a compiler cannot use a signature for `problem`, as a clause; None if it can.

    Args: name -> (numpy dtype name, shape) of the signature's inputs and outputs; an unknown size is -1.
    """
    known = {spec.name: spec for spec in problem.observation_specs}
    if clause := features_fault(tuple(sorted(inputs)), problem):
        return clause
    for name in sorted(inputs):
        if clause := _mismatch(inputs[name], known[name]):
            return f"has the input {name!r} {clause}"
    if problem.mask_feature is not None and problem.mask_feature not in inputs:
        return f"ignores {problem.mask_feature!r}, so its decisions could be forbidden ones"
    if sorted(outputs) != [problem.action_spec.name]:
        return f"has the outputs {sorted(outputs)} instead of {[problem.action_spec.name]}"
    if clause := _mismatch(outputs[problem.action_spec.name], problem.action_spec):
        return f"has the output {problem.action_spec.name!r} {clause}"
    return None


def _mismatch(found: tuple[str, tuple[int, ...]], wanted: TensorSpec) -> str | None:
    if found == (wanted.dtype, wanted.shape):
        return None
    return f"as {found[0]}{list(found[1])} instead of {wanted.dtype}{list(wanted.shape)}"


def compile_saved_model(
    policy: pathlib.Path, problem: Problem, cpp_class: str, header: pathlib.Path, object_file: pathlib.Path
) -> None:
    """Writes `header` and `object_file`; leaves the working directory in a removed folder.

    Raises: RunError: `policy` is not a SavedModel, or not one of a policy for `problem`.
    """
    from tensorflow.python.tools import saved_model_aot_compile, saved_model_utils  # Slow to import.

    what = f"the policy {policy / 'saved_model.pb'}"
    try:
        meta_graph = saved_model_utils.get_meta_graph_def(str(policy), TAG)
    except Exception as error:  # The reader raises exceptions of many types; all mean the same here.
        raise RunError(what, f"cannot be read as a SavedModel ({_one_line(error)})", remedy(problem)) from error
    if SIGNATURE not in meta_graph.signature_def:
        found = sorted(meta_graph.signature_def)
        raise RunError(what, f"has no signature {SIGNATURE!r} (only {found})", remedy(problem))
    signature = meta_graph.signature_def[SIGNATURE]
    if clause := signature_mismatch(_described(signature.inputs), _described(signature.outputs), problem):
        lacking = features_fault(tuple(signature.inputs), problem)
        raise RunError(what, clause, FEATURE_REMEDY if lacking else remedy(problem))
    if clause := graph_fault(meta_graph.graph_def):
        raise RunError(what, clause, remedy(problem))
    variables = policy / "variables" / "variables"
    if clause := variables_fault(meta_graph.graph_def, variables):
        raise RunError(f"the policy's weights {variables}.*", clause, remedy(problem))

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
            raise RunError(what, f"cannot be compiled ahead of time ({_one_line(error)})", remedy(problem)) from error
        shutil.copyfile("policy.h", header)
        shutil.copyfile("policy.o", object_file)


def _described(tensors) -> dict[str, tuple[str, tuple[int, ...]]]:
    """(dtype name, shape) of each TensorInfo of one side of a signature."""
    import tensorflow as tf

    return {
        name: (tf.dtypes.as_dtype(info.dtype).name, tuple(dimension.size for dimension in info.tensor_shape.dim))
        for name, info in tensors.items()
    }


def _one_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__


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
