"""Repeats a compile until its outcome is the module's own, so that results do not depend on the machine.

- A compile that the machine ended or could not start (CompileDisturbed) says nothing: it is repeated, and then no other
  compile of this process runs, because too little memory is the likely cause. After `MAX_REPEATS` the run stops.
- A failure counts when it has happened twice the same way. A success in between is the result.
- Three failures of three kinds count too, as FailureKind.UNSTABLE: every attempt says that the module fails.
"""

import contextlib
import dataclasses
import functools
import threading
from collections.abc import Callable, Iterator

from mlgo.compiler import machine
from mlgo.compiler.compile import Runner, compile_module, run_process
from mlgo.compiler.process import Cancellation, Cancelled, polling
from mlgo.compiler.request import (
    CompileDisturbed,
    CompileFailure,
    CompileOutcome,
    CompileRequest,
    CompileResult,
    FailureKind,
)
from mlgo.run.exit_codes import RunError

#: Repeats of a compile that the machine ended.
MAX_REPEATS = 3
#: Before each of them: time for other programs to give memory back.
_PAUSES_SECONDS = (0.0, 1.0, 4.0)
#: Attempts that may fail, each in another way.
_MAX_FAILURES = 3


def certain_outcome(
    request: CompileRequest,
    cancellation: Cancellation | None = None,
    run: Runner = run_process,
    first_attempt: Callable[[], CompileOutcome] | None = None,
) -> CompileOutcome:
    """The outcome of a compile, which does not depend on the machine.

    Args: first_attempt: compiles the first time in place of `compile_module`; what fails only there does not count.
    Raises: Cancelled; RunError: clang cannot be started, there is no room, or the machine ends every attempt.
    """
    attempts = Attempts(request, cancellation)
    usual_attempt = functools.partial(compile_module, request, cancellation, run)
    attempt: Callable[[], CompileOutcome] = first_attempt or usual_attempt
    while True:
        try:
            with _running.entered(attempts.must_be_alone, cancellation), machine.recognised_shortages():
                outcome = attempt()
        except CompileDisturbed as error:
            attempts.record_disturbance(error)
        else:
            if (certain := attempts.final_outcome(outcome)) is not None:
                return certain
        attempt = usual_attempt


class Attempts:
    """What has come of the attempts at one compile so far; `cancellation` ends pauses.

    Raises: RunError: this machine cannot provide the limits of the request.
    """

    def __init__(self, request: CompileRequest, cancellation: Cancellation | None = None):
        if (why := machine.unusable_limits(request.limits)) is not None:
            raise RunError("limits of this machine", why, "Raise it with `ulimit` where the command or node is started")
        self._request, self._cancellation = request, cancellation
        self._disturbances: list[str] = []
        self._failures: list[CompileFailure] = []

    @property
    def must_be_alone(self) -> bool:
        """Whether no other compile should run beside the next attempt."""
        return bool(self._disturbances)

    def record_disturbance(self, error: CompileDisturbed) -> None:
        """Returns when it is time for another attempt. Raises: Cancelled; RunError: the machine ended the last one."""
        self._disturbances.append(error.reason)
        count = len(self._disturbances)
        if count > MAX_REPEATS:
            wrong = f"was ended from outside {count} times, at last without another compile beside it ({error})"
            remedy = "Look for what ends processes, such as too little memory (`dmesg`), and run the same command again"
            raise RunError(f"compile of {self._request.module.name}", wrong, remedy) from error
        # Without a cancellation nothing ends the pause.
        if polling(self._cancellation).poll(_PAUSES_SECONDS[count - 1] * 1000):
            raise Cancelled()

    def final_outcome(self, outcome: CompileOutcome) -> CompileOutcome | None:
        """The compile's outcome, when the last attempt came to `outcome`; None: another is needed. Raises: as above."""
        failures = self._failures
        if isinstance(outcome, CompileResult):
            return self._with_repeats(outcome, failures)
        limits = self._request.limits
        if outcome.kind is FailureKind.OUT_OF_MEMORY and machine.may_have_refused(limits.address_space_bytes):
            self.record_disturbance(CompileDisturbed("the machine has too little memory", outcome.detail))
            return None
        others = [failure for failure in failures if not outcome.is_like(failure)]
        if len(others) < len(failures):
            return self._with_repeats(outcome, others)
        failures.append(outcome)
        if len(failures) < _MAX_FAILURES:
            return None
        ways = "; ".join(f"{failure.kind.value}: {failure.detail}" for failure in failures)
        unstable = self._request.failure(FailureKind.UNSTABLE, f"another failure each time: {ways}")
        return self._with_repeats(unstable, [])

    def _with_repeats(self, outcome: CompileOutcome, passed_over: list[CompileFailure]) -> CompileOutcome:
        repeats = (*self._disturbances, *(failure.kind.value for failure in passed_over))
        return dataclasses.replace(outcome, repeats=repeats) if repeats else outcome


class _Running:
    """The compiles that run in this process: several at a time, or one alone."""

    def __init__(self):
        self._changed = threading.Condition()
        self._count = 0
        self._one_is_alone = False

    @contextlib.contextmanager
    def entered(self, alone: bool, cancellation: Cancellation | None) -> Iterator[None]:
        """Around a compile; begins when it may start. Compiles that wait to be alone go before others."""
        with self._changed:
            self._changed.wait_for(lambda: not self._one_is_alone)
            self._one_is_alone = alone
            try:
                if alone:
                    self._changed.wait_for(lambda: self._count == 0)
            except BaseException:
                self._one_is_alone = False
                self._changed.notify_all()
                raise
            self._count += 1
        try:
            if cancellation is not None and cancellation.is_triggered():
                raise Cancelled()
            yield
        finally:
            with self._changed:
                self._count -= 1
                self._one_is_alone = self._one_is_alone and not alone
                self._changed.notify_all()


_running = _Running()
