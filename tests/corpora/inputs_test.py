"""Every kind of input with embedded bitcode: the original bytes, from a corpus that was moved or packed."""

import json
import unittest

from tests.corpora.project import BuildTestCase

EMBED = ("-O2", "-fPIC", "-Xclang", "-fembed-bitcode=all")


class InputsTest(BuildTestCase):
    def test_directory(self):
        objects = self.compile_all(*EMBED, "-g")
        corpus = self.extract(f"--input={self.build}", "--input_type=directory")
        self.assert_original_and_moved(corpus, objects)

    def test_parameters_with_an_archive(self):
        objects = self.compile_all(*EMBED)
        members = [name for name in objects if name != "main.cc.o"]
        self.run_tool("llvm-ar", "rcs", "it's all.a", *members)
        (self.build / "params").write_text('main.cc.o "it\'s all.a" -o app\n', encoding="utf-8")
        corpus = self.extract(f"--input={self.build / 'params'}", "--input_type=params", f"--obj_base_dir={self.build}")
        modules = [f"it's all.a({name.rpartition('/')[2]})" for name in members]
        self.assert_original_and_moved(corpus, [*modules, "main.cc.o"])

    def test_aquery(self):
        objects = self.compile_all(*EMBED)
        link = {
            "mnemonic": "CppLink",
            "arguments": ["clang", "@app-2.params"],
            "paramFiles": [{"execPath": "app-2.params", "arguments": ["-o", "app", *objects]}],
        }
        (self.build / "aquery.json").write_text(json.dumps({"actions": [link]}), encoding="utf-8")
        corpus = self.extract(
            f"--input={self.build / 'aquery.json'}", "--input_type=bazel_aquery", f"--obj_base_dir={self.build}"
        )
        self.assert_original_and_moved(corpus, objects)


if __name__ == "__main__":
    unittest.main()
