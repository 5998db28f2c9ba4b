"""Random numbers as a pure function of (seed, purpose, counters), and TensorFlow set up so that runs repeat.

Nothing here keeps a state that a checkpoint would have to carry: whoever needs random numbers says what for and in
which iteration, and gets a fresh stream. Two streams with different labels are independent.
"""

import hashlib

import numpy as np


def derive_seed(seed: int, *labels: str | int) -> int:
    """A 63-bit positive integer that depends on `seed` and every label, in order.

    63 bits, and never 0: TensorFlow Lite reads seeds as int64 and takes two zeros as "seed from the machine".
    """
    text = "\0".join([str(int(seed)), *(f"{type(label).__name__}:{label}" for label in labels)])
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return int.from_bytes(digest[:8], "little") % (2**63 - 1) + 1


def generator(seed: int, *labels: str | int) -> np.random.Generator:
    """A NumPy generator (Philox, counter based) for one purpose."""
    return np.random.Generator(np.random.Philox(derive_seed(seed, *labels)))


def configure_tensorflow() -> None:
    """Makes TensorFlow's results repeatable on one machine; call it before the first TensorFlow operation.

    One thread per operation: matrix products then add in one order on every machine with the same instruction set,
    however many cores it has. (At our sizes an update takes a few percent of an iteration; compiling takes the rest.)
    Operations without a repeatable kernel raise instead of running.

    Raises: RuntimeError (TensorFlow's): TensorFlow has already started with other thread counts.
    """
    import tensorflow as tf  # pylint: disable=import-outside-toplevel  # 3.6 s which NumPy-only users need not pay.

    if tf.config.threading.get_intra_op_parallelism_threads() != 1:
        tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.experimental.enable_op_determinism()
    # Required by determinism mode, though no operation of ours draws random numbers from TensorFlow.
    tf.random.set_seed(0)
