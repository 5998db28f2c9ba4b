"""Where tests make results up and read them, and what they ask of pages."""

import contextlib
import json
from collections.abc import Iterator
from typing import Any

from mlgo.pages.page import Page, Point
from mlgo.reporting.reading import read_folder
from mlgo.reporting.records import Record
from mlgo.run.testing.folder_case import FolderCase


def verdict_of(page: Page) -> Point:
    """The verdict of a page that has one."""
    assert page.verdict is not None
    return page.verdict


class FolderTestCase(FolderCase):
    """Results in the temporary folder of a test."""

    @contextlib.contextmanager
    def edited(self, path: str) -> Iterator[Any]:
        """The content of a JSON file below `folder`, which is written when the block ends."""
        content = json.loads((self.folder / path).read_text("utf-8"))
        yield content
        (self.folder / path).write_text(json.dumps(content), "utf-8")

    def read(self, name: str) -> list[Record]:
        """The records in the folder `name` of `folder`."""
        return read_folder(self.folder / name, name, None)
