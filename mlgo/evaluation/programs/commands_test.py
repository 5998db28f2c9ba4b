import json
import pathlib
import shlex
import tempfile
import unittest

from hypothesis import HealthCheck, given, settings, strategies

from mlgo.evaluation.programs.commands import code_generation, load_commands, own_options
from mlgo.run.exit_codes import RunError

_OWN = tuple(shlex.split("-DA=1 -I -O2 -mllvm -O3 -fPIC -isystem 'a b' -Xclang -fno-pch -march=x86-64 -fno-exceptions"))


def _drawn(options: str) -> strategies.SearchStrategy[tuple[str, ...]]:
    """One of `options`, which | separates. An option and its value are drawn together."""
    return strategies.sampled_from([tuple(shlex.split(each)) for each in options.split("|")])


_KEPT = _drawn(
    "-DA=1 | --config=size.cfg | -mllvm=-g | -I -O2 | -mllvm -g | -isystem 'a b' | -Xclang -fno-pch | -fPIC | -ObjC"
    " | -Xclang -mllvm -Xclang -inline-threshold=5 | -mllvm -inline-threshold -mllvm 5 | --param -O2"
)
_LEFT = _drawn(
    "-O2 | -MF -DA | -g2 | -MMD | -o -DB | -flto=thin | -Xclang -fembed-bitcode=all | -c | -ob.o | --output=b.o"
    " | --output b.o | -gen-cdb-fragment-path fragments | -dependency-file a.d | --serialize-diagnostics a.dia"
    " | -serialize-diagnostics a.dia | -save-temps=obj | -Xclang -dependency-file -Xclang a.d"
    " | -mllvm -enable-ml-inliner=release | -mllvm=-regalloc-enable-advisor=release"
    " | -mllvm -ml-inliner-model-selector=arm32-size | -mllvm -mlgo-search=8 | -mllvm -mlgo-decisions=a.decisions"
    " | -Xclang -mllvm -Xclang -enable-ml-inliner=release | -mllvm -enable-ml-inliner -mllvm release"
    " | --config=mlgo-size.cfg | --config /opt/mlgo/bin/mlgo-speed.cfg"
)


class OwnOptionsTest(unittest.TestCase):
    def test_what_says_how_code_is_generated_stays(self):
        self.assertEqual(own_options(["clang++", *_OWN, "-c", "a.cc", "-o", "a.o"], "a.cc"), _OWN)

    def test_launchers_and_spellings(self):
        words = ["ccache", "/usr/bin/clang", "a.c", "-DX", "-oa.o", "-MMD", "-MF", "a.d", "-gdwarf-4", "-Os"]
        self.assertEqual(own_options(words, "a.c"), ("-DX",))
        self.assertEqual(own_options(["clang"], "a.c"), ())
        self.assertEqual(own_options(["clang", "-ObjC", "-O2", "--output=a.o", "a.c"], "a.c"), ("-ObjC",))

    def test_what_needs_lto_is_left_out_with_it(self):
        words = ["clang", "-flto=thin", "-fsanitize=cfi-vcall", "-fsanitize=address,cfi,null", "-fsanitize=undefined"]
        more = ["-fvirtual-function-elimination", "-fsanitize-cfi-cross-dso", "-fvisibility=hidden", "a.c"]
        expected = ("-fsanitize=address,null", "-fsanitize=undefined", "-fvisibility=hidden")
        self.assertEqual(own_options([*words, *more], "a.c"), expected)

    # A busy machine draws slowly.
    @settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(strategies.lists(strategies.tuples(strategies.booleans(), _KEPT, _LEFT)))
    def test_any_order(self, draws):
        words = [word for keep, kept, left in draws for word in (kept if keep else left)]
        expected = tuple(word for keep, kept, _ in draws if keep for word in kept)
        self.assertEqual(own_options(["clang", *words, "a.c"], "a.c"), expected)

    def test_only_llvm_and_the_place_of_code_count_for_bitcode(self):
        self.assertEqual(code_generation(_OWN), ["-mllvm", "-O3", "-fPIC"])


class LoadCommandsTest(unittest.TestCase):
    def setUp(self):
        self.path = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()), "compile_commands.json")

    def load(self, *entries, objects=()):
        self.path.write_text(json.dumps(list(entries)), encoding="utf-8")
        return load_commands(self.path, objects)

    def test_words_and_lines(self):
        command = shlex.join(["clang++", "-O2", '-DQ="x"', "-c", "b c.cc"])
        found = self.load(
            {"directory": "/out", "file": "../a.cc", "arguments": ["clang++", "-DA=b c", "-c", "../a.cc"]},
            {"directory": "/out", "file": "b c.cc", "command": command},
        )
        self.assertEqual(found.directory, pathlib.Path("/out"))
        self.assertEqual(found.options, {"../a.cc": ("-DA=b c",), "b c.cc": ('-DQ="x"',)})

    def test_levels_of_the_commands_are_known_though_an_evaluation_sets_its_own(self):
        words = ("clang -O2 -O3 -c a.c", "clang -D -O1 -c b.c", "clang --optimize=s -c c.c", "clang -O3 -c d.c")
        entries = [{"directory": "/o", "file": command.split()[-1], "command": command} for command in words]
        found = self.load(*entries)
        self.assertEqual(found.levels, ("--optimize=s", "-O0", "-O3"))
        self.assertEqual(set(found.options.values()), {(), ("-D", "-O1")})
        found = self.load({"directory": "/o", "file": "a.m", "command": "clang -O1 -ObjC -c a.m"})
        self.assertEqual(found.levels, ("-O1",))

    def test_patterns_find_outputs_in_every_spelling(self):
        for spelling in ("-o x/a.o", "-ox/a.o", "--output=x/a.o", "--output x/a.o", "-MF -ox/b.o -ox/a.o"):
            found = self.load({"directory": "/o", "file": "a.c", "command": f"cc {spelling} -c a.c"}, objects=["x/a.o"])
            self.assertEqual(found.options, {"a.c": ()}, spelling)
        found = self.load({"directory": "/o", "file": "s/a.c", "command": "cc -c s/a.c"}, objects=["a.o"])
        self.assertEqual(found.options, {"s/a.c": ()})

    def test_a_relative_folder_counts_from_the_database(self):
        found = self.load({"directory": "out", "file": "a.c", "command": "cc a.c"})
        self.assertEqual(found.directory, self.path.parent / "out")

    def test_commands_of_several_folders_run_in_their_own(self):
        found = self.load(
            {"directory": "/out/a", "file": "m.c", "command": "clang -I. -c m.c"},
            {"directory": "/out/b", "file": "m.c", "command": "clang -DB -c m.c"},
            {"directory": "/out/b", "file": "/src/n.c", "command": "clang -c /src/n.c"},
        )
        self.assertEqual(found.directory, self.path.parent)
        self.assertEqual(found.options, {"/out/a/m.c": ("-I.",), "/out/b/m.c": ("-DB",), "/src/n.c": ()})
        folders = {"/out/a/m.c": "/out/a", "/out/b/m.c": "/out/b", "/src/n.c": "/out/b"}
        self.assertEqual(found.directories, {name: pathlib.Path(folder) for name, folder in folders.items()})

    def test_patterns_of_objects_choose_the_program(self):
        entries = [
            {"directory": "/out", "file": "/src/a.c", "command": "cc -c /src/a.c -o lib.dir/a.o"},
            {"directory": "/out", "file": "/src/main.c", "command": "cc -c /src/main.c -o one.dir/main.o"},
            # The same sources, in another program.
            {"directory": "/out", "file": "/src/a.c", "command": "cc -DT -c /src/a.c", "output": "two.dir/a.o"},
            {"directory": "/out", "file": "/src/main.c", "command": "cc -DT -c /src/main.c", "output": "two.dir/m.o"},
        ]
        found = self.load(*entries, objects=["lib.dir/*", "one.dir/*"])
        self.assertEqual(found.options, {"/src/a.c": (), "/src/main.c": ()})
        self.assertEqual(self.load(*entries, objects=["two*"]).options, {"/src/a.c": ("-DT",), "/src/main.c": ("-DT",)})
        with self.assertRaisesRegex(RunError, "makes no object that matches 'three.*It makes lib.dir/a.o, one.dir"):
            self.load(*entries, objects=["lib.dir/*", "three.dir/*"])

    def test_options_in_a_response_file(self):
        (self.path.parent / "options.rsp").write_text("-DA -DB='x y'", encoding="utf-8")
        entry = {"directory": str(self.path.parent), "file": "a.c", "command": "clang @options.rsp -c a.c"}
        self.assertEqual(self.load(entry).options, {"a.c": ("-DA", "-DB=x y")})

    def test_malformed_input_is_refused(self):
        entry = {"directory": "/out", "file": "a.c", "command": "clang -c a.c"}
        for entries, message in (
            ((), "is not a list of commands"),
            (("text",), "entry 0: it is not an object"),
            (({"directory": "/out", "file": 1},), "entry 0: its `file` is not text"),
            (({"file": "a.c", "command": "clang a.c"},), "it has no `directory`"),
            (({"directory": "/out", "command": "clang a.c"},), "does not say what it compiles"),
            (({"directory": "/out", "file": "a.c"},), "it has neither `command` nor `arguments`"),
            (({**entry, "command": "clang 'a.c"},), "is not valid shell"),
            (({**entry, "arguments": ["clang", 1]},), "its `arguments` are not a list of texts"),
            (({**entry, "file": "/out/a.c"},), "does not compile /out/a.c, as its command spells it"),
            ((entry, entry), "compiles a.c twice"),
        ):
            with self.subTest(message), self.assertRaisesRegex(RunError, message):
                self.load(*entries)
