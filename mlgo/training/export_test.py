"""Published policies: the files of the export, the record of the training, and a BUILD file."""

import json

from mlgo.problems.regalloc_eviction.problem import PROBLEM
from mlgo.run.testing.folder_case import FolderCase
from mlgo.training import export


class PublishTest(FolderCase):
    def test_published_files(self):
        for name in ("saved_model.pb", "weights.npz", f"{export.TFLITE_NAME}/model.tflite"):
            self.file(f"export/{name}", name)
        exported, policy = self.file("export/policy.json", '{"problem": "x"}').parent, self.folder / "policy"
        export.publish_policy(exported, policy, PROBLEM, {"seed": 7})
        record = json.loads((policy / "policy.json").read_bytes())
        self.assertEqual(record, {"problem": "x", "training": {"seed": 7}})
        self.assertEqual((policy / "tflite/model.tflite").read_text(encoding="utf-8"), "tflite/model.tflite")
        build = (policy / "BUILD.bazel").read_text(encoding="utf-8")
        assert PROBLEM.release_setting is not None
        slot = PROBLEM.release_setting.rpartition(":")[2]
        self.assertIn(f'//release:install -- --prefix="$HOME/mlgo-clang" --{slot}=', build)
        self.assertNotIn("{", build)
