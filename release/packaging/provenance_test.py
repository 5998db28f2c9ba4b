import hashlib
import json
import pathlib
import tempfile
import unittest

from mlgo.problems.slots import policy_slots
from mlgo.run.exit_codes import RunError
from release.packaging import provenance

PYTHON_LOCKS = {
    "pip": """# Written by a command.
absl-py==2.5.1 \\
    --hash=sha256:{a}
numpy==2.1.3 \\
    --hash=sha256:{b} \\
    --hash=sha256:{c}
""".format(a="a" * 64, b="b" * 64, c="c" * 64)
}


def entry(name, version="1:2.0+x-1~deb12u1", digest="1", path=""):
    return {
        "name": name,
        "version": version,
        "sha256": digest * 64,
        "suite": "bookworm",
        "size": 1,
        "path": path or f"pool/main/{name}_1_amd64.deb",
    }


INVENTORY = {
    "llvm22": {"kind": "packages", "entries": [entry("llvm-22-dev"), entry("zlib1g-dev", digest="2")]},
    "zlib": {"kind": "packages", "entries": [entry("zlib1g-dev", digest="2")]},
    "python311_packages": {
        "kind": "packages",
        "entries": [entry("python3.11", digest="3", path="pool/main/p_1_all.deb")],
    },
    "llvm_source": {"kind": "source", "entries": [entry("llvm-toolchain-22", "22.1.8", digest="4")]},
    "unused": {"kind": "packages", "entries": [entry("unused", digest="5")]},
}


class ProvenanceTest(unittest.TestCase):
    def test_repositories_of_every_bazel_become_archives(self):
        repositories = [
            "",
            "_main~debian~llvm22",
            "mlgo++debian+zlib",
            "mlgo++python+python311",
            "_main~debian~llvm_source",
            "rules_cc~",
            "bazel_tools",
        ]
        rules = {"name": "rules_cc", "uri": "pkg:bazel/rules_cc@1", "digest": {"sha256": "6" * 64}}
        resolved, others = provenance.dependencies(
            repositories, INVENTORY, PYTHON_LOCKS, {"rules_cc": rules, "rules_pkg": {}}
        )
        self.assertEqual(resolved.pop(0), rules)
        self.assertEqual(
            [item["name"] for item in resolved], ["llvm-22-dev", "llvm-toolchain-22", "python3.11", "zlib1g-dev"]
        )
        self.assertEqual(others, ["bazel_tools"])
        self.assertEqual(
            resolved[0]["uri"], "pkg:deb/debian/llvm-22-dev@1%3A2.0%2Bx-1~deb12u1?arch=amd64&distro=bookworm"
        )
        self.assertEqual(resolved[0]["digest"], {"sha256": "1" * 64})
        self.assertTrue(resolved[1]["uri"].endswith("?arch=source&distro=bookworm"))
        self.assertTrue(resolved[2]["uri"].endswith("?arch=all&distro=bookworm"))

    def test_python_packages_count_each_wheel(self):
        resolved, _ = provenance.dependencies(["_main~python~pip"], INVENTORY, PYTHON_LOCKS, {})
        self.assertEqual(
            [(item["uri"], item["digest"]["sha256"][0]) for item in resolved],
            [("pkg:pypi/absl-py@2.5.1", "a"), ("pkg:pypi/numpy@2.1.3", "b"), ("pkg:pypi/numpy@2.1.3", "c")],
        )
        with self.assertRaisesRegex(RunError, "pins no package"):
            provenance.python_dependencies("# nothing")

    def test_a_module_of_rules_is_named_by_its_archive(self):
        with tempfile.TemporaryDirectory() as scratch:
            archive = pathlib.Path(scratch, "rules_java-7.6.5.tar")
            archive.write_bytes(b"rules")
            name, descriptor = provenance.rule_module(archive)
        self.assertEqual(name, "rules_java")
        self.assertEqual(descriptor["uri"], "pkg:bazel/rules_java@7.6.5")
        self.assertEqual(descriptor["digest"], {"sha256": hashlib.sha256(b"rules").hexdigest()})

    def test_a_policy_is_named_by_what_decides(self):
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch)
            (folder / "saved_model.pb").write_bytes(b"graph")
            digest = hashlib.sha256(b"graph").hexdigest()
            (folder / "policy.json").write_text(
                json.dumps(
                    {
                        "sha256": {"saved_model.pb": digest},
                        "training": {
                            "configuration": {"run": {"seed": 7}},
                            "held_out": {"long": "table"},
                            "inputs": {"train_corpus": "ab"},
                        },
                    }
                )
            )
            record = provenance.policy_record("regalloc_eviction", folder)
        self.assertEqual(record["sha256"], digest)
        self.assertIn("seed 7", record["training_run"])
        self.assertEqual(record["training"], {"configuration": {"run": {"seed": 7}}, "inputs": {"train_corpus": "ab"}})
        self.assertEqual(set(record["files"]), {"policy.json", "saved_model.pb"})

    def test_statement_and_readme(self):
        request = {
            "target": "//release:clang",
            "backend": "cpp",
            "llvm": "1.2.3",
            "module": "mlgo 0.1.0",
            "bazel": "7.7.1",
        }
        policy = {"problem": "inlining_for_size", "training_run": "seed 1", "sha256": "d" * 64}
        made = provenance.statement(request, "c" * 64, [policy], [], ["rules_cc"])
        self.assertEqual(made["_type"], "https://in-toto.io/Statement/v1")
        self.assertEqual(made["subject"], [{"name": "bin/clang", "digest": {"sha256": "c" * 64}}])
        text = provenance.readme("{LLVM} {WORKSPACE} {BAZEL} {CLANG_SHA256}\n{POLICIES}", made)
        self.assertEqual(text.split("\n")[0], f"1.2.3 mlgo 0.1.0 7.7.1 {'c' * 64}")
        self.assertIn(f"inlining_for_size    seed 1\n{'':<24} sha256 {'d' * 64}", text)
        self.assertIn("for -Os or -Oz: -mllvm -enable-ml-inliner=release", text)
        self.assertIn("none", provenance.readme("{POLICIES}", provenance.statement(request, "c" * 64, [], [], [])))

    def test_one_of_several_policies_has_a_name(self):
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch)
            (folder / "saved_model.pb").write_bytes(b"graph")
            record = provenance.policy_record("inlining_for_size", folder, "arm32-size")
            self.assertNotIn("name", provenance.policy_record("inlining_for_size", folder))
        self.assertEqual(record["name"], "arm32-size")
        request = {"target": "//release:clang", "backend": "cpp", "llvm": "1", "module": "m", "bazel": "7"}
        text = provenance.readme("{POLICIES}\n{EXAMPLES}", provenance.statement(request, "c" * 64, [record], [], []))
        on = "-mllvm -enable-ml-inliner=release -mllvm -ml-inliner-model-selector=arm32-size"
        self.assertIn("inlining_for_size    name arm32-size, not recorded\n", text)
        self.assertIn(f"for -Os or -Oz: {on}\n", text)
        self.assertIn(f"bin/clang -Oz {on} -c x.c", text)

    def test_a_policy_for_targets_needs_no_option(self):
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch)
            (folder / "saved_model.pb").write_bytes(b"graph")
            record = provenance.policy_record("inlining_for_size", folder, "small", ["aarch64", "arm"])
            self.assertNotIn("architectures", provenance.policy_record("inlining_for_size", folder, "small"))
        self.assertEqual(record["architectures"], ["aarch64", "arm"])
        request = {"target": "//release:clang", "backend": "cpp", "llvm": "1", "module": "m", "bazel": "7"}
        text = provenance.readme("{POLICIES}", provenance.statement(request, "c" * 64, [record], [], []))
        self.assertIn("inlining_for_size    name small, for aarch64 and arm, not recorded\n", text)
        self.assertRegex(text, "for -Os or -Oz: -mllvm -enable-ml-inliner=release$")

    def test_the_readme_recommends_each_policy_at_its_level(self):
        request = {"target": "//release:clang", "backend": "cpp", "llvm": "1", "module": "m", "bazel": "7"}
        policies = [
            {"problem": slot["problem"], "training_run": "seed 1", "sha256": "d" * 64}
            for slot in policy_slots().values()
        ]
        made = provenance.statement(request, "c" * 64, policies, [], [])
        template = pathlib.Path(__file__).with_name("README.receiver.txt").read_text(encoding="utf-8")
        commands = [line.strip() for line in provenance.readme(template, made).splitlines() if "-c x.c" in line]
        self.assertEqual(
            commands,
            [
                "bin/clang -O2 -mllvm -regalloc-enable-advisor=release -c x.c",
                "bin/clang -Oz -mllvm -enable-ml-inliner=release -c x.c",
                "bin/clang -O2 -mllvm -regalloc-enable-priority-advisor=release -c x.c",
            ],
        )


if __name__ == "__main__":
    unittest.main()
