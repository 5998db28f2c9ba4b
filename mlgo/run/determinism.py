"""Random numbers as a pure function of seed, purpose and counters, and settings that make TensorFlow repeatable."""

import hashlib

import numpy as np

#: Default of every command's --seed.
DEFAULT_SEED = 1


def derive_seed(seed: int, *labels: str | int) -> int:
    """A 63-bit positive integer that depends on `seed` and every label, in order.

    TensorFlow Lite reads seeds as int64 and takes two zeros as a request for a random seed, so 0 is never returned.
    """
    text = "\0".join([str(int(seed)), *(f"{type(label).__name__}:{label}" for label in labels)])
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return int.from_bytes(digest[:8], "little") % (2**63 - 1) + 1


def generator(seed: int, *labels: str | int) -> np.random.Generator:
    """A NumPy generator (Philox, counter based) for one purpose."""
    return np.random.Generator(np.random.Philox(derive_seed(seed, *labels)))


def configure_tensorflow() -> None:
    """Makes TensorFlow's results repeatable; call it before the first TensorFlow operation.

    One thread per operation: matrix products then add in the same order for any number of cores. Operations without a
    repeatable kernel raise. What depends on the processor is settled in toolchains/python/sitecustomize.py and
    network.py (MAX_REDUCTION_LENGTH).

    Raises: RuntimeError: TensorFlow has already started with other thread counts.
    """
    import tensorflow as tf  # Takes 3.6 s, which NumPy alone does not need.

    if tf.config.threading.get_intra_op_parallelism_threads() != 1:
        tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.experimental.enable_op_determinism()
    # Required by determinism mode, though no operation of ours draws random numbers from TensorFlow.
    tf.random.set_seed(0)
