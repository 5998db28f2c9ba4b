"""Tests of how several mirrors are asked for one archive."""

import os
import pathlib
import tempfile
import unittest

import fetch
import pace
import race
import sources

from third_party.debian.testing import archives


class RaceTest(unittest.TestCase):
    def setUp(self):
        self.cache = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory())) / "cache"
        self.content = os.urandom(300_000)
        self.entry = archives.entry("foo", self.content)

    def fetched(self, behaviour, second, limits):
        """Fetches from a mirror that behaves so, then from `second`; returns the bytes and the first mirror."""
        first = archives.Mirror({}, behaviours={self.entry.path: behaviour})
        with archives.serving(first) as base:
            paths = fetch.fetch([self.entry], self.cache, [base, second], lambda line: None, limits)
        return paths[self.entry].read_bytes(), first

    def test_a_large_archive_is_asked_for_from_a_second_mirror_when_the_first_is_slow(self):
        limits = pace.Limits(
            race_bytes=100_000, race_after_seconds=0.1, race_left_seconds=0.5, pause_seconds=0, look_seconds=0.01
        )
        slow = archives.sends(
            archives.header("200 OK", content_length=300_000), for_ever=bytes(1000), pause_seconds=0.1
        )
        with archives.serving(archives.Mirror({self.entry.path: self.content})) as second:
            content, first = self.fetched(slow, second, limits)
        self.assertEqual(content, self.content)
        self.assertLess(first.sent, 300_000)
        self.assertEqual([path.name for path in self.cache.iterdir()], [self.entry.sha256])

    def test_a_second_mirror_with_other_bytes_does_not_win(self):
        limits = pace.Limits(
            race_bytes=100_000, race_after_seconds=0.05, race_left_seconds=0, pause_seconds=0, look_seconds=0.01
        )

        def slow(handler, mirror):
            handler.wfile.write(archives.header("200 OK", content_length=300_000))
            for start in range(0, 300_000, 10_000):
                handler.wfile.write(self.content[start : start + 10_000])
                mirror.closed.wait(0.02)

        with archives.serving(archives.Mirror({self.entry.path: self.content[::-1]})) as second:
            content, _ = self.fetched(slow, second, limits)
        self.assertEqual(content, self.content)

    def test_a_small_archive_is_asked_for_once(self):
        second = archives.Mirror({self.entry.path: self.content})

        def slow(handler, mirror):
            handler.wfile.write(archives.header("200 OK", content_length=300_000))
            mirror.closed.wait(0.5)
            handler.wfile.write(self.content)

        limits = pace.Limits(race_after_seconds=0.1, race_left_seconds=0, look_seconds=0.01)
        with archives.serving(second) as base:
            content, _ = self.fetched(slow, base, limits)
        self.assertEqual((content, second.requests), (self.content, []))


class MirrorsTest(unittest.TestCase):
    def setUp(self):
        self.said: list[str] = []
        self.mirrors = race.Mirrors(["http://a", "http://b"], self.said.append)

    def test_a_slow_mirror_comes_last_and_is_given_up_after_some_archives(self):
        slow = sources.TooSlow(sources.Kind.TEMPORARY, "slow")
        self.mirrors.was_slow("http://a", slow)
        self.assertEqual(self.mirrors.in_order(), ["http://b", "http://a"])
        self.assertIsNone(self.mirrors.why_given_up("http://a"))
        for _ in range(race.STRIKES):
            self.mirrors.was_slow("http://a", slow)
        self.assertEqual(self.mirrors.why_given_up("http://a"), slow)
        self.assertEqual(self.said, ["http://a: slow; not asked again"])


if __name__ == "__main__":
    unittest.main()
