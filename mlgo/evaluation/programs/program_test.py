import dataclasses
import json
import pathlib
import re

from mlgo.evaluation.programs.program import is_c_plus_plus, load_program
from mlgo.run import locate
from mlgo.run.exit_codes import RunError
from mlgo.run.testing.folder_case import FolderCase

_RUN = {"name": "go", "arguments": ["3"]}


class ProgramTest(FolderCase):
    def setUp(self):
        super().setUp()
        self.tree = self.folder / "tree"
        contents = {"b.c": "int b;", "a.cc": "int a;", "skip.c": "", "inc/deep/x.h": "#define X"}
        for name, content in {**contents, "data/1": "one", "data/2": "two"}.items():
            self.file(f"tree/{name}", content)
        self.file("main.cc", "int main() {}")

    def load(self, **changes):
        fields = {
            "name": "p",
            "package": "tree",
            "sources": ["*.c", "*.cc"],
            "exclude": ["skip.c"],
            "mains": ["main.cc"],
            "includes": ["inc"],
            "defines": ["A=1"],
            "inputs": {"text": ["data/*"]},
            "runs": [{**_RUN, "stdin": "text"}],
            **changes,
        }
        given = {name: value for name, value in fields.items() if value is not None}
        return load_program(self.file("p.json", json.dumps(given)), {"tree": self.tree})

    def test_sources_are_sorted_and_mains_come_last(self):
        program = self.load()
        main = (str(self.folder / "main.cc"), "0002_main.o")
        self.assertEqual(program.units(), [("a.cc", "0000_a.o"), ("b.c", "0001_b.o"), main])
        self.assertEqual(program.compile_flags("a.cc"), ["-DNDEBUG", "-DA=1", "-Iinc"])
        self.assertEqual([is_c_plus_plus(path) for path, _ in program.units()], [True, False, True])

    def test_an_input_is_its_files_one_after_the_other(self):
        self.load().write_inputs(self.folder)
        self.assertEqual((self.folder / "text").read_bytes(), b"onetwo")

    def test_an_input_may_lie_in_a_folder(self):
        self.load(inputs={"text": ["data/1"], "some/..folder/two": ["data/2"]}).write_inputs(self.folder)
        self.assertEqual((self.folder / "some/..folder/two").read_bytes(), (self.tree / "data/2").read_bytes())

    def test_whatever_decides_changes_the_digest(self):
        digests = {self.load().digest()}
        for name, content in (("inc/deep/x.h", "#define X 2"), ("data/2", "three")):
            self.file(f"tree/{name}", content)
            digests.add(self.load().digest())
        changes = ({"defines": ["A=2"]}, {"runs": [_RUN]}, {"libraries": ["-lm"]})
        digests |= {self.load(**change).digest() for change in changes}
        self.assertEqual(len(digests), 6)
        self.assertIn(self.load().digest(), digests)

    def load_with_commands(self, options=("-DB",), **changes):
        entries = [
            {"directory": str(self.tree), "file": name, "arguments": ["clang", *options, "-c", name]}
            for name in ("b.c", "a.cc")
        ]
        self.file("commands.json", json.dumps(entries))
        (self.folder / "stamp").touch()
        without = dict.fromkeys(("package", "sources", "exclude", "mains", "includes", "defines"))
        return self.load(**{**without, "compile_commands": "commands.json", "fingerprints": ["stamp"], **changes})

    def test_commands_of_a_build_system(self):
        program = self.load_with_commands(flags=["-w"])
        self.assertEqual((program.root, program.units()), (self.tree, [("b.c", "0000_b.o"), ("a.cc", "0001_a.o")]))
        self.assertEqual(program.compile_flags("a.cc"), ["-DB", "-w"])
        (self.folder / "text").mkdir()
        program.write_inputs(self.folder / "text")
        self.assertEqual((self.folder / "text" / "text").read_bytes(), b"onetwo")

    def test_the_digest_covers_commands_sources_and_fingerprints(self):
        digests = {self.load_with_commands().digest(), self.load_with_commands(options=["-DC"]).digest()}
        self.file("tree/a.cc", "int changed;")
        digests.add(self.load_with_commands().digest())
        program = self.load_with_commands()
        self.file("stamp", "2")
        digests.add(program.digest())
        self.assertEqual(len(digests), 4)
        self.assertIn(program.digest(), digests)

    def test_sources_and_generated_headers_may_lie_outside_of_the_build_folder(self):
        build, elsewhere = self.folder / "build", self.folder / "other" / "generated"
        build.mkdir()
        elsewhere.mkdir(parents=True)
        absolute = str(self.tree / "b.c")
        command = ["clang", f"-I{elsewhere}", "-c", absolute]
        entry = {"directory": str(build), "file": absolute, "arguments": command}
        self.file("cmake.json", json.dumps([entry]))
        program = self.load_with_commands(compile_commands="cmake.json", inputs={}, runs=[_RUN])
        self.assertEqual(program.compile_flags(absolute), [f"-I{elsewhere}"])
        before = program.digest()
        self.file("tree/b.c", "int changed;")
        self.assertNotEqual(program.digest(), before)

    def test_units_of_several_folders_are_compiled_in_their_own(self):
        entries = []
        for name in ("b.c", "inc/c.c"):
            (self.tree / name).touch()
            folder = (self.tree / name).parent
            source = pathlib.Path(name).name
            entries.append({"directory": str(folder), "file": source, "command": f"cc -c {source}"})
        self.file("make.json", json.dumps(entries))
        program = self.load_with_commands(compile_commands="make.json", inputs={}, runs=[_RUN])
        self.assertEqual([program.directory_of(path) for path in program.sources], [self.tree, self.tree / "inc"])
        elsewhere = dataclasses.replace(program, directories={})
        self.assertNotEqual(elsewhere.digest(), program.digest())
        self.assertEqual(elsewhere.directory_of(program.sources[1]), program.root)

    def test_a_build_at_another_level_is_told(self):
        program = dataclasses.replace(self.load_with_commands(), levels=("-O3",))
        said = "its compile commands are at -O3; here it is compiled at -Oz and -O2, as all programs are"
        self.assertRegex(program.level_note(["-Oz", "-O2"]), said)
        for levels in ((), ("-O2",), ("-O2", "-Oz")):
            self.assertIsNone(dataclasses.replace(program, levels=levels).level_note(["-Oz", "-O2"]))

    def test_include_folders_may_be_absolute_and_their_headers_count(self):
        for spelled in (f"{self.folder}/build/generated", "../build/generated"):
            digests = set()
            for content in ("1", "2"):
                self.file("build/generated/config.h", f"#define C {content}")
                program = self.load(includes=["inc", spelled])
                digests.add(program.digest())
            self.assertEqual(program.compile_flags("a.cc")[-1], f"-I{spelled}")
            self.assertEqual(len(digests), 2)

    def test_an_include_folder_that_does_not_exist_is_named(self):
        absent = str(self.tree / "absent")
        for folder, path in (("absent", absent), ("/absent/generated", "/absent/generated"), ("@tree/absent", absent)):
            said = re.escape(f"has the folder {folder!r} in `includes`, but {path} is not a folder")
            with self.assertRaisesRegex(RunError, f"{said}.*--package=NAME=TREE"):
                self.load(includes=[folder])

    def test_a_description_has_either_commands_or_sources(self):
        for field in ("sources", "includes", "defines", "root"):
            with self.subTest(field), self.assertRaisesRegex(RunError, f"has both compile_commands and '{field}'"):
                self.load_with_commands(**{field: []})
        (self.tree / "a.cc").unlink()
        with self.assertRaisesRegex(RunError, "has commands that compile 'a.cc', which is not in"):
            self.load_with_commands()

    def test_without_a_package_the_root_is_beside_the_description(self):
        program = self.load(package=None, root="tree")
        self.assertEqual((program.root, program.sources), (self.tree, ("a.cc", "b.c")))

    def test_headers_of_another_package_are_found_and_count(self):
        program = self.load(includes=["inc", "@tree/inc/deep"], sources=["*.c"])
        self.assertEqual(program.compile_flags("a.cc")[-2:], ["-Iinc", f"-I{self.tree}/inc/deep"])
        digests = set()
        for content in ("#define Y", "#define Y 2"):
            other = self.file("other/y.h", content).parent
            digests.add(dataclasses.replace(program, includes=("@other/",), packages={"other": other}).digest())
        self.assertEqual(len(digests), 2)

    def test_errors_name_the_field(self):
        for changes, message in (
            ({"name": None}, "has no field 'name'"),
            ({"name": "a/b"}, "has the name 'a/b'"),
            ({"name": ".."}, "has the name '..'"),
            ({"package": "other"}, "is built from the package 'other'; known: tree"),
            ({"package": None, "root": "absent"}, "where no folder is"),
            ({"includes": ["@other/include"]}, "includes from the package 'other'; known: tree"),
            ({"sources": ["*.c", "*.f90"]}, "'\\*.f90' \\(sources\\), which matches no file"),
            ({"sources": ["/etc/passwd"]}, "which is not usable"),
            ({"sources": [], "mains": []}, "names no sources"),
            ({"mains": ["absent.c"]}, "'absent.c', which is not in"),
            ({"training": {}}, "has a `training` that is not a JSON object with inputs or runs"),
            ({"training": {"input": {}}}, "has a `training` with the unknown field 'input'"),
            ({"training": {"inputs": {"text": ["data/*"]}}}, "has a `training` that is what is measured"),
            ({"training": {"runs": [{**_RUN, "stdin": "other"}]}}, "reads 'other', which is not an input"),
            ({"runs": []}, "has no list of runs"),
            ({"runs": [_RUN, _RUN]}, "two runs of one name"),
            ({"runs": [{**_RUN, "stdin": "nothing"}]}, "reads 'nothing', which is not an input"),
            ({"runs": [{**_RUN, "input": "text"}]}, "a run with the unknown field 'input'"),
            ({"inputs": {"text": 3}}, "an input text that is neither"),
            ({"inputs": {"a/../b": "main.cc"}}, "an input with the name 'a/../b'"),
            ({"inputs": {"/b": "main.cc"}}, "an input with the name '/b'"),
            ({"inputs": {"text": ["data/1"], "text/a": ["data/2"]}}, "the input 'text', which is also the folder of"),
            ({"defines": "A"}, "a field 'defines' that is not a list of texts"),
            ({"source": []}, "the unknown field 'source'"),
        ):
            with self.subTest(message), self.assertRaisesRegex(RunError, message):
                self.load(**changes)

    def test_a_level_in_the_flags_is_refused(self):
        with self.assertRaisesRegex(RunError, "has the level -O3 in `flags`; sizes are measured at -Oz"):
            self.load(flags=["-DA", "-O3"])

    def test_training_has_other_inputs_or_runs(self):
        self.assertIsNone(self.load().training)
        program = self.load(training={"inputs": {"text": ["data/2"], "more": ["data/1"]}})
        self.assertEqual(program.training.inputs["text"], (self.tree / "data/2",))
        self.assertEqual(program.training.runs, program.runs)
        own = {"inputs": {"other": ["data/2"]}, "runs": [{"name": "go", "arguments": ["5"]}]}
        self.assertEqual(set(self.load(training=own).training.inputs), {"other"})
        program = self.load(training={"runs": [{"name": "go", "arguments": ["5"]}]})
        self.assertEqual(program.training.inputs, program.inputs)
        self.assertEqual(program.training.runs[0].arguments, ("5",))
        self.assertEqual(program.digest(), self.load().digest())

    def test_a_profile_is_part_of_the_digest(self):
        digests = []
        for content in ("1", "2"):
            profiles = {"-O2": self.file("profile", content)}
            digests.append(dataclasses.replace(self.load(), profiles=profiles).digest())
        self.assertEqual(len({*digests, self.load().digest()}), 3)

    def test_the_built_in_descriptions_name_files_that_are_there(self):
        folder = locate.runfile("mlgo/evaluation/programs/descriptions/lua.json").parent
        paths = sorted(folder.glob("*.json"))
        self.assertGreaterEqual(len(paths), 7)
        for path in paths:
            content = json.loads(path.read_text(encoding="utf-8"))
            self.assertEqual(content["name"], path.stem)
            inputs = [value for value in content.get("inputs", {}).values() if isinstance(value, str)]
            for name in [*content.get("mains", []), *inputs]:
                self.assertTrue((folder / name).is_file(), f"{path.name}: {name}")
