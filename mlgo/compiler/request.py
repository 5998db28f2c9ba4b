"""A request for one compile, and its possible outcomes."""

import dataclasses
import enum
import functools
import pathlib

from mlgo.compiler.code_size import ObjectCode, code_of_object
from mlgo.compiler.training_log import TrainingLog
from mlgo.corpus.corpus import Module
from mlgo.problems.problem import Problem


class FailureKind(enum.Enum):
    """Why a module gives no result, as summaries print it. What the machine does to a compile is a CompileDisturbed."""

    CRASH = "crash"  #: the compiler died of a signal it raised itself (assertion, segmentation fault, fatal error).
    TIMEOUT = "timeout"  #: it used more CPU time than allowed, or hung without using any.
    OUT_OF_MEMORY = "out_of_memory"  #: it asked for more address space than allowed.
    BAD_FLAGS = "bad_flags"  #: it does not know a flag: no ML support, another LLVM, or a broken recorded command.
    COMPILE_ERROR = "compile_error"  #: it refused its input or its model with an error message.
    WRONG_ANSWER = "wrong_answer"  #: the policy gave an answer which the compiler may not follow.
    EMPTY_OBJECT = "empty_object"  #: it lost a ThinLTO module that has definitions (mlgo/compiler/empty_object.py).
    BAD_LOG = "bad_log"  #: its log, or its output on the interactive channel, is missing, damaged or another problem's.
    UNSTABLE = "unstable"  #: it failed in a different way each time (mlgo/compiler/attempts.py).


class CompileDisturbed(Exception):
    """The machine ended a compile, or could not start it; this says nothing about the module."""

    def __init__(self, reason: str, detail: str = ""):
        super().__init__(f"{reason}: {detail}" if detail else reason)
        self.reason = reason  #: a few words that are counted, such as "SIGKILL from outside".


@dataclasses.dataclass(frozen=True)
class CompileLimits:
    """What one compile may use. The limit is CPU time: that of wall clock only stops what waits for ever (hang.py)."""

    cpu_seconds: int = 300  #: of the compiler process; LLVM's slowest unit at -O2 takes about 60 s here.
    address_space_bytes: int = 8 * 1024**3  #: virtual memory of each process.
    log_bytes: int = 4 * 1024**3  #: size of any file it writes, the training log above all.
    #: size of any file that is read as a whole. Objects of large C++ units with debug information have 100 MB.
    object_bytes: int = 512 * 1024**2
    wall_factor: float = 10.0  #: a compile that does nothing for `wall_factor * cpu_seconds` is hung.

    def __post_init__(self):
        for field in dataclasses.fields(self):
            if getattr(self, field.name) <= 0:
                raise ValueError(f"limit {field.name}={getattr(self, field.name)} must be positive")

    @property
    def wall_seconds(self) -> float:
        return self.wall_factor * self.cpu_seconds


@dataclasses.dataclass(frozen=True)
class CompileRequest:
    """One compile of one module, as it is or under one problem's advisor.

    Raises: ValueError: its settings contradict each other; the message names the module.
    """

    clang: pathlib.Path
    module: Module
    problem: Problem | None = None  #: whose decisions are logged or made by a model; None: without log and model.
    model_dir: pathlib.Path | None = None  #: TFLite model that decides; None: the compiler's default heuristic.
    #: content of a file of decisions by call site (mlgo/search/decision_file.py), which precede the model's and the
    #: heuristic's.
    decisions: bytes | None = None
    want_log: bool = True  #: whether decisions are logged and read. A request needs a log, an object, or both.
    want_object: bool = False
    extra_flags: tuple[str, ...] = ()  #: of cc1, put after the module's own and before the problem's.
    extra_files: tuple[str, ...] = ()  #: names, without folder, of files that `extra_flags` write; all are returned.
    limits: CompileLimits = CompileLimits()
    workdir: pathlib.Path | None = None  #: where the temporary directory is made; None: see `scratch_directory`.

    def __post_init__(self):
        wrong = None
        if not (self.want_log or self.want_object or self.model_dir):
            wrong = "neither a log nor an object is wanted of this compile"
        elif self.problem is None and (self.want_log or self.model_dir is not None):
            wrong = "a log and a model need a problem"
        elif self.decisions is not None and (self.problem is None or self.problem.decisions_flag is None):
            wrong = "decisions need a problem that can be given some"
        if wrong is not None:
            raise ValueError(f"{self.module.name}: {wrong}")

    def failure(self, kind: FailureKind, detail: str, exit_code: int | None = None) -> "CompileFailure":
        return CompileFailure(self.module.name, kind, detail, exit_code)

    @property
    def advised_problem(self) -> Problem:
        """`problem`. Raises: ValueError: there is none."""
        if self.problem is None:
            raise ValueError(f"{self.module.name}: the request names no problem")
        return self.problem


@dataclasses.dataclass(frozen=True)
class CompileResult:
    """A compile that ended well."""

    module_name: str
    log: TrainingLog | None  #: when asked for. It may hold no observation: nothing had to be decided.
    object_bytes: bytes | None  #: when asked for.
    cpu_seconds: float  #: user + system time of the compiler; for reports only, it differs from run to run.
    files: dict[str, bytes] = dataclasses.field(default_factory=dict)  #: content of the request's `extra_files`.
    estimated_code: ObjectCode | None = None  #: what its object would hold, estimated instead of having one made.
    #: why earlier attempts at this compile do not count; for reports only.
    repeats: tuple[str, ...] = dataclasses.field(default=(), compare=False)

    @functools.cached_property
    def code(self) -> ObjectCode:
        """What the object holds, estimated or read from it, once. Raises: RunError: the object cannot be read."""
        if self.estimated_code is not None:
            return self.estimated_code
        return code_of_object(self.made_object, self.module_name)

    @property
    def made_object(self) -> bytes:
        """`object_bytes`. Raises: ValueError: none was asked for."""
        if self.object_bytes is None:
            raise ValueError(f"{self.module_name}: the compile was not asked for its object")
        return self.object_bytes

    @property
    def made_log(self) -> TrainingLog:
        """`log`. Raises: ValueError: none was asked for."""
        if self.log is None:
            raise ValueError(f"{self.module_name}: the compile was not asked for its log")
        return self.log


@dataclasses.dataclass(frozen=True)
class CompileFailure:
    """A compile without a result."""

    module_name: str
    kind: FailureKind  #: for counts.
    detail: str  #: for messages.
    #: the compiler's, or minus the number of the signal that ended it, where it tells failures of one kind apart.
    exit_code: int | None = None
    repeats: tuple[str, ...] = dataclasses.field(default=(), compare=False)  #: as in CompileResult.

    def is_like(self, other: "CompileFailure") -> bool:
        """Whether both failed the same way. Messages do not count: they may name addresses."""
        return (self.kind, self.exit_code) == (other.kind, other.exit_code)


CompileOutcome = CompileResult | CompileFailure
