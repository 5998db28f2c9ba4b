"""Two clones build the same bytes, without a cache.

    reproducible_test [--share=FILE ...] TARGET...

Both clones take the repositories of the files of --share as they are fetched here; all others they fetch, and those are
compared too.
"""

import argparse
import os
import pathlib
import sys
import tempfile
import time
import unittest

from tests.clones import clone, nested, outputs

#: Not written by rules of ours, and no input of an action: where this machine's Java and shell are, Bazel's marks of
#: what is fetched.
_OF_THE_MACHINE = ("@", "bazel_tools", "local_", "rules_")


class ReproducibleTest(unittest.TestCase):
    shared: list[pathlib.Path]
    targets: list[str]

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="reproducible.", dir=os.environ["TEST_TMPDIR"])).resolve()
        self.addCleanup(nested.remove, self.folder)
        self.workspace = clone.root()

    def build(self, name):
        """Builds the targets in a new clone; returns the digests of what was made and of what was fetched."""
        here = self.folder / name
        clone.copy(self.workspace, here / "clone")
        start = time.monotonic()
        with nested.nested(
            here / "clone/bazelw", here / "clone", here / "base", nested.shared_repositories(self.shared)
        ) as bazel:
            # A user.bazelrc may name one.
            bazel.run("build", "--disk_cache=", "--remote_cache=", *self.targets)
            made = outputs.digests(pathlib.Path(bazel.run("info", "output_path").strip()))
            made = {path: digest for path, digest in made.items() if path.split("/")[1:2] == ["bin"]}
            fetched: dict[str, str] = {}
            for repository in sorted((bazel.base / "external").iterdir()):
                if (
                    not repository.is_symlink()
                    and repository.is_dir()
                    and not repository.name.startswith(_OF_THE_MACHINE)
                ):
                    found = outputs.digests(repository)
                    fetched.update((f"{repository.name}/{path}", digest) for path, digest in found.items())
        print(
            f"{name}: {len(made)} outputs, {len(fetched)} fetched files, {time.monotonic() - start:.0f} s", flush=True
        )
        return made, fetched

    def test_two_clones(self):
        made, fetched = self.build("one")
        made_again, fetched_again = self.build("another/one/elsewhere")
        self.assertGreater(len(made), 5, sorted(made))
        # What is fetched first: a difference there explains one among the outputs.
        self.assertIsNone(outputs.first_difference(fetched, fetched_again))
        self.assertIsNone(outputs.first_difference(made, made_again))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--share", type=pathlib.Path, action="append", default=[])
    parser.add_argument("targets", nargs="+")
    flags = parser.parse_args()
    ReproducibleTest.shared, ReproducibleTest.targets = flags.share, flags.targets
    unittest.main(argv=sys.argv[:1])
