"""Runs one compile inside limits and classifies its outcome."""

import errno
import os
import pathlib
import re
import signal
from collections.abc import Callable, Mapping, Sequence

from mlgo.compiler import empty_object, machine, scratch
from mlgo.compiler.inputs import BITCODE, DECISIONS, INDEX, MODEL, UnusableInput, place_inputs
from mlgo.compiler.process import CANNOT_START, Cancellation, LimitedProcess, ProcessOutcome, wait_for_end
from mlgo.compiler.request import (
    CompileDisturbed,
    CompileFailure,
    CompileLimits,
    CompileOutcome,
    CompileRequest,
    CompileResult,
    FailureKind,
)
from mlgo.compiler.training_log import TrainingLog, TrainingLogError, read_training_log
from mlgo.corpus.command import CommandError
from mlgo.corpus.corpus import CorpusError
from mlgo.run import signals
from mlgo.run.exit_codes import RunError
from mlgo.run.regular_file import read_regular

# Names inside the temporary directory, beside those of the inputs.
OBJECT, _LOG, _TEXT = "module.o", "training.log", "module.ll"

_UNKNOWN_FLAG = re.compile(
    r"Unknown command line argument|unknown argument|Cannot find option named|for the .* option: "
)
_NO_MEMORY = re.compile(r"out of memory|bad_alloc|Cannot allocate memory|cannot allocate memory")
# patches/llvm/22/eviction_answer_outside_mask_is_fatal.patch
_WRONG_ANSWER = re.compile(r"policy answered .* not among the allowed")
# LLVM says so and then crashes on the missing model.
_NO_MODEL = re.compile(r"Could not load the policy model|could not set up the model runner")
# Lines of a crash which say nothing about the cause; the last passes and functions, which do, stay.
_CRASH_BOILERPLATE = re.compile(
    r"^(PLEASE submit a bug report|Stack dump|0\.\tProgram arguments:| ?#\d+ |\d+ +\S+ +0x[0-9a-f]+"
    r"|.*\+0x[0-9a-f]+\)).*\n?",
    re.MULTILINE,
)
_NO_SPACE = re.compile(r"No space left on device|Disk quota exceeded")
# A disk or the system as a whole does not work.
_MACHINE_TROUBLE = re.compile(r"Input/output error|Stale file handle|Too many open files in system")
# Of limited_exec, the compile server and the dynamic linker, which all end with CANNOT_START.
_SHORT_OF_RESOURCES = re.compile(r"Cannot allocate memory|Resource temporarily unavailable|Too many open files")
_DETAIL_CHARACTERS = 600


#: Runs a command in a directory; every runner gives the same outcome and leaves the same files. Raises: Cancelled;
#: CompileDisturbed: the compiler did not come to its own end.
Runner = Callable[[Sequence[str], str, CompileLimits, Cancellation | None], ProcessOutcome]


def run_process(
    command_line: Sequence[str], directory: str, limits: CompileLimits, cancellation: Cancellation | None = None
) -> ProcessOutcome:
    """The runner which starts a process."""
    with start_clang(command_line, directory, limits) as process:
        return wait_for_end(process, limits.wall_seconds, cancellation)


def compile_module(
    request: CompileRequest, cancellation: Cancellation | None = None, run: Runner = run_process
) -> CompileOutcome:
    """Compiles one module, once; returns a failure instead of raising for everything the compiler does wrong.

    Whether the outcome is the module's, `attempts.certain_outcome` decides. `run` changes no result.

    Raises:
      Cancelled; CompileDisturbed: the machine ended the compile.
      OSError: the machine lacks memory or files, or a disk does not work.
      RunError: clang cannot be started, or there is no room for temporary files; both would stop every other compile.
    """
    with scratch.scratch_directory(request.workdir) as directory:
        command_line = prepared(request, directory)
        if isinstance(command_line, CompileFailure):
            return command_line
        outcome = run(command_line, directory, request.limits, cancellation)
        failure = classify(outcome, request, directory)
        if failure is not None or not request.want_log:
            return failure or collect(request, directory, outcome, None)
        name, made = f"training log of {request.module.name}", os.path.join(directory, OBJECT)
        try:
            log = read_training_log(
                os.path.join(directory, _LOG), request.advised_problem, name, lambda: empty_object.is_trivial(made)
            )
        except TrainingLogError as error:
            return request.failure(FailureKind.BAD_LOG, str(error))
        return collect(request, directory, outcome, log)


def prepared(
    request: CompileRequest, directory: str, advisor_flags: Sequence[str] = (), output: str = OBJECT
) -> list[str] | CompileFailure:
    """Places the inputs in `directory`; returns `clang_command`, or why there is none. Raises: see `place_inputs`."""
    try:
        place_inputs(request, directory)
        return clang_command(request, advisor_flags, output)
    except CommandError as error:
        return request.failure(FailureKind.BAD_FLAGS, str(error))
    except (UnusableInput, CorpusError) as error:
        return request.failure(FailureKind.COMPILE_ERROR, str(error))


def collect(
    request: CompileRequest, directory: str, outcome: ProcessOutcome, log: TrainingLog | None
) -> CompileOutcome:
    """The result of a successful compile, from the files in `directory`; a failure when a requested file is missing."""
    files = {}
    for name in (*([OBJECT] if request.want_object else []), *request.extra_files):
        shown = "object" if name == OBJECT else name
        try:
            files[name] = read_regular(os.path.join(directory, name), request.limits.object_bytes)
        except FileNotFoundError:
            return request.failure(FailureKind.COMPILE_ERROR, f"exit code 0, but no {shown} file")
        except OSError as error:
            if machine.is_shortage(error):
                raise
            why = f"exit code 0, but its {shown} file cannot be read: {error.strerror}"
            return request.failure(FailureKind.COMPILE_ERROR, why)
    if request.module.has_thinlto_index and (lost := _lost_module(request, directory)):
        return request.failure(FailureKind.EMPTY_OBJECT, lost)
    return CompileResult(request.module.name, log, files.pop(OBJECT, None), outcome.cpu_seconds, files)


def clang_command(request: CompileRequest, advisor_flags: Sequence[str] = (), output: str = OBJECT) -> list[str]:
    """The whole command of a request, paths relative to the temporary directory that it runs in.

    Args: advisor_flags: come last, for a mode of the advisor that needs neither log nor model.
    """
    needs_advisor = request.want_log or request.model_dir is not None
    flags = [*request.extra_flags, *advisor_flags]
    if needs_advisor:
        flags += request.advised_problem.development_flags(
            _LOG if request.want_log else None, MODEL if request.model_dir is not None else None
        )
    if request.decisions is not None:
        flags += ["-mllvm", f"-{request.advised_problem.decisions_flag}={DECISIONS}"]
    index = INDEX if request.module.has_thinlto_index else None
    arguments = request.module.command.arguments(BITCODE, output, flags, index)
    return [str(request.clang), *arguments]


def _lost_module(request: CompileRequest, directory: str) -> str | None:
    """The error message when a ThinLTO module has definitions and its object, as it is or as clang prints it, none."""
    made = pathlib.Path(directory, OBJECT)
    if not made.is_file() or made.stat().st_size > request.limits.object_bytes:
        return None
    if not empty_object.may_be_empty(content := made.read_bytes()):
        return None
    # With flags that request bitcode instead of an object, the bitcode has the same name.
    if empty_object.is_bitcode(content) and empty_object.defines_something(_printed(request, directory, OBJECT)):
        return None
    if not empty_object.defines_something(_printed(request, directory, BITCODE)):
        return None
    return (
        "exit code 0 and an object without code, though the module defines some: its ThinLTO index says that the link"
        " needed nothing of it, or it is no module that ThinLTO saved after importing"
    )


def _printed(request: CompileRequest, directory: str, bitcode: str) -> str:
    """A module as text; empty when clang cannot read it, or it is too long. Raises: CompileDisturbed."""
    printing = ["-cc1", "-emit-llvm", "-disable-llvm-passes", "-w", "-o", _TEXT, "-x", "ir", bitcode]
    with start_clang([str(request.clang), *printing], directory, request.limits) as process:
        outcome = wait_for_end(process, request.limits.wall_seconds)
    raise_if_disturbed(outcome, request.limits)
    text = pathlib.Path(directory, _TEXT)
    if outcome.exit_code != 0 or text.stat().st_size > request.limits.object_bytes:
        return ""
    return text.read_text("utf-8", "surrogateescape")


def start_clang(command_line: Sequence[str], directory: str, limits: CompileLimits) -> LimitedProcess:
    """Starts the compiler in `directory`. Raises: RunError: the command is too long for this machine."""
    try:
        return LimitedProcess(
            command_line,
            directory,
            {**compiler_environment(), "TMPDIR": directory},
            limits.cpu_seconds,
            limits.address_space_bytes,
            limits.log_bytes,
        )
    except OSError as error:
        if error.errno != errno.E2BIG:
            raise
        # Of this machine: commands have a limit of their own (mlgo/corpus/command_length.py).
        wrong = "cannot be started: this machine's limit for a command and the environment is too low"
        remedy = "Raise it with `ulimit -s 8192`, or make PATH shorter"
        raise RunError(f"compiler {command_line[0]}", wrong, remedy) from error


def compiler_environment() -> Mapping[str, str]:
    """What a compiler sees of the environment, beside TMPDIR, which is the directory that it works in."""
    return {
        "LC_ALL": "C",
        "PATH": os.environ.get("PATH", os.defpath),
        # LLVM folds calls such as exp(1.5) by the C library's functions, which exist with and without FMA.
        "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-FMA,-FMA4",
        # A crash would otherwise spend seconds on a stack trace, which is not used.
        "LLVM_DISABLE_SYMBOLIZATION": "1",
    }


def raise_if_disturbed(outcome: ProcessOutcome, limits: CompileLimits) -> None:
    """Raises: CompileDisturbed: the machine ended the compiler or kept it from starting; it was none of its limits."""
    said = outcome.stderr.strip()[-_DETAIL_CHARACTERS:]
    if outcome.exit_code == CANNOT_START and _SHORT_OF_RESOURCES.search(outcome.stderr):
        raise CompileDisturbed("too few resources to start a compiler", said)
    if outcome.exit_code != 0 and (trouble := _MACHINE_TROUBLE.search(outcome.stderr)):
        raise CompileDisturbed(trouble[0], said)
    if outcome.hung or _reached_cpu_limit(outcome, limits):
        return
    if (name := signals.from_outside(outcome.exit_code)) is not None:
        raise CompileDisturbed(f"{name} from outside", said)


def _reached_cpu_limit(outcome: ProcessOutcome, limits: CompileLimits) -> bool:
    # The kernel sends SIGKILL to a process that goes on after SIGXCPU.
    killed = outcome.exit_code == -signal.SIGKILL and outcome.cpu_seconds >= limits.cpu_seconds
    return killed or outcome.exit_code == -signal.SIGXCPU


def classify(
    outcome: ProcessOutcome, request: CompileRequest, directory: str, awaited: str = "end"
) -> CompileFailure | None:
    """The failure that a compiler's end means, or None when it ended well.

    Args: directory: its temporary directory, for messages; awaited: what did not come from a compiler that hung.
    Raises: CompileDisturbed: the machine ended it; RunError: it cannot be started, or temporary files have no room.
    """
    if _NO_SPACE.search(outcome.stderr):
        subject = f"temporary directory {directory} while compiling {request.module.name}"
        raise RunError(subject, "no space is left there", "free space, use fewer workers, or set TMPDIR")
    raise_if_disturbed(outcome, request.limits)
    if outcome.exit_code == CANNOT_START:
        wrong = f"cannot be started: {outcome.stderr.strip()}"
        raise RunError(f"compiler {request.clang}", wrong, "give the path of a clang executable")

    def failure(kind: FailureKind, what: str, exit_code: int | None = None) -> CompileFailure:
        said = _CRASH_BOILERPLATE.sub("", outcome.stderr).strip()
        said = said if len(said) <= _DETAIL_CHARACTERS else said[:_DETAIL_CHARACTERS] + " ..."
        return request.failure(kind, f"{what}: {said}" if said else what, exit_code)

    limits = request.limits
    if outcome.hung:
        return failure(FailureKind.TIMEOUT, f"it hung: no {awaited} after {limits.wall_seconds:g} s")
    if outcome.exit_code == 0:
        return None
    if _NO_MEMORY.search(outcome.stderr):
        return failure(FailureKind.OUT_OF_MEMORY, f"it needed more than {limits.address_space_bytes} bytes")
    if _WRONG_ANSWER.search(outcome.stderr):
        return failure(FailureKind.WRONG_ANSWER, f"exit code {outcome.exit_code}")
    if request.model_dir is not None and _NO_MODEL.search(outcome.stderr):
        return failure(FailureKind.COMPILE_ERROR, f"it cannot load the model {request.model_dir}")
    if outcome.exit_code > 0:
        kind = FailureKind.BAD_FLAGS if _UNKNOWN_FLAG.search(outcome.stderr) else FailureKind.COMPILE_ERROR
        return failure(kind, f"exit code {outcome.exit_code}", outcome.exit_code)
    if _reached_cpu_limit(outcome, limits):
        return failure(FailureKind.TIMEOUT, f"it used more than {limits.cpu_seconds} CPU seconds")
    if outcome.exit_code == -signal.SIGXFSZ:
        return failure(FailureKind.BAD_LOG, f"it wrote a file of more than {limits.log_bytes} bytes")
    return failure(FailureKind.CRASH, signals.name_of(-outcome.exit_code), outcome.exit_code)
