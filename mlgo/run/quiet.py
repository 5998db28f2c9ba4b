"""Keeps libraries from talking over the progress lines; what they said is shown when something went wrong."""

import contextlib
import os
import sys
import tempfile
from collections.abc import Iterator


@contextlib.contextmanager
def quiet_libraries() -> Iterator[None]:
    """Nothing written to stderr inside the block appears, unless the block ends with an exception; then all of it does.

    Works on the file descriptor: TensorFlow's converter logs from C++, past sys.stderr and past every log level. Not for
    blocks in which our own code has something to say, or another thread writes.
    """
    sys.stderr.flush()
    kept = os.dup(2)
    with tempfile.TemporaryFile() as said:
        os.dup2(said.fileno(), 2)
        try:
            yield
        except BaseException:
            sys.stderr.flush()
            os.dup2(kept, 2)
            said.seek(0)
            os.write(2, said.read())
            raise
        finally:
            sys.stderr.flush()
            os.dup2(kept, 2)
            os.close(kept)
