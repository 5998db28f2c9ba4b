import json
import os
import unittest

from hypothesis import given, settings, strategies

from mlgo.corpus.extraction import bazel_aquery, inputs
from mlgo.corpus.extraction.inputs import BuildObject
from mlgo.corpus.extraction.outcome import Kind
from mlgo.corpus.options.driver import output_of
from mlgo.run.exit_codes import RunError
from mlgo.run.testing.folder_case import FolderCase


def stated(listing) -> list[str]:
    return [found.stated for found in listing.objects]


_KEYS = strategies.sampled_from(["directory", "command", "arguments", "file", "output"])
_JSON = strategies.recursive(
    strategies.none() | strategies.booleans() | strategies.text("-o a@\\'\"/", max_size=8),
    lambda inner: strategies.lists(inner, max_size=3) | strategies.dictionaries(_KEYS, inner),
)


class CompileCommandsTest(FolderCase):
    def test_outputs(self):
        for command, source, expected in (
            ("-c a.c -o b.o", "x/a.c", "b.o"),
            ("-c a.c -ob.o", "x/a.c", "b.o"),
            ("-c a.c --output=b.o", "x/a.c", "b.o"),
            ("-o a.o -o b.o", "x/a.c", "b.o"),  # The last one counts, says clang.
            ("-Xclang -o -MF -o -o b.o", "x/a.c", "b.o"),
            ("-object -c a.c", "x/a.c", "a.o"),
            ("-c x/a.b.cc", "x/a.b.cc", "a.b.o"),
            ("a.c", "x/a.c", None),
            ("-c", None, None),
            ("-o", "x/a.c", None),
        ):
            self.assertEqual(output_of(["clang", *command.split()], source), expected, command)

    def test_a_database(self):
        self.file("build/more.rsp", "-c ../a.c -o 'deep dir/r.o'")
        directory = str(self.folder / "build")
        entries = [
            {"directory": directory, "command": 'clang -c ../a.c -o "a b.o"', "file": "../a.c"},
            {"directory": directory, "arguments": ["clang", "-c", "a b.c", "-o", "lib/c.o"], "file": "a b.c"},
            {"directory": directory, "command": "clang @more.rsp", "file": "../a.c"},
            {"directory": "build", "command": "cc1 whatever", "output": "stated.o", "file": "d.c"},
            {"directory": directory, "command": "clang -c e.c", "file": "e.c"},
            {"directory": directory, "command": "moc x.h", "file": "x.h"},
            {"directory": directory, "command": "clang -E a.c -o -", "file": "a.c"},
            {"directory": directory, "file": "a.c"},
            {"directory": 3, "command": "clang", "file": "a.c"},
            {"command": "clang -o a.o", "file": "a.c"},
            {"directory": directory, "arguments": "clang -o a.o", "file": "a.c"},
            "clang -c a.c",
        ]
        listing = inputs.from_compile_commands(self.file("compile_commands.json", json.dumps(entries)))
        self.assertEqual(stated(listing), ["a b.o", "lib/c.o", "deep dir/r.o", "stated.o", "e.o"])
        self.assertEqual(listing.objects[0].path, os.path.join(directory, "a b.o"))
        self.assertEqual(listing.objects[0].source, str(self.folder / "a.c"))
        self.assertEqual(listing.objects[3].directory, directory)
        names = [omission.name for omission in listing.omissions]
        self.assertEqual(names, [f"entry {index}" for index in range(5, 12)])
        self.assertEqual({omission.kind for omission in listing.omissions}, {Kind.NO_OBJECT})

    def test_bytes_that_are_not_utf8(self):
        content = b'[{"directory": "/b", "command": "clang -c caf\xe9.c -o caf\xe9.o", "file": "caf\xe9.c"}]'
        self.assertEqual(stated(inputs.from_compile_commands(self.file("c.json", content))), ["caf\udce9.o"])

    def test_what_is_no_database(self):
        for content, expected in (
            (b"{}", "is not a list"),
            (b"[", "is not JSON at line 1"),
            (b"[" * 100_000, "nested too deeply"),
            (b"1" * 5000, "is not JSON: "),
            (b'[{"output": "a.o", "output": "b.o"}]', "an object has 2 fields 'output'"),
            (b"[1e400]", "the number 1e400 is not finite"),
        ):
            with self.assertRaisesRegex(RunError, expected):
                inputs.from_compile_commands(self.file("c.json", content))
        with self.assertRaisesRegex(RunError, "cannot be read: No such file"):
            inputs.from_compile_commands(self.folder / "absent.json")
        os.mkfifo(self.folder / "pipe.json")
        with self.assertRaisesRegex(RunError, "cannot be read: it is a pipe, not a file. give"):
            inputs.from_compile_commands(self.folder / "pipe.json")

    @settings(deadline=None, max_examples=40)
    @given(_JSON)
    def test_any_json(self, entries):
        entries = entries if isinstance(entries, list) else [entries]
        listing = inputs.objects_of_database(entries, "/", lambda directory: lambda name: None)
        self.assertEqual(len(listing.objects) + len(listing.omissions), len(entries))


class LinkerParamsTest(FolderCase):
    def load(self, content: str):
        return stated(inputs.from_linker_params(self.file("app.params", content), str(self.folder)))

    def test_with_an_output(self):
        self.file("more.rsp", "deep/c.o '--flag'\nd.o\n")
        content = "-o\napp.o\nlib/a.o\n--start-lib\nb.o\n--end-lib\n-lm\n'odd dir/e.o'\nlibx.a\n-z\nnow\n"
        content += "@more.rsp\nscript.ld\n"
        self.assertEqual(self.load(content), ["lib/a.o", "b.o", "odd dir/e.o", "libx.a", "deep/c.o", "d.o"])

    def test_all_on_one_line(self):
        self.assertEqual(self.load('-o app a.o "b c.o" d\\ e.o'), ["a.o", "b c.o", "d e.o"])

    def test_without_an_output_everything_is_an_object(self):
        self.assertEqual(self.load("a.o\nb.pic\n-flag\n\n"), ["a.o", "b.pic"])

    def test_lines_that_are_files(self):
        self.file("odd dir/it's.o", b"")
        self.assertEqual(self.load("-o\napp\nodd dir/it's.o\nb.o\n"), ["odd dir/it's.o", "b.o"])

    def test_words_over_several_lines(self):
        found = inputs.words_of("'a\nb' c\\\nd\n\"never closed", lambda word: False)
        self.assertEqual(found, ["a\nb", "cd", "never closed"])


_VALUES = ["CppLink", "CppCompile", ["-o", "a", "b.o", "@p"], [3, "-c"], [{"execPath": "p", "arguments": 3}], 3, None]
_ACTIONS = strategies.dictionaries(
    strategies.sampled_from(["mnemonic", "arguments", "paramFiles"]), strategies.sampled_from(_VALUES)
)


class BazelAqueryTest(FolderCase):
    def test_links(self):
        folder = "bazel-out/k8/bin"
        self.file(f"{folder}/on_disk.params", f"{folder}/d.o")
        answer = {
            "actions": [
                {"mnemonic": "CppCompile", "arguments": ["clang", "-c", "src/a.cc", "-o", "bazel-out/k8/bin/a.o"]},
                {"mnemonic": "Genrule", "arguments": ["-o", "x", "y.o"]},
                {
                    "mnemonic": "CppLink",
                    "arguments": ["clang", f"@{folder}/app-2.params", f"@{folder}/on_disk.params"],
                    "paramFiles": [{"execPath": f"{folder}/app-2.params", "arguments": ["-o", "app", f"{folder}/a.o"]}],
                },
                {"mnemonic": "CppLink", "arguments": ["clang", "-o", "app2", "bazel-out/k8/bin/a.o", "lib.a"]},
                {"mnemonic": "CppLink"},
            ]
        }
        listing = bazel_aquery.load(self.file("aquery.json", json.dumps(answer)), str(self.folder))
        self.assertEqual(stated(listing), ["bazel-out/k8/bin/a.o", "bazel-out/k8/bin/d.o", "lib.a"])
        self.assertEqual(listing.objects[0].source, str(self.folder / "src/a.cc"))

    def test_the_base_of_llvms_document(self):
        self.file("bazel-bin/pkg/a.o", b"")
        actions = [{"mnemonic": "CppLink", "arguments": ["clang", "-o", "app", "bazel-out/k8-opt/bin/pkg/a.o"]}]
        listing = bazel_aquery.objects_of(actions, str(self.folder / "bazel-bin"))
        self.assertEqual(listing.objects[0].path, str(self.folder / "bazel-bin/pkg/a.o"))
        self.assertEqual(stated(listing), ["bazel-out/k8-opt/bin/pkg/a.o"])

    def test_the_last_link(self):
        actions: list[dict[str, object]] = [
            {"mnemonic": "CppLink", "arguments": ["tool", "first"]},
            {
                "mnemonic": "CppLink",
                "arguments": ["external/clang", "@out/p-2.params"],
                "paramFiles": [{"execPath": "out/p-2.params", "arguments": ["-o", "p", "a b.o"]}],
            },
            {"mnemonic": "CppCompile", "arguments": ["external/clang", "-c"]},
        ]
        self.assertEqual(bazel_aquery.last_link(actions, "/"), ("external/clang", "-o", "p", "a b.o"))
        with self.assertRaisesRegex(RunError, "has no CppLink action"):
            bazel_aquery.last_link([], "/")

    @settings(deadline=None, max_examples=40)
    @given(strategies.lists(_ACTIONS, max_size=4))
    def test_any_actions(self, actions):
        bazel_aquery.objects_of(actions, "/", lambda directory: lambda name: None)

    def test_what_is_no_answer(self):
        for content in ("[]", "{}", '{"actions": [1]}'):
            with self.assertRaisesRegex(RunError, "has no list of `actions`. give the output of `bazel aquery"):
                bazel_aquery.load(self.file("aquery.json", content), "/")


class DirectoryTest(FolderCase):
    def test_objects(self):
        for name in ("b.o", "sub/a.o", "sub/deep dir/c.obj", "x.c", ".hidden/d.o"):
            self.file(name, b"")
        (self.folder / "loop").symlink_to(self.folder)
        expected = [".hidden/d.o", "b.o", "sub/a.o", "sub/deep dir/c.obj"]
        self.assertEqual(stated(inputs.from_directory(str(self.folder))), expected)

    def test_what_lld_saved(self):
        for name in ("m.o.3.import.bc", "m.o.thinlto.bc", "lib/libre2.a(dfa.o at 416).3.import.bc", ".3.import.bc"):
            self.file(name, b"")
        listing = inputs.from_local_thinlto(str(self.folder))
        self.assertEqual(stated(listing), ["lib/libre2.a(dfa.o at 416)", "m.o"])

    def test_no_directory(self):
        with self.assertRaisesRegex(RunError, "is not a directory"):
            inputs.from_directory(str(self.folder / "absent"))


class NamingTest(unittest.TestCase):
    def names(self, *pairs: tuple[str, str], base: str | None = None):
        objects = [BuildObject(name, os.path.normpath(os.path.join(folder, name)), folder) for folder, name in pairs]
        named, omissions = inputs.named(objects, base)
        return [(name, found.path) for name, found in named], [(omission.name, omission.kind) for omission in omissions]

    def test_as_the_build_states_them(self):
        self.assertEqual(
            self.names(("/b", "lib/a.o"), ("/b", "./c//d.o"), ("/b", "/b/e.o"), ("/b", "x/../f.o")),
            ([("c/d.o", "/b/c/d.o"), ("e.o", "/b/e.o"), ("f.o", "/b/f.o"), ("lib/a.o", "/b/lib/a.o")], []),
        )
        member = BuildObject("libx.a", "/b/libx.a", "/b", member=(68, 10), member_label="(m.o)")
        self.assertEqual(inputs.named([member], None), ([("libx.a(m.o)", member)], []))

    def test_outside(self):
        pairs = ("/w/b", "../a.o"), ("/w/b", "/w/c/d.o"), ("/w/b", "/etc/passwd.o"), ("/w/b", ".."), ("/w/b", "a\0b.o")
        named, omissions = self.names(*pairs)
        self.assertEqual(named, [])
        self.assertEqual([name for name, _ in omissions], ["a.o", "d.o", "passwd.o", "..", "a\0b.o"])
        self.assertEqual({kind for _, kind in omissions}, {Kind.NAME_OUTSIDE})
        self.assertEqual(self.names(*pairs, base="/w")[0], [("a.o", "/w/a.o"), ("c/d.o", "/w/c/d.o")])

    def test_the_same_object_twice(self):
        found = self.names(("/b", "a.o"), ("/b", "./a.o"))
        self.assertEqual(found, ([("a.o", "/b/a.o")], [("a.o", Kind.LISTED_AGAIN)]))

    def test_namesakes_in_two_directories(self):
        expected = [("x/main.o", "/b/x/main.o"), ("y/main.o", "/b/y/main.o")]
        self.assertEqual(self.names(("/b/x", "main.o"), ("/b/y", "main.o"))[0], expected)
        self.assertEqual(self.names(("/b/y", "main.o"), ("/b/x", "main.o"))[0], expected)
        self.assertEqual(
            self.names(("/b/x", "main.o"), ("/b/y", "main.o"), ("/b/y", "x/main.o")),
            ([("x/main.o", "/b/y/x/main.o"), ("y/main.o", "/b/y/main.o")], [("x/main.o", Kind.NAME_TAKEN)]),
        )
