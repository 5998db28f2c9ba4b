"""A directory that is no usable policy is refused with one sentence that names file, tensor and remedy."""

import dataclasses
import hashlib
import io
import json
import os
import zipfile

import numpy as np

from mlgo.learning.checkpoint import encode_arrays
from mlgo.learning.network import PolicyNetwork, initial_network
from mlgo.learning.normalization import Column, Normalizer
from mlgo.policy.checks import known_features, weights_fault
from mlgo.policy.directory import load_policy
from mlgo.policy.saved_model import save_policy
from mlgo.problems.problem import load_problem
from mlgo.problems.tensor import TensorSpec
from mlgo.run.exit_codes import RunError
from mlgo.run.testing.folder_case import FolderCase

PRIORITY = load_problem("regalloc_priority")
INLINING = load_problem("inlining_for_size")
NORMALIZER = Normalizer(
    "regalloc_priority", (Column("li_size", 0, 100), Column("weight", 0, 1)), ("stage",), mark_last_position=False
)


def _network() -> PolicyNetwork:
    return initial_network(NORMALIZER, 1)


class DirectoryTest(FolderCase):
    def setUp(self):
        super().setUp()
        save_policy(_network(), PRIORITY, self.folder)
        self.record = json.loads((self.folder / "policy.json").read_text())

    def rewrite(self, **changes):
        self.file("policy.json", json.dumps(self.record | changes))

    def rewrite_weights(self, content: bytes):
        self.file("weights.npz", content)
        self.rewrite(sha256=self.record["sha256"] | {"weights.npz": hashlib.sha256(content).hexdigest()})

    def assert_refused(self, *parts, problem=PRIORITY):
        with self.assertRaisesRegex(RunError, r"\A[^\n]*\Z") as caught:
            load_policy(self.folder, problem)
        for part in parts:
            self.assertIn(part, str(caught.exception))

    def test_missing_and_foreign_files(self):
        for name in ("weights.npz", "saved_model.pb"):
            save_policy(_network(), PRIORITY, self.folder)
            self.file(name, b"other")
            self.assert_refused(f"{name}): is not the one that policy.json names", "Name a directory")
        (self.folder / "saved_model.pb").unlink()
        (self.folder / "weights.npz").unlink()
        self.assert_refused("weights.npz): does not exist", "Name a directory")
        (self.folder / "policy.json").unlink()
        self.assert_refused("policy.json): does not exist", "Name a directory")

    def test_another_problem(self):
        self.assert_refused("is for 'regalloc_priority', not for 'inlining_for_size'", problem=INLINING)
        self.rewrite(normalizer=NORMALIZER.to_json() | {"problem": "inlining_for_size"})
        self.assert_refused("policy.json): its normaliser is for 'inlining_for_size'")
        self.rewrite(decision="colour")
        self.assert_refused("policy.json): decides 'colour' instead of 'priority'")

    def test_a_problem_with_another_score_has_the_same_policies(self):
        costly = load_problem(f"{PRIORITY.name}+executed_cost")
        for problem in (PRIORITY, costly):
            network, _ = load_policy(self.folder, problem)
            self.assertEqual(network.normalizer, NORMALIZER)
        save_policy(_network(), costly, self.folder / "again")
        load_policy(self.folder / "again", PRIORITY)

    def test_a_feature_that_the_compiler_lacks(self):
        specs = (*PRIORITY.observation_specs, TensorSpec("colour", "float32", (1,)))
        wider = dataclasses.replace(PRIORITY, observation_specs=specs)
        columns = (*NORMALIZER.columns, Column("colour", 0, 1))
        save_policy(initial_network(dataclasses.replace(NORMALIZER, columns=columns), 1), wider, self.folder)
        load_policy(self.folder, wider)
        lacks = "policy.json): it wants the feature 'colour', which the compiler lacks"
        self.assert_refused(lacks, "Train the policy for this")
        self.rewrite(normalizer=NORMALIZER.to_json() | {"columns": [["colour", 0, 1]]})
        self.assert_refused("it wants the feature 'colour'")

    def test_fewer_features_and_another_order_load(self):
        fewer = dataclasses.replace(NORMALIZER, dropped=())
        save_policy(initial_network(fewer, 1), PRIORITY, self.folder)
        network, record = load_policy(self.folder, PRIORITY)
        self.assertEqual(record["features"], ["li_size", "weight"])
        self.assertEqual(known_features(network.normalizer, PRIORITY), ("li_size", "weight"))
        save_policy(_network(), PRIORITY, self.folder)
        reordered = dataclasses.replace(PRIORITY, observation_specs=PRIORITY.observation_specs[::-1])
        network, _ = load_policy(self.folder, reordered)
        self.assertEqual(known_features(network.normalizer, reordered), ("weight", "stage", "li_size"))

    def test_records_that_contradict_themselves(self):
        normalizer = NORMALIZER.to_json()
        for changes, words in (
            ({"format": "other"}, "is not of format"),
            ({"features": "all"}, "has a field 'features' that is not a list"),
            ({"features": [1]}, "has a field 'features' that is not a list of texts"),
            ({"decision": 1}, "has a field 'decision' that is not a text"),
            ({"problem": None}, "has a field 'problem' that is not a text"),
            ({"normalizer": []}, "has a field 'normalizer' that is not an object"),
            ({"normalizer": normalizer | {"columns": [[{}, 0, 1]]}}, "holds no normaliser"),
            ({"normalizer": normalizer | {"columns": [["li_size", 10**400, 1]]}}, "has 401 digits"),
            ({"sha256": {"weights.npz": 1}}, "has a field 'sha256' that is not an object of texts"),
            ({"features": ["li_size"]}, "lists other features than its normaliser knows: stage, weight"),
            ({"normalizer": {}}, "holds no normaliser"),
            ({"normalizer": normalizer | {"columns": [["li_size", 1, 1]]}}, "is not finite and increasing"),
            ({"normalizer": normalizer | {"columns": []}}, "looks at no feature"),
            ({"normalizer": normalizer | {"mark_last_position": True}}, "has only one"),
            ({"sha256": None}, "has a field 'sha256' that is not an object"),
        ):
            with self.subTest(words):
                self.rewrite(**changes)
                self.assert_refused(f"{self.folder / 'policy.json'}): ", words)
        self.file("policy.json", "[]")
        self.assert_refused("is not a JSON object")

    def test_records_without_a_field(self):
        for name in ("format", "problem", "features", "decision", "normalizer", "sha256"):
            with self.subTest(name):
                rest = {key: value for key, value in self.record.items() if key != name}
                self.file("policy.json", json.dumps(rest))
                self.assert_refused(f"policy.json): has no field '{name}'", "Name a directory")

    def test_weights_that_are_no_archive_or_state_a_huge_shape(self):
        self.rewrite_weights(b"other")
        self.assert_refused("weights.npz: is not an archive of plain arrays")
        header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (1099511627776,)}"
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            archive.writestr("policy/0/kernel.npy", b"\x93NUMPY\1\0" + len(header).to_bytes(2, "little") + header)
        self.rewrite_weights(buffer.getvalue())
        self.assert_refused("weights.npz: is not an archive of plain arrays", "has 0 bytes for float32", "Name a dir")

    def test_files_that_are_no_files(self):
        for name in ("policy.json", "weights.npz", "saved_model.pb"):
            with self.subTest(name):
                save_policy(_network(), PRIORITY, self.folder)
                (self.folder / name).unlink()
                os.mkfifo(self.folder / name)
                self.assert_refused(f"{name}): cannot be read: it is a pipe, not a file", "Name a directory")
                (self.folder / name).unlink()

    def test_weights_that_are_no_network_over_the_normaliser(self):
        kernel = np.zeros((2, 80), np.float32)
        of_second = np.zeros((81, 40), np.float32)
        too_large = "weights.npz: weights policy/0 are too large to compute with exactly"
        for name, value, *words in (
            ("0/kernel", np.zeros((3, 80), np.float32), "[3, 80] instead of [2, 80], as the normaliser requires"),
            ("0/kernel", kernel.astype(np.float64), "is float64 instead of float32"),
            ("0/kernel", np.full_like(kernel, np.nan), "holds 160 values that are NaN or infinite"),
            ("0/kernel", np.float32(1), "has the shape []"),
            ("0/bias", np.array([np.inf] * 80, np.float32), "holds 80 values that are NaN or infinite"),
            ("0/bias", np.zeros(79, np.float32), "[79] instead of [80]"),
            ("1/kernel", of_second, "[81, 40] instead of [80, 40], as the layer before it requires"),
            ("logits/kernel", np.zeros((40, 2), np.float32), "[40, 2] instead of [40, 1]"),
            ("3/kernel", kernel, "belongs to no layer"),
            ("0/kernel", np.full_like(kernel, 1e9), too_large, "Train with a smaller"),
        ):
            with self.subTest(name=name, words=words):
                self.rewrite_weights(encode_arrays({**_network().weights, f"policy/{name}": value}))
                said = () if too_large in words else ("weights.npz: the tensor ", f"'policy/{name}'")
                self.assert_refused(*said, *words)

    def test_missing_tensors(self):
        for missing in ("policy/0/kernel", "policy/1/bias", "policy/logits/kernel"):
            weights = {name: value for name, value in _network().weights.items() if name != missing}
            self.assertIn(f"the tensor '{missing}' is missing", weights_fault(weights, 2) or "")
        self.assertIsNone(weights_fault(_network().weights, 2))
