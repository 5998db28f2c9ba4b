"""A compile by a clang without ML whose decisions this process makes, one by one.

    with InteractiveCompile(request) as session:
        for observation in session:
            session.answer(policy(observation.features))
    session.outcome  # CompileOutcome

LLVM's interactive channel is two FIFOs in the compile's temporary directory. No call waits for ever: both FIFOs are
open for reading and writing at this end, so opening never blocks, and waiting for the compiler ends at its end, at a
message or when it hangs. A compile whose compiler fails, or is ended from outside, begins again with the answers so far
(mlgo/compiler/attempts.py).
"""

import copy
import fcntl
import os
import struct
import termios
import weakref
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

from mlgo.compiler import compile as compiling
from mlgo.compiler import machine, scratch
from mlgo.compiler.attempts import Attempts
from mlgo.compiler.hang import HangGuard
from mlgo.compiler.interactive_stream import Observation, ObservationStream, WrongAnswerError, encoder
from mlgo.compiler.process import polling
from mlgo.compiler.request import CompileDisturbed, CompileFailure, CompileOutcome, CompileRequest, FailureKind
from mlgo.compiler.training_log import TrainingLogError

# Inside the temporary directory, which the compiler runs in.
_CHANNEL = "channel"
# What a dead compiler can have left in the FIFO is below its capacity (fs.pipe-max-size, 1 MiB by default).
_MOST_LEFT_BYTES = 1 << 20
# What a pipe holds. An observation has 0.3 to 3.4 KB.
_READ_BYTES = 1 << 16


class InteractiveCompile:
    """One compile with the advisor of a problem in interactive mode, used as a context manager by one thread.

    `observe` and `answer` alternate until `observe` returns None; then `outcome` has the result of the compile. Leaving
    the block earlier kills the compiler. Errors of the compiler become a CompileFailure, as in `certain_outcome`.
    """

    def __init__(self, request: CompileRequest, include_default: bool = False):
        """
        Args:
          request: without log and model, which are the development clang's; `limits.wall_seconds` is how long the
            compiler may be silent while it is its turn.
          include_default: the observations include the heuristic's decision (Problem.default_decision_spec).
        Raises: ValueError: the request or the problem does not allow it.
        """
        if request.want_log or request.model_dir is not None:
            raise ValueError(f"{request.module.name}: an interactive compile has neither training log nor model")
        self._flags = request.advised_problem.interactive_flags(_CHANNEL, include_default)
        self._request, self._include_default = request, include_default
        self._channel = f"interactive channel of {request.module.name}"
        self._encode = encoder(request.advised_problem)
        self._pending: Observation | None = None
        self._outcome: CompileOutcome | None = None
        self._release: weakref.finalize | None = None
        # Of all attempts: what the caller answered. Of this attempt: how many answers the compiler got, and its end.
        self._attempts = Attempts(request)
        self._decisions: list[Any] = []
        self._answered = 0
        self._attempt_outcome: CompileOutcome | None = None

    @property
    def outcome(self) -> CompileOutcome:
        """How the compile ended. Raises: RuntimeError: it has not, or it was left before its end."""
        if self._outcome is None:
            raise RuntimeError(f"{self._request.module.name}: the compile has not come to its end")
        return self._outcome

    def __enter__(self) -> "InteractiveCompile":
        """Starts the compiler. Raises: RunError: temporary files have no room, or the machine cannot start it."""
        if self._release is not None or self._attempt_outcome is not None:
            raise RuntimeError(f"{self._request.module.name}: an InteractiveCompile is used once")
        self._begin()
        return self

    def _begin(self) -> None:
        """Starts the compiler, for the first or for another attempt."""
        while True:
            try:
                with machine.recognised_shortages():
                    return self._start()
            except CompileDisturbed as error:
                self._attempts.record_disturbance(error)

    def _start(self) -> None:
        request = self._request
        self._answered, self._attempt_outcome = 0, None
        with ExitStack() as stack:
            self._directory = stack.enter_context(scratch.scratch_directory(request.workdir))
            command = compiling.prepared(request, self._directory, self._flags)
            if isinstance(command, CompileFailure):
                self._attempt_outcome = command
                return
            self._inbound = _fifo(os.path.join(self._directory, f"{_CHANNEL}.in"), stack)
            self._outbound = _fifo(os.path.join(self._directory, f"{_CHANNEL}.out"), stack)
            self._process = stack.enter_context(compiling.start_clang(command, self._directory, request.limits))
            self._stream = ObservationStream(request.advised_problem, self._channel, self._include_default)
            self._poll = polling(self._outbound, self._process.stderr_descriptor, self._process.end_descriptor)
            # Also without a `with` block; releasing twice has no effect.
            self._release = weakref.finalize(self, stack.pop_all().close)

    def __exit__(self, *_) -> None:
        self.close()

    def close(self) -> None:
        """Kills the compiler if it runs, and removes the channel; may be called again."""
        if self._release is not None:
            self._release()

    def __iter__(self) -> Iterator[Observation]:
        """Observations until the end; each must be answered before the next is asked for."""
        while (observation := self.observe()) is not None:
            yield observation

    def observe(self) -> Observation | None:
        """Waits for the compiler's next question; None: the compile has ended, see `outcome`.

        Raises: RuntimeError: the last observation has not been answered, or the block has been left. RunError: clang
          cannot be started, there is no room for temporary files, or the machine ends every attempt.
        """
        if self._outcome is not None:
            return None
        runs = self._release is not None and self._release.alive
        if self._pending is not None or not (runs or self._attempt_outcome is not None):
            state = "the last observation is not answered" if self._pending is not None else "the compiler does not run"
            raise RuntimeError(f"{self._request.module.name}: observe() while {state}")
        while (observation := self._observe_attempt()) is None:
            assert self._attempt_outcome is not None  # `_observe_attempt` says so.
            if (outcome := self._attempts.final_outcome(self._attempt_outcome)) is not None:
                self._outcome = outcome
                return None
            self._begin()
        self._pending = observation
        return observation

    def _observe_attempt(self) -> Observation | None:
        """The first question that the caller has not answered; None: the attempt has ended, with `_attempt_outcome`."""
        while True:
            try:
                observation = self._next_observation()
            except CompileDisturbed as error:
                self._attempts.record_disturbance(error)
                self._begin()
                continue
            if observation is None or self._answered == len(self._decisions):
                return observation
            # It is the question of an earlier attempt.
            try:
                data = self._encode(self._decisions[self._answered], observation.features)
            except WrongAnswerError as error:
                self._end_attempt(FailureKind.BAD_LOG, f"the compiler asks something else when repeated: {error}")
                return None
            if not self._send(data):
                return None

    def _next_observation(self) -> Observation | None:
        if self._attempt_outcome is not None:
            return None
        guard = HangGuard(self._process.process_id, self._request.limits.wall_seconds)
        try:
            while (observation := self._stream.next_observation()) is None:
                ready = guard.ready(self._poll)
                if ready and self._outbound in ready:
                    self._stream.feed(os.read(self._outbound, _READ_BYTES))
                    continue
                if ready and self._process.stderr_descriptor in ready and not self._process.read_stderr():
                    self._poll.unregister(self._process.stderr_descriptor)
                if ready is None or self._process.end_descriptor in ready:
                    try:
                        self._attempt_outcome = self._finish(hung=ready is None)
                    finally:
                        self.close()
                    return None
        except TrainingLogError as error:
            self._end_attempt(FailureKind.BAD_LOG, str(error))
            return None
        return observation

    def answer(self, decision: Any) -> None:
        """Answers the last observation (see `interactive_stream.encoder` for what is accepted).

        Raises: RuntimeError: there is nothing to answer. WrongAnswerError: the compiler does not allow this decision;
          it has not seen it and has been ended.
        """
        if self._pending is None:
            raise RuntimeError(f"{self._request.module.name}: answer() without an observation")
        observation, self._pending = self._pending, None
        try:
            data = self._encode(decision, observation.features)
        except WrongAnswerError as error:
            # It is the caller's failure: the compile is not repeated.
            self._end_attempt(FailureKind.WRONG_ANSWER, str(error))
            self._outcome = self._attempt_outcome
            raise
        self._decisions.append(copy.copy(decision))
        self._send(data)

    def _send(self, data: bytes) -> bool:
        """Gives the compiler an answer; False when it takes none, which ends the attempt."""
        self._answered += 1
        try:
            os.write(self._inbound, data)
            return True
        except BlockingIOError:
            self._end_attempt(FailureKind.BAD_LOG, "the compiler asks without reading the answers")
            return False

    def _finish(self, hung: bool) -> CompileOutcome:
        """Raises: CompileDisturbed: the machine ended it; TrainingLogError: it left something unsaid or unread."""
        ended = self._process.finish(hung)
        if (failure := compiling.classify(ended, self._request, self._directory, "observation")) is not None:
            return failure
        self._check_channel_drained()
        return compiling.collect(self._request, self._directory, ended, None)

    def _check_channel_drained(self) -> None:
        left = 0
        while left < _MOST_LEFT_BYTES:
            try:
                data = os.read(self._outbound, _READ_BYTES)
            except BlockingIOError:
                break
            left += len(data)
            self._stream.feed(data)
            if self._stream.next_observation() is not None:
                raise self._protocol_error("asked a question and ended well without waiting for the answer")
        self._stream.finish()
        if struct.unpack("i", fcntl.ioctl(self._inbound, termios.FIONREAD, bytes(4)))[0]:
            raise self._protocol_error("ended well without reading the last answer")

    def _protocol_error(self, what: str) -> TrainingLogError:
        return TrainingLogError(self._channel, f"the compiler {what}", "check the compiler")

    def _end_attempt(self, kind: FailureKind, detail: str) -> None:
        self._attempt_outcome = self._request.failure(kind, detail)
        self.close()


def _fifo(path: str, stack: ExitStack) -> int:
    """Makes a FIFO and opens it for reading and writing, which Linux does at once and without a partner (fifo(7)).

    With both ends open, a compiler that ends causes neither SIGPIPE nor end of file: its end is seen on the process.
    """
    os.mkfifo(path, 0o600)
    descriptor = os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
    stack.callback(os.close, descriptor)
    return descriptor
