import shutil
from unittest import mock

from mlgo.compiler.testing import fake_clang
from mlgo.corpus.corpus import Corpus
from mlgo.problems.regalloc_eviction.problem import PROBLEM
from mlgo.run.exit_codes import RunError
from mlgo.run.testing.folder_case import FolderCase
from mlgo.training import input_checks


class InputChecksTest(FolderCase):
    def corpus(self, folder: str, *names: str) -> Corpus:
        fake_clang.write_corpus(self.folder / folder, {name: fake_clang.FakeModule.bitcode({"f": 1}) for name in names})
        return Corpus.load(self.folder / folder)

    def test_corpora_must_have_no_module_in_common(self):
        train, held_out = self.corpus("train", "a", "b"), self.corpus("held_out", "c")
        input_checks.check_corpora(train, held_out)
        input_checks.check_corpora(train, None)
        with self.assertRaisesRegex(RunError, r"--held_out_corpus=.*: shares 1 modules .*\(first: b\)"):
            input_checks.check_corpora(train, self.corpus("other", "b", "d"))

    def test_vocabulary(self):
        with self.assertRaisesRegex(RunError, "--vocabulary=.*none: is not a folder. Give a folder with one"):
            input_checks.check_vocabulary(self.folder / "none", PROBLEM)
        with self.assertRaisesRegex(RunError, "buckets"):
            input_checks.check_vocabulary(self.folder, PROBLEM)

    def test_disk_space(self):
        corpora = [self.corpus("train", "a")]
        with mock.patch.object(shutil, "disk_usage") as usage:
            usage.return_value.free = 10**12
            input_checks.check_disk_space(self.folder, corpora)
            usage.return_value.free = 10**8
            with self.assertRaisesRegex(RunError, r"has 0.10 GB free on its disk, and this run may write 0.54 GB"):
                input_checks.check_disk_space(self.folder, corpora)
