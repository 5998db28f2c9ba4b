"""The search finds planted defects, makes their inputs small, and finds nothing in a parser without any."""

import itertools
import unittest

from tests.fuzzing.search import Search, Target

_SEED = b"size=0003;abc;"


class DamagedError(Exception):
    """What the made-up parser documents."""


def _parsed(content: bytes) -> bytes:
    """Parses `size=DIGITS;` and so many bytes."""
    if not content.startswith(b"size=") or content.find(b";") < 0:
        raise DamagedError("no size")
    digits, _, rest = content.removeprefix(b"size=").partition(b";")
    if not digits.isdigit():
        raise DamagedError("the size is no number")
    size = int(digits)
    if size > len(rest):
        raise DamagedError("cut off")
    return rest[:size]


def _with_key_error(content: bytes) -> int:
    return {b"abc": 1}[_parsed(content)]


def _without_end(content: bytes) -> None:
    text = _parsed(content)
    while text == b"ab":
        content = text


def _without_bound(content: bytes) -> None:
    if content.startswith(b"size=") and content[5:9].isdigit():
        bytearray(int(content[5:9]) << 40)


def found_in(run, mutations: int = 3000):
    """The first finding among the seed and `mutations` others, made smaller; None."""
    search = Search(Target(run, (DamagedError,), max_steps=10_000))
    findings = itertools.chain(search.known([_SEED]), itertools.islice(search.mutations(), mutations))
    first = next((finding for finding in findings if finding is not None), None)
    return search.minimised(first) if first is not None else None


class SearchTest(unittest.TestCase):
    def test_a_sound_parser(self):
        self.assertIsNone(found_in(_parsed))

    def test_an_undocumented_error(self):
        finding = found_in(_with_key_error)
        self.assertRegex(finding.signature, r"KeyError at .*search_test\.py:\d+")
        self.assertLess(len(finding.content), len(_SEED))

    def test_an_endless_loop(self):
        finding = found_in(_without_end, 20_000)
        self.assertEqual(finding.signature, "TooManySteps")
        self.assertIn(b"ab", finding.content)

    def test_memory_without_bound(self):
        self.assertRegex(found_in(_without_bound).signature, "MemoryError at ")

    def test_mutations_are_the_same_every_time(self):
        tried = []
        for _ in range(2):
            inputs: list[bytes] = []
            search = Search(Target(inputs.append, ()))
            self.assertEqual(list(search.known([_SEED])), [])
            list(itertools.islice(search.mutations(), 200))
            tried.append(inputs)
        self.assertEqual(*tried)
        self.assertGreater(len(set(tried[0])), 150)


if __name__ == "__main__":
    unittest.main()
