"""A clone takes everything that another clone has built from a cache server, nginx.

    remote_cache_test --nginx=PROGRAM [--share=FILE ...] [--filled=DIR] TARGET...

Both clones take the repositories of the files of --share as they are fetched here; all others they fetch. With --filled
nginx serves this folder of a --disk_cache, into which the targets were built before, and nothing is built to fill a new
one.
"""

import argparse
import collections
import os
import pathlib
import sys
import tempfile
import time
import unittest

from tests.clones import clone, nested
from tests.remote_cache import cache_server, execution_log

TEMPLATE = pathlib.Path(__file__).with_name("nginx.conf")


class RemoteCacheTest(unittest.TestCase):
    filled: pathlib.Path | None
    nginx: pathlib.Path
    shared: list[pathlib.Path]
    targets: list[str]

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="remote_cache.", dir=os.environ["TEST_TMPDIR"])).resolve()
        self.addCleanup(nested.remove, self.folder)
        self.workspace = clone.root()

    def build(self, name, url, *options):
        """Builds the targets in a new clone, and prints how long that took."""
        here = self.folder / name
        clone.copy(self.workspace, here / "clone")
        start = time.monotonic()
        with nested.nested(
            here / "clone/bazelw", here / "clone", here / "base", nested.shared_repositories(self.shared)
        ) as bazel:
            bazel.run(
                "build", "--disk_cache=", "--config=remote_cache", f"--remote_cache={url}", *options, *self.targets
            )
        print(f"{name}: {time.monotonic() - start:.0f} s", flush=True)

    def requests(self):
        """What nginx was asked so far, line by line."""
        return (self.folder / "cache/access.log").read_text(encoding="utf-8").splitlines()

    def test_the_second_clone_runs_nothing(self):
        log = self.folder / "log.json"
        if self.filled:
            (self.folder / "cache").mkdir()
            (self.folder / "cache/data").symlink_to(self.filled, target_is_directory=True)
        with cache_server.serving(self.nginx, TEMPLATE, self.folder / "cache") as url:
            if not self.filled:
                self.build("first", url)
            filled = self.requests()
            self.build(
                "second/in/another/folder", url, "--noremote_upload_local_results", f"--execution_log_json_file={log}"
            )
            read = self.requests()[len(filled) :]
        spawns = execution_log.read(log)
        print(
            f"{len(spawns)} actions in the second clone:",
            dict(collections.Counter(spawn.runner for spawn in spawns)),
            flush=True,
        )
        self.assertGreater(len(spawns), 5)
        misses = [str(spawn) for spawn in spawns if not spawn.cached]
        self.assertEqual(misses, [], f"{len(misses)} of {len(spawns)} actions were not taken from the cache")
        self.assertEqual({spawn.runner for spawn in spawns}, {"remote cache hit"})
        if not self.filled:
            # Nothing of it was there before the first clone put it there.
            self.assertGreaterEqual(sum('"PUT /ac/' in request for request in filled), len(spawns))
        self.assertFalse([request for request in read if '"PUT ' in request], "a clone that only reads wrote")
        # Bazel's own --disk_cache has the same layout.
        entries = list((self.folder / "cache/data/ac").glob("*/*"))
        self.assertTrue(entries)
        for path in entries:
            self.assertRegex(
                path.relative_to(self.folder / "cache/data").as_posix(), rf"^(ac|cas)/{path.name[:2]}/[0-9a-f]{{64}}$"
            )


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--nginx", type=pathlib.Path, required=True)
    parser.add_argument("--share", type=pathlib.Path, action="append", default=[])
    parser.add_argument("--filled", type=pathlib.Path)
    parser.add_argument("targets", nargs="+")
    flags = parser.parse_args()
    RemoteCacheTest.filled = flags.filled
    # nginx's libraries are found relative to where it really lies.
    RemoteCacheTest.nginx, RemoteCacheTest.shared, RemoteCacheTest.targets = (
        flags.nginx.resolve(),
        flags.share,
        flags.targets,
    )
    unittest.main(argv=sys.argv[:1])
