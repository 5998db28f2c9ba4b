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
    """Why a module gives no result. The value is what summaries print.

    What the machine does to a compile is no failure: see CompileDisturbed.
    """

    #: The compiler died of a signal it raised itself (assertion, segmentation fault, fatal error).
    CRASH = "crash"
    #: It used more CPU time than allowed, or hung without using any.
    TIMEOUT = "timeout"
    #: It asked for more address space than allowed.
    OUT_OF_MEMORY = "out_of_memory"
    #: It does not know a flag: no ML support, another LLVM version, or a broken recorded command.
    BAD_FLAGS = "bad_flags"
    #: It refused its input or its model with an error message.
    COMPILE_ERROR = "compile_error"
    #: The policy gave an answer which the compiler may not follow.
    WRONG_ANSWER = "wrong_answer"
    #: It succeeded with an empty object for a ThinLTO module that has definitions (mlgo/compiler/empty_object.py).
    EMPTY_OBJECT = "empty_object"
    #: Its log, or its output on the interactive channel, is missing, damaged or of another problem.
    BAD_LOG = "bad_log"
    #: It failed in a different way each time (mlgo/compiler/attempts.py).
    UNSTABLE = "unstable"


class CompileDisturbed(Exception):
    """The machine ended a compile, or could not start it; this says nothing about the module.

    Attributes: reason: a few words that are counted, such as "SIGKILL from outside".
    """

    def __init__(self, reason: str, detail: str = ""):
        super().__init__(f"{reason}: {detail}" if detail else reason)
        self.reason = reason


@dataclasses.dataclass(frozen=True)
class CompileLimits:
    """What one compile may use.

    The limit is CPU time. The wall-clock limit only stops a compiler that waits for ever; the load of the machine does
    not count as waiting (mlgo/compiler/hang.py).

    Attributes:
      cpu_seconds: CPU time of the compiler process; LLVM's slowest unit at -O2 takes about 60 s here.
      address_space_bytes: virtual memory of each process.
      log_bytes: size of any file it writes, the training log above all.
      object_bytes: size of an object, and of any other file that is read as a whole. Objects of large C++ units with
        debug information have 100 MB.
      wall_factor: a compile that does nothing for `wall_factor * cpu_seconds` is hung.
    """

    cpu_seconds: int = 300
    address_space_bytes: int = 8 * 1024**3
    log_bytes: int = 4 * 1024**3
    object_bytes: int = 512 * 1024**2
    wall_factor: float = 10.0

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

    Attributes:
      problem: whose decisions are logged or made by a model; None: a compile without log and model.
      model_dir: TFLite model that makes the decisions; None: the compiler's default heuristic makes them.
      decisions: content of a file of decisions by call site (mlgo/search/decision_file.py), which take precedence over
        the model's and the heuristic's; None: there are none.
      want_log: whether decisions are logged and read. A request needs a log, an object, or both.
      extra_flags: cc1 flags put after the module's own and before the problem's.
      extra_files: names, without folder, of files that `extra_flags` make the compiler write; all are returned.
      workdir: where the temporary directory is made; None: a RAM disk when it has room, else the system's default.

    Raises: ValueError: its settings contradict each other; the message names the module.
    """

    clang: pathlib.Path
    module: Module
    problem: Problem | None = None
    model_dir: pathlib.Path | None = None
    decisions: bytes | None = None
    want_log: bool = True
    want_object: bool = False
    extra_flags: tuple[str, ...] = ()
    extra_files: tuple[str, ...] = ()
    limits: CompileLimits = CompileLimits()
    workdir: pathlib.Path | None = None

    def __post_init__(self):
        if (wrong := self._contradiction()) is not None:
            raise ValueError(f"{self.module.name}: {wrong}")

    @property
    def advised_problem(self) -> Problem:
        """`problem`. Raises: ValueError: there is none."""
        if self.problem is None:
            raise ValueError(f"{self.module.name}: the request names no problem")
        return self.problem

    def _contradiction(self) -> str | None:
        if not (self.want_log or self.want_object or self.model_dir):
            return "neither a log nor an object is wanted of this compile"
        if self.problem is None and (self.want_log or self.model_dir is not None):
            return "a log and a model need a problem"
        if self.decisions is not None and (self.problem is None or self.problem.decisions_flag is None):
            return "decisions need a problem that can be given some"
        return None


@dataclasses.dataclass(frozen=True)
class CompileResult:
    """A compile that ended well.

    Attributes:
      log: what was logged, when asked for. It may hold no observation: nothing had to be decided.
      cpu_seconds: user + system time of the compiler; for reports only, it differs from run to run.
      files: content of the request's `extra_files`.
      estimated_code: what its object would hold, estimated instead of having one made.
      repeats: why earlier attempts at this compile do not count; for reports only.
    """

    module_name: str
    log: TrainingLog | None
    object_bytes: bytes | None
    cpu_seconds: float
    files: dict[str, bytes] = dataclasses.field(default_factory=dict)
    estimated_code: ObjectCode | None = None
    repeats: tuple[str, ...] = dataclasses.field(default=(), compare=False)

    @functools.cached_property
    def code(self) -> ObjectCode:
        """What the object holds, estimated or read from it, once.

        Raises: RunError: the object cannot be read.
        """
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
    """A compile without a result.

    Attributes:
      kind: for counts.
      detail: for messages.
      exit_code: the compiler's, or minus the number of the signal that ended it, where it tells failures of one kind
        apart; else None.
      repeats: as in CompileResult.
    """

    module_name: str
    kind: FailureKind
    detail: str
    exit_code: int | None = None
    repeats: tuple[str, ...] = dataclasses.field(default=(), compare=False)

    def is_like(self, other: "CompileFailure") -> bool:
        """Whether both failed the same way. Messages do not count: they may name addresses."""
        return (self.kind, self.exit_code) == (other.kind, other.exit_code)
