import json

from mlgo.run import manifest
from mlgo.run.exit_codes import RunError
from mlgo.run.testing.folder_case import FolderCase


class ManifestTest(FolderCase):
    def setUp(self):
        super().setUp()
        self.file("output", "content")
        self.written = manifest.Manifest(
            stage="trace",
            inputs={"corpus": "12"},
            configuration={"seed": 1, "limits": [2.5, None]},
            outputs=manifest.digests_of(self.folder, ["output"]),
            summary={"modules": 3},
        )
        manifest.write(self.folder, self.written)

    def current(self, **changes):
        asked = {"stage": "trace", "inputs": {"corpus": "12"}, "configuration": {"limits": [2.5, None], "seed": 1}}
        return manifest.read_if_current(self.folder, **{**asked, **changes})

    def test_same_stage_is_current(self):
        self.assertEqual(self.current(), self.written)

    def test_anything_else_is_not(self):
        other = {"seed": 2, "limits": [2.5, None]}
        for changes in ({"stage": "vocabulary"}, {"inputs": {"corpus": "13"}}, {"configuration": other}):
            self.assertIsNone(self.current(**changes))

    def test_changed_or_lost_output_is_noticed(self):
        self.file("output", "Content")
        self.assertIsNone(self.current())
        (self.folder / "output").unlink()
        self.assertIsNone(self.current())

    def test_absent_and_older_manifests_count_as_not_done(self):
        path = self.file(manifest.FILE_NAME, '{"format_version": 0}')
        self.assertIsNone(self.current())
        path.unlink()
        self.assertIsNone(self.current())

    def test_garbage_is_an_error_with_a_remedy(self):
        for content in ('{"format_version": 1, "surprise": 1}', "[]", "{"):
            self.file(manifest.FILE_NAME, content)
            with self.assertRaisesRegex(RunError, "Delete .*; its stage then runs again"):
                self.current()

    def test_fields_of_other_types_are_named(self):
        manifest.write(self.folder, manifest.Manifest("trace", {}, {}, {}))
        content = json.loads((self.folder / manifest.FILE_NAME).read_text())
        changes = {"stage": 1, "inputs": "corpus", "outputs": {"a": 1}, "configuration": [], "summary": 1}
        for name, value in {**changes, "format_version": "1"}.items():
            with self.subTest(name):
                (self.folder / manifest.FILE_NAME).write_text(json.dumps({**content, name: value}))
                with self.assertRaisesRegex(RunError, f"stage manifest .*: has a field '{name}' that is not .*Delete"):
                    manifest.read_if_current(self.folder, "trace", {}, {})

    def test_digest_follows_the_outputs_only(self):
        same = manifest.Manifest("other", {}, {}, dict(self.written.outputs))
        self.assertEqual(self.written.digest, same.digest)
        self.assertNotEqual(self.written.digest, manifest.Manifest("trace", {}, {}, {"output": "0"}).digest)

    def test_files_below_leaves_out_manifest_and_unfinished_files(self):
        self.file("a/b")
        self.file("a/.b.x.partial")
        self.assertEqual(manifest.files_below(self.folder), ["a/b", "output"])
