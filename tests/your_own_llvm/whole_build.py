"""Builds opt and llc by LLVM's own CMake files, with our policies in them, and compares them with ours.

    ./bazelw run //tests/your_own_llvm:whole_build

The policies get in by both ways that LLVM's files have: first as the headers and objects of `cmake_models`, then as
SavedModels which TensorFlow compiles. After an interruption the same command goes on. LLVM itself is compiled at -O0,
because its decisions do not depend on that, in half the time.
"""

import argparse
import pathlib
import resource
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence

from mlgo.run.exit import RESUMABLE, exit_code_of
from mlgo.run.exit_codes import RunError
from mlgo.run.files import write_atomically
from mlgo.run.locate import output_directory, rlocation, runfile
from tests.your_own_llvm.agreement import Programs, compare

_OPTIONS = {
    "CMAKE_BUILD_TYPE": "Release",
    "CMAKE_C_FLAGS_RELEASE": "-O0 -DNDEBUG",
    "CMAKE_CXX_FLAGS_RELEASE": "-O0 -DNDEBUG",
    "LLVM_DEFAULT_TARGET_TRIPLE": "x86_64-pc-linux-gnu",
    "LLVM_ENABLE_BINDINGS": "OFF",
    "LLVM_ENABLE_LIBXML2": "OFF",
    "LLVM_ENABLE_ZLIB": "OFF",
    "LLVM_ENABLE_ZSTD": "OFF",
    "LLVM_INCLUDE_BENCHMARKS": "OFF",
    "LLVM_INCLUDE_DOCS": "OFF",
    "LLVM_INCLUDE_EXAMPLES": "OFF",
    "LLVM_INCLUDE_TESTS": "OFF",
    "LLVM_TARGETS_TO_BUILD": "X86",
    "LLVM_USE_LINKER": "lld",
}
_SAVED_MODEL_CLI = """\
#!/bin/sh
# TensorFlow's compiler of SavedModels, with the Python and the packages of this workspace.
PYTHONPATH={path} exec {python} -c "from tensorflow.python.tools.saved_model_cli import main; main()" "$@"
"""


class WholeBuild:
    """A build of LLVM in `folder`, which stays from run to run.

    Attributes:
      files: flag -> file of the build that it names (see `_parser`).
    """

    def __init__(self, folder: pathlib.Path, files: Mapping[str, pathlib.Path]):
        self.folder, self.files = folder, files

    def as_objects(self) -> None:
        """With the headers and objects of `cmake_models`. Raises: see `_build`."""
        if self._models.exists():
            shutil.rmtree(self._models)
        # The files of Bazel's folder may be links.
        shutil.copytree(runfile("tests/your_own_llvm/models/mlgo.cmake").parent, self._models)
        self._build("headers_and_objects", {}, ["-C", self._models / "mlgo.cmake"])

    def as_saved_models(self) -> None:
        """With SavedModels, and TensorFlow's headers and runtime as pip installs them. Raises: see `_build`."""
        # The same folder as before: LLVM's files give it to every compile, so another one would compile LLVM again.
        tensorflow = self._models / "runtime"
        shutil.rmtree(tensorflow)
        tensorflow.mkdir()
        (tensorflow / "include").symlink_to(self.files["tensorflow_include"])
        (tensorflow / "xla_aot_runtime_src").symlink_to(self.files["xla_aot_runtime_src"])
        compiler = self.folder / "saved_model_cli"
        path = ":".join(entry for entry in sys.path if entry)
        compiler.write_text(
            _SAVED_MODEL_CLI.format(path=shlex.quote(path), python=shlex.quote(sys.executable)), encoding="utf-8"
        )
        compiler.chmod(0o755)
        given = {
            "LLVM_INLINER_MODEL_PATH": _policy("tests/policies/stock_inlining_policy"),
            "LLVM_RAEVICT_MODEL_PATH": _policy("models/regalloc_eviction/policy"),
            "TENSORFLOW_AOT_COMPILER": str(compiler),
        }
        # LLVM's files take an empty value for a given one, and then compile no model.
        self._build("saved_models", given, ["-ULLVM_OVERRIDE_MODEL_*"])

    @property
    def _models(self) -> pathlib.Path:
        return self.folder / "models"

    def _build(self, way: str, options: Mapping[str, str], more: Sequence[object] = ()) -> None:
        """Configures LLVM, builds opt and llc, and compares them with ours.

        Raises: RunError: CMake or the build fails. AssertionError: see `compare`.
        """
        result = self.folder / f"{way}.txt"
        if result.exists():
            print(result.read_text(encoding="utf-8"), end="", flush=True)
            return
        began, before = time.monotonic(), _cpu_seconds()
        sysroot = self.files["sysroot"].parent
        # Without it clang finds the headers below a link, /lib/gcc/..., and Ninja takes `..` for the folder before the
        # link: it would not find them again, and compile everything anew.
        libraries = f"--gcc-install-dir={sysroot}/usr/lib/gcc/x86_64-linux-gnu/12"
        fixed = _OPTIONS | {
            "CMAKE_C_COMPILER": self.files["clang"],
            "CMAKE_CXX_COMPILER": self.folder / "clang++",
            "CMAKE_CXX_FLAGS": libraries,
            "CMAKE_C_FLAGS": libraries,
            "CMAKE_MAKE_PROGRAM": self.files["ninja"],
            "CMAKE_SYSROOT": sysroot,
            "Python3_EXECUTABLE": sys.executable,
        }
        build, source = self.folder / "build", self.files["source"].parent / "llvm"
        settings = [f"-D{name}={value}" for name, value in {**fixed, **options}.items()]
        _run([self.files["cmake"], "-G", "Ninja", "-S", source, "-B", build, *more, *settings])
        _run([self.files["ninja"], "-C", build, "opt", "llc"])
        ours = Programs(runfile("tests/your_own_llvm/opt"), runfile("tests/your_own_llvm/llc"))
        with tempfile.TemporaryDirectory() as scratch:
            compared = compare(Programs(build / "bin/opt", build / "bin/llc"), ours, pathlib.Path(scratch))
        took = f"{time.monotonic() - began:.0f} s, {_cpu_seconds() - before:.0f} CPU s"
        said = f"{way}: {compared} of 24 outputs could be compared, and equal those of our opt and llc; {took}\n"
        write_atomically(result, said.encode())
        print(said, end="", flush=True)


def _run(command: Sequence[object]) -> None:
    words = [str(word) for word in command]
    if code := subprocess.run(words, check=False).returncode:
        raise RunError(shlex.join(words[:4]), f"ends with code {code}", "See its messages above")


def _policy(folder: str) -> str:
    return str(runfile(f"{folder}/saved_model.pb").resolve().parent)


def _cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output_dir", help="folder of the build, 3 GB; default: out/own_llvm")
    for name in ("source", "clang", "cmake", "ninja", "sysroot", "tensorflow_include", "xla_aot_runtime_src"):
        parser.add_argument(f"--{name}", type=rlocation, required=True, help=argparse.SUPPRESS)
    return parser


def main(arguments: list[str]) -> int:
    flags = vars(_parser().parse_args(arguments))
    folder = output_directory(flags.pop("output_dir"), "own_llvm")
    folder.mkdir(parents=True, exist_ok=True)
    files = {name: path.resolve() for name, path in flags.items()}
    # The driver is C++'s by its name.
    (folder / "clang++").unlink(missing_ok=True)
    (folder / "clang++").symlink_to(files["clang"])
    whole = WholeBuild(folder, files)
    whole.as_objects()
    whole.as_saved_models()
    return 0


if __name__ == "__main__":
    sys.exit(exit_code_of(lambda: main(sys.argv[1:]), RESUMABLE))
