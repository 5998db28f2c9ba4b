import dataclasses
import json
import os
import pathlib
from unittest import mock

from mlgo.evaluation.programs.building import Toolchain, sysroot_from_flags
from mlgo.evaluation.programs.target import HOST, Target, target_from_flags
from mlgo.run.exit_codes import RunError
from mlgo.run.testing.folder_case import FolderCase


class TargetTest(FolderCase):
    def setUp(self):
        super().setUp()
        fields = {"triple": "arm-linux-gnueabihf", "gcc": "usr/gcc", "flags": ["-mthumb"]}
        variables = {
            "MLGO_PROGRAM_TARGETS": json.dumps({"thumb": {**fields, "emulator_flags": ["-cpu", "x"]}}),
            "MLGO_EMULATOR_thumb": str(self.script("emulator", "# emulator")),
            "MLGO_COUNT_PLUGIN": str(self.script("plugin.so", "# plugin.so")),
        }
        self.enterContext(mock.patch.dict(os.environ, variables))

    def test_the_command_names_what_a_target_needs(self):
        found = target_from_flags("thumb")
        self.assertEqual((found.triple, found.flags), ("arm-linux-gnueabihf", ("-mthumb",)))
        self.assertEqual(found.emulator, (str(self.folder / "emulator"), "-cpu", "x", "-seed", "1"))
        self.assertEqual(found.plugin, (self.folder / "plugin.so").resolve())

    def test_programs_are_compiled_for_it(self):
        sysroot = pathlib.Path("/sysroot")
        toolchain = Toolchain(sysroot, sysroot, sysroot, 1, target=target_from_flags("thumb"))
        expected = "--target=arm-linux-gnueabihf --no-default-config -mthumb --sysroot=/sysroot"
        self.assertEqual(toolchain.target_flags(), f"{expected} --gcc-install-dir=/sysroot/usr/gcc".split())

    def test_an_unknown_target_is_refused_with_those_that_there_are(self):
        with self.assertRaisesRegex(RunError, "--target=vax: is not a target of this command. Give x86_64, thumb"):
            target_from_flags("vax")

    def test_this_machine_needs_nothing(self):
        with mock.patch.dict(os.environ, clear=True):
            self.assertEqual(target_from_flags("x86_64"), HOST)

    def test_the_machines_libraries_are_not_those_of_another_target(self):
        with self.assertRaisesRegex(RunError, "are not those of thumb"):
            sysroot_from_flags("", target_from_flags("thumb"))
        self.assertIsNone(sysroot_from_flags(""))

    def test_whatever_changes_programs_or_counts_changes_the_digest(self):
        first = target_from_flags("thumb")
        digests = {first.digest(), HOST.digest()}
        changes: tuple[Target, ...] = (
            dataclasses.replace(first, triple="other"),
            dataclasses.replace(first, flags=()),
            dataclasses.replace(first, emulator=(*first.emulator, "-R")),
        )
        digests |= {changed.digest() for changed in changes}
        self.file("plugin.so", "another")
        digests.add(first.digest())
        self.assertEqual(len(digests), 6)
        self.assertEqual(HOST.digest(), "")
