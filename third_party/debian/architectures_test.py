import json
import pathlib
import re
import unittest

import architectures


class ArchitecturesTest(unittest.TestCase):
    def test_the_variable_comes_before_the_machine(self):
        for environ, machine, expected in (
            ({}, "x86_64", architectures.AMD64),
            ({}, "aarch64", architectures.ARM64),
            ({architectures.HOST_VARIABLE: "arm64"}, "x86_64", architectures.ARM64),
            ({architectures.HOST_VARIABLE: "aarch64"}, "x86_64", architectures.ARM64),
            ({architectures.HOST_VARIABLE: ""}, "x86_64", architectures.AMD64),
        ):
            with self.subTest(environ=environ, machine=machine):
                self.assertEqual(architectures.host(environ, machine), expected)

    def test_an_unknown_architecture_is_named_with_the_known_ones(self):
        with self.assertRaisesRegex(
            architectures.ArchitectureError, "MLGO_HOST_ARCHITECTURE=vax: no packages are pinned .* one of amd64, arm64"
        ):
            architectures.host({architectures.HOST_VARIABLE: "vax"})
        with self.assertRaisesRegex(architectures.ArchitectureError, "the machine=riscv64"):
            architectures.host({}, "riscv64")

    def test_package_names(self):
        self.assertEqual(architectures.AMD64.filled("binutils-{gnu}"), "binutils-x86-64-linux-gnu")
        self.assertEqual(architectures.ARM64.filled("binutils-{gnu}"), "binutils-aarch64-linux-gnu")
        self.assertEqual(architectures.ARM64.filled("zlib1g"), "zlib1g")

    def test_the_repository_rules_know_the_same_architectures(self):
        text = pathlib.Path(__file__).with_name("architecture.bzl").read_text(encoding="utf-8")
        self.assertIn(f'HOST_VARIABLE = "{architectures.HOST_VARIABLE}"', text)
        found = re.findall(
            r'name = "(\w+)",\n\s+machines = (\[[^\]]*\]),\n\s+cpu = "\w+",\n\s+multiarch = "([^"]+)"', text
        )
        self.assertEqual(
            [(name, tuple(json.loads(machines)), multiarch) for name, machines, multiarch in found],
            [(a.name, a.machines, a.multiarch) for a in (architectures.AMD64, *architectures.OTHERS)],
        )


if __name__ == "__main__":
    unittest.main()
