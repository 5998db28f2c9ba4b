"""Compiles the SavedModel of a policy to an object file and a C++ header, with TensorFlow's ahead-of-time compiler.

    aot --policy=DIR --problem=regalloc_eviction --cpp_class=mlgo::EvictionPolicy --header=OUT.h --object=OUT.o

DIR holds saved_model.pb. The same SavedModel gives the same bytes on every machine: instructions are those of plain x86-64,
one thread, and no path or time reaches the outputs. What can be wrong with a policy is said in one sentence before compiling.
"""

import argparse
import contextlib
import os
import pathlib
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping

from mlgo.problems.problem import Problem, TensorSpec, load_problem
from mlgo.run.exit_codes import ExitCode, RunError

TAG = "serve"
SIGNATURE = "action"
TARGET_TRIPLE = "x86_64-pc-linux-gnu"
#: The baseline every x86-64 machine has: no FMA, so a product is rounded before it is added, as in TensorFlow Lite.
TARGET_CPU = "x86-64"

_REMEDY = "Name the directory `policy` of a training run with --//release:eviction_policy, or eviction_policy of mlgo_clang"

#: Kernels compiled for some instruction sets only, and threads, must not decide what constants are folded to.
_ENVIRONMENT = {
    "TF_CPP_MIN_LOG_LEVEL": "3",
    "TF_ENABLE_ONEDNN_OPTS": "0",
    "TF_NUM_INTEROP_THREADS": "1",
    "TF_NUM_INTRAOP_THREADS": "1",
    "CUDA_VISIBLE_DEVICES": "",
}


def signature_mismatch(
    inputs: Mapping[str, tuple[str, tuple[int, ...]]],
    outputs: Mapping[str, tuple[str, tuple[int, ...]]],
    problem: Problem,
) -> str | None:
    """What keeps a compiler of `problem` from using a signature, as a clause; None when nothing does.

    Args: name -> (numpy dtype name, shape) of the signature's inputs and outputs; an unknown size is -1.
    """
    known = {spec.name: spec for spec in problem.observation_specs}
    for name in sorted(inputs):
        if name not in known:
            return f"has the input {name!r}, which the compiler does not know (it knows {', '.join(sorted(known))})"
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


def compile_policy(
    policy: pathlib.Path, problem: Problem, cpp_class: str, header: pathlib.Path, object_file: pathlib.Path
) -> None:
    """Writes `header` and `object_file`.

    Raises: RunError: `policy` is not a SavedModel, or not one of a policy for `problem`.
    """
    if not (policy / "saved_model.pb").is_file():
        found = sorted(entry.name for entry in policy.iterdir())[:5] if policy.is_dir() else "no directory"
        raise RunError(f"the policy {policy}", f"is not a SavedModel: saved_model.pb is missing (found {found})", _REMEDY)
    os.environ.update(_ENVIRONMENT)
    with _native_messages_dropped():
        _compile_saved_model(policy, problem, cpp_class, header, object_file)


def _compile_saved_model(
    policy: pathlib.Path, problem: Problem, cpp_class: str, header: pathlib.Path, object_file: pathlib.Path
) -> None:
    from tensorflow.python.tools import saved_model_aot_compile, saved_model_utils  # slow: after what can be checked without

    try:
        meta_graph = saved_model_utils.get_meta_graph_def(str(policy), TAG)
    except Exception as error:  # Its reader raises what its parts raise; all of them mean the same here.
        raise RunError(f"the policy {policy}", f"cannot be read as a SavedModel ({_one_line(error)})", _REMEDY) from error
    if SIGNATURE not in meta_graph.signature_def:
        found = sorted(meta_graph.signature_def)
        raise RunError(f"the policy {policy}", f"has no signature {SIGNATURE!r} (only {found})", _REMEDY)
    signature = meta_graph.signature_def[SIGNATURE]
    if clause := signature_mismatch(_described(signature.inputs), _described(signature.outputs), problem):
        raise RunError(f"the policy {policy}", clause, _REMEDY)

    with _scratch_directory() as scratch:
        try:
            saved_model_aot_compile.aot_compile_cpu_meta_graph_def(
                checkpoint_path=str(policy / "variables" / "variables"),
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
            raise RunError(f"the policy {policy}", f"cannot be compiled ahead of time ({_one_line(error)})", _REMEDY) from error
        shutil.copyfile(scratch / "policy.h", header)
        shutil.copyfile(scratch / "policy.o", object_file)


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


@contextlib.contextmanager
def _native_messages_dropped() -> Iterator[None]:
    """TensorFlow's C++ writes to file descriptor 2 whatever the log level says; what matters comes as exceptions."""
    sys.stderr.flush()
    kept = os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


@contextlib.contextmanager
def _scratch_directory() -> Iterator[pathlib.Path]:
    """An empty working directory, left and removed at the end."""
    before = os.getcwd()
    with tempfile.TemporaryDirectory(prefix="mlgo_aot_") as name:
        os.chdir(name)
        try:
            yield pathlib.Path(name)
        finally:
            os.chdir(before)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--policy", type=pathlib.Path, required=True, help="directory of the SavedModel")
    parser.add_argument("--problem", default="regalloc_eviction", help="folder below mlgo/problems (default: %(default)s)")
    parser.add_argument("--cpp_class", required=True, help="name of the C++ class, with its namespace")
    parser.add_argument("--header", type=pathlib.Path, required=True, help="C++ header to write")
    parser.add_argument("--object", type=pathlib.Path, required=True, help="object file to write")
    flags = parser.parse_args(arguments)
    try:
        compile_policy(
            flags.policy.resolve(), load_problem(flags.problem), flags.cpp_class, flags.header.resolve(), flags.object.resolve()
        )
    except RunError as error:
        print(f"aot: {error}", file=sys.stderr)
        return error.exit_code
    return ExitCode.DONE


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
