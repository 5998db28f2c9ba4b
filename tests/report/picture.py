"""Takes a picture of the top of a report, for documents.

    ./bazelw run //tests/report:picture -- models/inlining_for_size/report.html docs/images/report.png

Arguments: the browser, one of its fonts (BUILD.bazel gives these), the page, the PNG to write.
"""

import base64
import os
import pathlib
import sys
import tempfile

from mlgo.run import files, locate
from tests.report.browser import Browser

#: Pixels of the picture.
_WIDTH, _HEIGHT = 1120, 1340


def main(arguments: list[str]) -> None:
    """Writes the picture."""
    browser, font = (pathlib.Path(os.path.abspath(path)) for path in arguments[:2])
    page, picture = map(locate.user_path, arguments[2:])
    with tempfile.TemporaryDirectory() as scratch:
        chromium = Browser(browser, font.parent, pathlib.Path(scratch))
        try:
            chromium.open(page, _WIDTH, _HEIGHT)
            taken = chromium.call("Page.captureScreenshot", format="png")
        finally:
            chromium.close()
    files.write_atomically(picture, base64.b64decode(taken["data"]))


if __name__ == "__main__":
    main(sys.argv[1:])
