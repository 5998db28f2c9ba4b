"""Writes the .tflite models this folder's tests run, and the answers they expect.

Example:

    ./bazelw run //third_party/tflite:make_models -- $PWD/third_party/tflite/testdata

Files written (the models are what TensorFlow 2.19.1's converter makes of them):

- policy.tflite: an eviction-shaped policy. Inputs `features` float32 [1, 33, 25]
  and `mask` int64 [1, 33]; per position 25 -> 80 -> 40 -> 1 with ReLU; outputs
  the 33 masked `logits` float32 [1, 33] and their argmax `choice` int64 [1].
- policy.expected: the logits of `features_of(case)` in float64 by numpy, one case
  a line, masked positions as `-`.
- quantised.tflite, quantised.expected: a dense layer 16 -> 8, int8 weights and
  activations; one case a line, 16 input bytes, then the 8 output bytes
  TensorFlow's own TFLite runtime answers.
- random_<seed>.tflite: RandomUniform of shape [8]; seed 0 means unseeded.
"""

import argparse
import pathlib

import numpy as np
import tensorflow as tf

POSITIONS = 33  # as in MLRegAllocEvictAdvisor.cpp: 32 interferences and the candidate
FEATURES = 25  # per candidate, about what the eviction network of the papers sees
HIDDEN = (80, 40)
CASES = 4
RANDOM_SEEDS = (0, 7, 8)


def features_of(case: int) -> np.ndarray:
    """The features of one case, float32 [1, POSITIONS, FEATURES], in [-1, 1).

    tflite_test.cc computes the same numbers: an integer hash of the element's
    index, modulo 2^32, whose upper 16 bits are exact in float32.
    """
    index = np.arange(POSITIONS * FEATURES, dtype=np.uint32) + np.uint32(1000 * case)
    bits = index * np.uint32(2654435761)
    bits = (bits ^ (bits >> np.uint32(15))) * np.uint32(2246822519)
    values = (bits >> np.uint32(16)).astype(np.float32) / np.float32(32768)
    values -= np.float32(1)
    return values.reshape(1, POSITIONS, FEATURES)


def mask_of(case: int) -> np.ndarray:
    """Which positions may be chosen, int64 [1, POSITIONS], 1 = allowed."""
    return ((np.arange(POSITIONS) + case) % 3 != 0).astype(np.int64)[None]


def policy_weights() -> list[tuple[np.ndarray, np.ndarray]]:
    """(kernel [inputs, outputs], bias [outputs]) of each layer, float32."""
    rng = np.random.default_rng(2026)
    sizes = (FEATURES, *HIDDEN, 1)
    return [
        (
            (rng.standard_normal((rows, cols)) / np.sqrt(rows)).astype(np.float32),
            (rng.standard_normal(cols) * 0.1).astype(np.float32),
        )
        for rows, cols in zip(sizes, sizes[1:])
    ]


def policy_model() -> bytes:
    layers = policy_weights()

    @tf.function(
        input_signature=[
            tf.TensorSpec([1, POSITIONS, FEATURES], tf.float32, name="features"),
            tf.TensorSpec([1, POSITIONS], tf.int64, name="mask"),
        ]
    )
    def policy(features, mask):
        hidden = tf.reshape(features, [POSITIONS, FEATURES])
        for kernel, bias in layers[:-1]:
            hidden = tf.nn.relu(tf.matmul(hidden, kernel) + bias)
        kernel, bias = layers[-1]
        logits = tf.reshape(tf.matmul(hidden, kernel) + bias, [1, POSITIONS])
        allowed = tf.equal(mask, tf.constant(1, tf.int64))
        logits = tf.where(allowed, logits, tf.fill([1, POSITIONS], -1e9))
        return {"logits": logits, "choice": tf.argmax(logits, axis=1)}

    return convert(policy)


def policy_logits(case: int) -> np.ndarray:
    """Logits of one case in float64 [POSITIONS]; masked positions are NaN."""
    hidden = features_of(case)[0].astype(np.float64)
    layers = policy_weights()
    for kernel, bias in layers[:-1]:
        hidden = np.maximum(hidden @ kernel.astype(np.float64) + bias, 0)
    kernel, bias = layers[-1]
    logits = (hidden @ kernel.astype(np.float64) + bias)[:, 0]
    return np.where(mask_of(case)[0] == 1, logits, np.nan)


def quantised_model() -> bytes:
    rng = np.random.default_rng(7)
    kernel = rng.standard_normal((16, 8)).astype(np.float32)
    bias = rng.standard_normal(8).astype(np.float32)

    @tf.function(input_signature=[tf.TensorSpec([1, 16], tf.float32, name="x")])
    def dense(x):
        return {"y": tf.matmul(x, kernel) + bias}

    converter = tf.lite.TFLiteConverter.from_concrete_functions([dense.get_concrete_function()])
    converter.optimizations = [tf.lite.Optimize.DEFAULT]
    converter.representative_dataset = lambda: ([rng.uniform(-2, 2, (1, 16)).astype(np.float32)] for _ in range(64))
    converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
    converter.inference_input_type = tf.int8
    converter.inference_output_type = tf.int8
    return converter.convert()


def quantised_cases(model: bytes) -> str:
    # The default runtime rounds a scaled sum once, as ours does; TensorFlow's
    # reference kernels round twice and differ by one in 0.2 % of the outputs.
    interpreter = tf.lite.Interpreter(model_content=model)
    interpreter.allocate_tensors()
    rng = np.random.default_rng(8)
    lines = []
    for _ in range(64):
        x = rng.integers(-128, 128, (1, 16)).astype(np.int8)
        interpreter.set_tensor(interpreter.get_input_details()[0]["index"], x)
        interpreter.invoke()
        y = interpreter.get_tensor(interpreter.get_output_details()[0]["index"])
        lines.append(" ".join(str(v) for v in (*x[0], *y[0])))
    return "\n".join(lines) + "\n"


def random_model(seed: int) -> bytes:
    @tf.function(input_signature=[])
    def uniform():
        return {"y": tf.raw_ops.RandomUniform(shape=tf.constant([8]), dtype=tf.float32, seed=seed, seed2=seed)}

    return convert(uniform)


def convert(function) -> bytes:
    return tf.lite.TFLiteConverter.from_concrete_functions([function.get_concrete_function()]).convert()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path, help="where to write the files")
    folder = parser.parse_args().folder
    (folder / "policy.tflite").write_bytes(policy_model())
    rows = [policy_logits(case) for case in range(CASES)]
    (folder / "policy.expected").write_text(
        "".join(" ".join("-" if np.isnan(v) else f"{v:.9g}" for v in row) + "\n" for row in rows)
    )
    quantised = quantised_model()
    (folder / "quantised.tflite").write_bytes(quantised)
    (folder / "quantised.expected").write_text(quantised_cases(quantised))
    for seed in RANDOM_SEEDS:
        (folder / f"random_{seed}.tflite").write_bytes(random_model(seed))


if __name__ == "__main__":
    main()
