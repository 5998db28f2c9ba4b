import unittest

from mlgo.run.exit_codes import RunError
from mlgo.run.json_fields import Fields

VALUE = {"text": "a", "count": 3, "ratio": 0.5, "on": True, "names": ["a"], "digests": {"a": "b"}}


class FieldsTest(unittest.TestCase):
    def fields(self, **changed) -> Fields:
        return Fields({**VALUE, **changed}, "the thing", "Make it")

    def test_fields_of_their_types(self):
        fields = self.fields()
        kinds = {"text": str, "count": int, "ratio": float, "on": bool, "names": list, "digests": dict}
        self.assertEqual({name: fields.read(name, kind) for name, kind in kinds.items()}, VALUE)
        self.assertEqual(fields.texts("names"), ["a"])
        self.assertEqual(fields.texts_by_name("digests"), {"a": "b"})
        self.assertEqual(fields.inner("digests").read("a", str), "b")
        self.assertEqual((fields.has("text"), fields.has("texts")), (True, False))

    def test_an_integer_is_a_number(self):
        self.assertEqual(self.fields(ratio=2).read("ratio", float), 2.0)

    def test_other_types_are_named(self):
        for name, kind, value, message in (
            ("text", str, 1, "is not a text"),
            ("count", int, True, "is not an integer"),
            ("count", int, 1.0, "is not an integer"),
            ("ratio", float, "1", "is not a number"),
            ("ratio", float, float("nan"), "is not a number"),
            ("ratio", float, 10**400, "is not a number"),
            ("on", bool, 1, "is not true or false"),
            ("names", list, {}, "is not a list"),
            ("digests", dict, [], "is not an object"),
        ):
            with self.subTest(name=name, value=value):
                with self.assertRaisesRegex(RunError, f"^the thing: has a field '{name}' that {message}. Make it$"):
                    self.fields(**{name: value}).read(name, kind)

    def test_members_of_other_types_are_named(self):
        with self.assertRaisesRegex(RunError, "'names' that is not a list of texts"):
            self.fields(names=["a", 1]).texts("names")
        with self.assertRaisesRegex(RunError, "'digests' that is not an object of texts"):
            self.fields(digests={"a": 1}).texts_by_name("digests")
        with self.assertRaisesRegex(RunError, "^the thing, field 'digests': has no field 'b'. Make it$"):
            self.fields().inner("digests").read("b", str)

    def test_no_field_and_no_object(self):
        with self.assertRaisesRegex(RunError, "^the thing: has no field 'other'. Make it$"):
            self.fields().read("other", str)
        values: tuple[object, ...] = ([], None, "text", 1)
        for value in values:
            with self.assertRaisesRegex(RunError, "^the thing: is not a JSON object. Make it$"):
                Fields(value, "the thing", "Make it")
