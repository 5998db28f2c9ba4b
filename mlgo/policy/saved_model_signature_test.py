"""NaN and infinity in constants and trained weights; release/backends/aot and tests/exchange test the rest."""

import math
import pathlib
import unittest

import numpy as np
import tensorflow as tf

from mlgo.policy.saved_model_signature import endless_calls, graph_fault, values_fault, variables_fault
from mlgo.run.testing.folder_case import FolderCase


class ValuesTest(unittest.TestCase):
    def test_nan_is_a_fault_everywhere_and_infinity_in_weights(self):
        nan, inf = math.nan, math.inf
        for both, values, what in (
            (True, np.array(nan), "[] with 1 values that are NaN"),
            (True, np.array([1.0, nan]), "[2] with 1 values that are NaN"),
            (True, np.full((2, 2), nan), "[2, 2] with 4 values that are NaN"),
            (True, np.array([[1.0, inf], [-inf, 0.0]]), "[2, 2] with 2 values that are infinite"),
            (False, np.array(inf), "[] with 1 values that are infinite"),
            (False, np.array([1.0, -inf]), "[2] with 1 values that are infinite"),
        ):
            for trained in (True, False) if both else (True,):
                self.assertEqual(values_fault("w", values, trained), f"has the tensor 'w' of shape {what}")
        self.assertIsNone(values_fault("w", np.array([1.0, 2.0]), trained=True))

    def test_graphs_use_infinity_on_purpose_in_scalars_vectors_and_fills(self):
        infinity = np.array(math.inf)
        for values in (infinity, np.array([-math.inf, 1, math.inf]), np.full((2, 3), -math.inf), np.zeros((0, 2))):
            self.assertIsNone(values_fault("w", values, trained=False))


class GraphTest(FolderCase):
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

    def test_calls_of_functions_that_do_not_end(self):
        def fault(*called):
            """Function i calls the functions called[i], and the graph calls the first."""
            graph = tf.compat.v1.GraphDef()
            graph.node.add(name="call", op="PartitionedCall").attr["f"].func.name = "f0"
            for index, others in enumerate(called):
                function = graph.library.function.add()
                function.signature.name = f"f{index}"
                for other in others:
                    function.node_def.add(op="StatefulPartitionedCall").attr["f"].func.name = f"f{other}"
                function.node_def.add(op="Identity")
            return endless_calls(graph, {"call"}, {f"f{index}" for index in range(len(called))})

        self.assertIsNone(fault([1, 1], [2], []))
        self.assertEqual(fault([1], [0]), "has functions that call each other in a circle")
        doubling = [[index + 1] * 2 for index in range(2_000)]
        self.assertRegex(fault(*doubling, []) or "", "that stand for more than 100,000 operations")

    def graph_with_variable(self):
        with tf.Graph().as_default() as graph:
            tf.raw_ops.VarHandleOp(dtype=tf.float32, shape=[2], shared_name="w")
        return graph.as_graph_def()

    def test_variables(self):
        infinite = "has the tensor 'w' of shape [2] with 1 values that are infinite"
        for value, fault in ((1.0, None), (math.inf, infinite)):
            prefix = tf.train.Checkpoint(w=tf.Variable([0.0, value])).write(str(self.folder / f"{value}"))
            self.assertEqual(variables_fault(self.graph_with_variable(), pathlib.Path(prefix)), fault)

    def test_variables_that_cannot_be_read(self):
        fault = variables_fault(self.graph_with_variable(), self.folder / "absent")
        self.assertRegex(fault or "", r"^cannot be read \(.+\)$")
        self.assertIsNone(variables_fault(tf.Graph().as_graph_def(), self.folder / "absent"))
