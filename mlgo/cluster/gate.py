"""Keeps threads out of Ray when the executor leaves the cluster: a call after `ray.shutdown` would end the process."""

import threading

from mlgo.compiler.process import Cancelled


class Gate:
    """Counts the threads inside. Whoever closes it waits until they are out."""

    def __init__(self):
        self._inside = 0
        self._closing = threading.Event()
        self._changed = threading.Condition()

    def __enter__(self) -> None:
        """Raises: Cancelled: the gate is closed."""
        with self._changed:
            if self._closing.is_set():
                raise Cancelled()
            self._inside += 1

    def __exit__(self, *_) -> None:
        with self._changed:
            self._inside -= 1
            self._changed.notify_all()

    def is_closing(self, wait_seconds: float = 0.0) -> bool:
        """Whether it is closed, or becomes so in `wait_seconds`."""
        return self._closing.wait(wait_seconds)

    def close_for_new(self) -> None:
        """Admits no further threads."""
        with self._changed:
            self._closing.set()

    def wait_until_empty(self) -> None:
        """Waits for the threads that were admitted."""
        with self._changed:
            self._changed.wait_for(lambda: not self._inside)
