"""Names of modules: the stated path of the object, made relative or refused when it leads out."""

import unittest

from mlgo.corpus.extraction.inputs import BuildObject, named
from mlgo.corpus.extraction.outcome import Kind


def build_object(stated: str, directory: str = "/b", **settings) -> BuildObject:
    return BuildObject(stated, f"{directory}/{stated}", directory, **settings)


class NamedTest(unittest.TestCase):
    def names(self, *objects: BuildObject, base: str | None = None) -> tuple[list[str], list[tuple[str, Kind]]]:
        found, omissions = named(objects, base)
        return [name for name, _ in found], [(omission.name, omission.kind) for omission in omissions]

    def test_stated_paths_sorted(self):
        member = build_object("libx.a", member=(68, 10), member_label="(m.o)")
        self.assertEqual(
            self.names(build_object("z.o"), build_object("./a//b.o"), member), (["a/b.o", "libx.a(m.o)", "z.o"], [])
        )

    def test_a_path_that_leads_out_needs_a_base_that_contains_it(self):
        outside = build_object("../other/a.o", "/b/sub")
        self.assertEqual(self.names(outside), ([], [("a.o", Kind.NAME_OUTSIDE)]))
        self.assertEqual(self.names(outside, base="/b"), (["other/a.o"], []))
        self.assertEqual(self.names(build_object("/b/sub/a.o", "/b/sub")), (["a.o"], []))

    def test_objects_of_one_name_get_their_directories(self):
        one, two = build_object("a.o", "/b/one"), build_object("a.o", "/b/two")
        self.assertEqual(self.names(one, two), (["one/a.o", "two/a.o"], []))
        self.assertEqual(self.names(one, one), (["a.o"], [("a.o", Kind.LISTED_AGAIN)]))
        taken = build_object("one/a.o", "/b")
        self.assertEqual(self.names(one, two, taken), (["one/a.o", "two/a.o"], [("one/a.o", Kind.NAME_TAKEN)]))


if __name__ == "__main__":
    unittest.main()
