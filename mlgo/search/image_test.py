import unittest

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mlgo.search.image import most_links, smallest_image

MODULES = ("a", "b", "c")
SIDES = ("default", "policy", "found")


def linking(sizes, shared=0):
    """A linker of modules with fixed sizes; `shared` bytes come on top if modules are of different sides."""

    def link(side_of):
        mixed = len(set(side_of.values())) > 1
        return {name: sizes[name, side] + (shared if mixed else 0) for name, side in side_of.items()}

    return link


class ImageTest(unittest.TestCase):
    def test_what_was_found_is_taken_where_it_is_smaller(self):
        sizes = {(name, side): 10 - SIDES.index(side) for name in MODULES for side in SIDES}
        image = smallest_image(linking(sizes), MODULES, SIDES[:2], "found")
        self.assertEqual(set(image.side_of.values()), {"found"})
        self.assertEqual(image.size, 24)

    def test_a_module_that_is_larger_when_linked_goes_back(self):
        sizes = {(name, side): 10 for name in MODULES for side in SIDES}
        sizes |= {("a", "found"): 99, ("b", "found"): 5}
        image = smallest_image(linking(sizes), MODULES, SIDES[:2], "found")
        self.assertEqual((image.side_of["a"], image.side_of["b"]), ("default", "found"))
        self.assertEqual(image.size, 25)

    def test_one_by_one_each_module_takes_the_side_that_makes_the_image_smallest(self):
        sizes = {(name, side): 10 for name in MODULES for side in SIDES}
        sizes |= {("a", "found"): 2, ("a", "policy"): 12, ("b", "found"): 13, ("b", "policy"): 4, ("c", "default"): 9}
        self.assertEqual(smallest_image(linking(sizes), MODULES, SIDES[:2], "found").size, 2 + 13 + 10)
        image = smallest_image(linking(sizes), MODULES, SIDES[:2], "found", SIDES)
        self.assertEqual(image.side_of, {"a": "found", "b": "policy", "c": "default"})
        self.assertEqual(image.size, 2 + 4 + 9)

    def test_one_by_one_ends_after_a_number_of_links(self):
        asked = []

        def link(side_of):
            asked.append(dict(side_of))
            # Each link gives a smaller image: without a limit, the choice would not end.
            return {name: 1000 - len(asked) for name in MODULES}

        smallest_image(link, MODULES, SIDES[:2], "found", SIDES)
        self.assertEqual(len(asked), 2 + 1 + 300)
        self.assertLessEqual(len(asked), most_links(len(MODULES), 2, greedy_per_module=True))

    def test_going_back_to_the_start_takes_no_more_links_than_said(self):
        for count in (1, 2, 3, 7, 64, 1000):
            modules = [str(number) for number in range(count)]
            asked: list[dict[str, str]] = []

            def link(side_of, asked=asked):
                asked.append(side_of)
                return {name: 1 + (side == "found") for name, side in side_of.items()}

            self.assertEqual(set(smallest_image(link, modules, SIDES[:2], "found").side_of.values()), {"default"})
            self.assertLessEqual(len(asked), most_links(count, 2, greedy_per_module=False))

    @settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(
        st.fixed_dictionaries({(name, side): st.integers(0, 50) for name in MODULES for side in SIDES}),
        st.integers(0, 20),
        st.booleans(),
    )
    def test_never_larger_than_a_start(self, sizes, shared, greedy_per_module):
        image = smallest_image(linking(sizes, shared), MODULES, SIDES[:2], "found", SIDES if greedy_per_module else ())
        for side in SIDES[:2]:
            self.assertLessEqual(image.size, sum(sizes[name, side] for name in MODULES))
