"""Modules that an image holds nothing of are named, and an image of few of them is an error."""

from unittest import mock

from mlgo.corpus.extraction.testing import toolbox
from mlgo.evaluation.corpora import linked_code
from mlgo.evaluation.corpora.coverage import coverage_of
from mlgo.evaluation.programs.program import Program
from mlgo.evaluation.programs.size import coverage_of_units, executable_bytes
from mlgo.run.exit_codes import RunError


class CoverageTest(toolbox.ToolboxTest):
    def test_modules_are_named_and_counted(self):
        coverage = coverage_of(
            {"a": 10, "b": 20, "c": 30, "data": 0, "gone": 40},
            [{"a": 5, "b": 0, "c": 30, "data": 0, "gone": 0}, {"a": 5, "b": 7, "c": 30, "data": 0, "gone": 0}],
        )
        counts = {"modules": 5, "with_code": 4, "in_image": 3}
        names = {"without_code": ["data"], "absent": {"gone": 40}, "defined_twice": {}}
        self.assertEqual(coverage.to_json(), counts | names)
        absent, without = coverage.lines("zstd")
        self.assertRegex(absent, r"^zstd: the linked image holds code of 3 of 4 modules with code, .*: gone$")
        self.assertEqual(without, "zstd: modules without code: data")
        coverage.check("zstd")

    def test_an_image_of_everything(self):
        self.assertEqual(coverage_of({"a": 1}, [{"a": 1}]).lines("c"), [])

    def test_an_image_of_few_modules_is_no_measure(self):
        code = {f"{number:02}": 10 for number in range(50)}
        with self.assertRaisesRegex(RunError, r"holds code of only 24 of 50 modules.* not of 24, 25, .* and 6 more"):
            coverage_of(code, [dict.fromkeys(list(code)[:24], 1)]).check("c")
        coverage_of(code, [dict.fromkeys(list(code)[:25], 1)]).check("c")

    def test_modules_without_code_are_no_reason_to_fail(self):
        coverage_of({"a": 1, "b": 0, "c": 0, "d": 0}, [{"a": 1, "b": 0, "c": 0, "d": 0}]).check("c")

    def test_what_the_linker_leaves_out(self):
        sources = {
            "first": "int f(int x) { return x * 3; }",
            "again": "int f(int x) { return x * 3; }",
            "hidden": '__attribute__((visibility("hidden"))) int g(int x) { return x * 5; }',
            "used": "int h(int x) { return x * 7; }",
            "data": "int data = 3;",
        }
        objects = {name: self.compiled(f"{name}.o", source) for name, source in sources.items()}
        (self.folder / "work").mkdir()
        image = linked_code.link(self.folder / self.tool("ld.lld"), objects, self.folder / "work")
        code = {name: executable_bytes(path.read_bytes()) for name, path in objects.items()}
        coverage = coverage_of(code, [image], objects)
        self.assertEqual(coverage.defined_twice, {"f": ["again", "first"]})
        self.assertRegex("\n".join(coverage.lines("c")), r"1 symbols are defined by more than one.* f \(again, first\)")
        self.assertEqual((list(coverage.absent), coverage.without_code), (["again", "hidden"], ["data"]))
        self.assertEqual(coverage.in_image, 2)

    def test_units_of_a_program(self):
        sources = {"main.c": "int f(int); int main(int c) { return f(c); }", "f.c": "int f(int x) { return x * 3; }"}
        sources["unused.c"] = '__attribute__((visibility("hidden"))) int u(int x) { return x * 5; }'
        sources["asm.S"] = "int d;"
        objects = [self.compiled(f"{index}.o", source) for index, source in enumerate(sources.values())]
        (self.folder / "work").mkdir()
        named = dict(zip(sources, objects))
        linked_code.link(self.folder / self.tool("ld.lld"), named, self.folder / "work")
        program = mock.create_autospec(Program, instance=True)
        program.units.return_value = [(path, object_path.name) for path, object_path in named.items()]
        coverage = coverage_of_units(program, objects, self.folder / "work/image", self.folder / "work/image.map")
        self.assertEqual((coverage.with_code, coverage.in_image), (3, 2))
        self.assertEqual((list(coverage.absent), coverage.without_code), (["unused.c"], ["asm.S"]))
