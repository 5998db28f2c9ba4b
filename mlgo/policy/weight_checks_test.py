"""NaN and infinity in constants and trained weights."""

import math
import pathlib
import tempfile
import unittest

import numpy as np
import tensorflow as tf

from mlgo.policy.weight_checks import constant_fault, graph_fault, variable_fault, variables_fault


class ValuesTest(unittest.TestCase):
    def test_nan_is_a_fault_everywhere(self):
        for fault in (constant_fault, variable_fault):
            for values in (np.array(math.nan), np.array([1.0, math.nan]), np.full((2, 2), math.nan)):
                nan = np.isnan(values).sum()
                said = f"has the tensor 'w' of shape {list(values.shape)} with {nan} values that are NaN"
                self.assertEqual(fault("w", values), said)

    def test_infinity_is_a_fault_of_weights(self):
        self.assertEqual(
            variable_fault("w", np.array([1.0, -math.inf])),
            "has the tensor 'w' of shape [2] with 1 values that are infinite",
        )
        self.assertIsNone(variable_fault("w", np.array([1.0, 2.0])))

    def test_graphs_use_infinity_on_purpose_in_scalars_vectors_and_fills(self):
        for values in (np.array(math.inf), np.array([-math.inf, 1.0, math.inf]), np.full((2, 3), -math.inf)):
            self.assertIsNone(constant_fault("w", values))
        self.assertIn("1 values that are infinite", constant_fault("w", np.array([[1.0, math.inf]])) or "")


class GraphTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def test_constants_of_the_graph_and_of_its_functions(self):
        for value, fault in ((1.0, None), (math.nan, "1 values that are NaN")):

            @tf.function
            def function(x, added=value):
                return x + tf.constant([[added, 2.0]])

            concrete = function.get_concrete_function(tf.TensorSpec([1, 2], tf.float32))
            outer = tf.Graph()
            with outer.as_default():
                concrete(tf.zeros([1, 2]))
            for graph in (concrete.graph, outer):  # In the second one the constant is in the library.
                found = graph_fault(graph.as_graph_def())
                self.assertEqual(fault is None, found is None)
                self.assertIn(fault or "", found or "")

    def test_integers_are_not_looked_at(self):
        with tf.Graph().as_default() as graph:
            tf.constant([[1, 2]])
        self.assertIsNone(graph_fault(graph.as_graph_def()))

    def graph_with_variable(self):
        with tf.Graph().as_default() as graph:
            tf.raw_ops.VarHandleOp(dtype=tf.float32, shape=[2], shared_name="w")
        return graph.as_graph_def()

    def test_variables(self):
        for value, fault in (
            (1.0, None),
            (math.inf, "has the tensor 'w' of shape [2] with 1 values that are infinite"),
        ):
            prefix = tf.train.Checkpoint(w=tf.Variable([0.0, value])).write(str(self.folder / f"{value}"))
            self.assertEqual(variables_fault(self.graph_with_variable(), pathlib.Path(prefix)), fault)

    def test_variables_that_cannot_be_read(self):
        fault = variables_fault(self.graph_with_variable(), self.folder / "absent")
        self.assertRegex(fault or "", r"^cannot be read \(.+\)$")
        self.assertIsNone(variables_fault(tf.Graph().as_graph_def(), self.folder / "absent"))


if __name__ == "__main__":
    unittest.main()
