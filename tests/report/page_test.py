"""The report in a browser, from a file: console, network, width, contrast, print and pictures.

Arguments: Chromium, one of its fonts; --update writes the pictures into the workspace instead of comparing.
"""

import io
import os
import pathlib
import sys
import tempfile
import unittest

import numpy as np
from PIL import Image, ImageChops, ImageOps

from mlgo.pages.rendering import html
from mlgo.reporting.compose import compose
from mlgo.reporting.reading import read_folder
from mlgo.reporting.testing import made_up
from tests.report.browser import Browser

_UPDATE = "--update" in sys.argv
if _UPDATE:
    sys.argv.remove("--update")
_FONT = pathlib.Path(sys.argv.pop()).resolve()
_CHROMIUM = pathlib.Path(sys.argv.pop()).resolve()
_GOLDEN = pathlib.Path(__file__).parent / "golden"

#: Width and height of the screens, in CSS pixels: the narrowest phone that is sold, and a notebook.
_SCREENS = {"phone": (360, 740), "desktop": (1280, 800)}

#: Pictures are kept at this part of their size: enough to see what moved, and small.
_SHRINK = 4

#: Bits of each colour that are kept, of 8.
_BITS = 5

#: Largest difference between a picture and its golden one, of 255: on average, and in any block of 8 by 8 pixels.
#: Another version of the browser smooths letters differently, which is below 1 and 12; a missing bar is above.
_MEAN, _BLOCK = 1.0, 24.0

#: WCAG 2.1, 1.4.3: contrast of text, level AA.
_CONTRAST = 4.5

_LOW_CONTRAST = """(() => {
  const part = c => { c /= 255; return c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; };
  const numbers = text => (text.match(/[\\d.]+/g) || []).map(Number);
  const light = ([r, g, b]) => 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
  const behind = element => {
    for (; element; element = element.parentElement) {
      const colour = numbers(getComputedStyle(element).backgroundColor);
      if (colour.length === 3 || colour[3] === 1) return colour;
    }
    return [255, 255, 255];
  };
  const found = [];
  for (const element of document.body.querySelectorAll('*')) {
    const own = [...element.childNodes].some(node => node.nodeType === 3 && node.textContent.trim());
    if (!own || element.tagName === 'title' || !element.getClientRects().length) continue;
    const style = getComputedStyle(element);
    const colour = element instanceof SVGElement ? style.fill : style.color;
    const front = light(numbers(colour)), back = light(behind(element));
    const contrast = (Math.max(front, back) + 0.05) / (Math.min(front, back) + 0.05);
    const name = `${element.tagName}.${element.className.baseVal ?? element.className}`;
    if (contrast < LIMIT) found.push(`${name}: ${contrast.toFixed(2)}`);
  }
  return [...new Set(found)];
})()""".replace("LIMIT", str(_CONTRAST))

_OPEN_ALL = "document.querySelectorAll('details').forEach(details => { details.open = true; })"
_WIDTH = "[document.documentElement.scrollWidth, document.body.scrollWidth]"


class PageTest(unittest.TestCase):
    page: pathlib.Path
    browser: Browser

    @classmethod
    def setUpClass(cls):
        folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory(ignore_cleanup_errors=True)))
        made_up.write_everything(folder / "shipped")
        cls.page = folder / "report.html"
        cls.page.write_bytes(html(compose(read_folder(folder / "shipped", "made_up", None))))
        (folder / "browser").mkdir()
        cls.browser = Browser(_CHROMIUM, _FONT.parent, folder / "browser")
        cls.addClassCleanup(cls.browser.close)

    def setUp(self):
        self.browser.events.clear()

    def every_look(self):
        """Shows the page in every way, and says in which."""
        for screen, size in _SCREENS.items():
            for scheme in ("light", "dark"):
                self.browser.open(self.page, *size, scheme)
                yield screen, scheme

    def test_nothing_is_said_on_the_console_and_nothing_is_loaded(self):
        for _ in self.every_look():
            self.browser.evaluate(_OPEN_ALL)
        told = [
            event
            for event in self.browser.events
            if event[0] in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded")
        ]
        self.assertEqual(told, [])
        asked = {
            parameters["request"]["url"]
            for method, parameters in self.browser.events
            if method == "Network.requestWillBeSent"
        }
        self.assertEqual({url for url in asked if url != "data:,"}, {self.page.as_uri()})

    def test_the_page_is_not_wider_than_the_screen(self):
        for screen, scheme in self.every_look():
            for prepare in ("0", _OPEN_ALL):
                self.browser.evaluate(prepare)
                self.assertLessEqual(max(self.browser.evaluate(_WIDTH)), _SCREENS[screen][0], (screen, scheme, prepare))

    def test_wide_tables_scroll_in_their_box(self):
        self.browser.open(self.page, *_SCREENS["phone"])
        boxes = "[...document.querySelectorAll('.scroll')].filter(box => box.scrollWidth > box.clientWidth).length"
        self.assertGreater(self.browser.evaluate(boxes), 0)

    def test_text_has_contrast(self):
        for look in self.every_look():
            self.browser.evaluate(_OPEN_ALL)
            self.assertEqual(self.browser.evaluate(_LOW_CONTRAST), [], look)

    def test_dark_is_dark(self):
        brightness = {}
        for _, scheme in self.every_look():
            colour = self.browser.evaluate("getComputedStyle(document.body).backgroundColor")
            brightness[scheme] = sum(map(int, colour.removeprefix("rgb(").removesuffix(")").split(",")))
        self.assertLess(brightness["dark"], 150)
        self.assertGreater(brightness["light"], 600)

    def test_print_is_on_white_with_everything_shown_and_fits_the_paper(self):
        self.browser.open(self.page, 690, 1000, "dark", "print")
        self.assertEqual(self.browser.evaluate("getComputedStyle(document.body).backgroundColor"), "rgb(255, 255, 255)")
        self.assertEqual(self.browser.evaluate("getComputedStyle(document.querySelector('nav')).display"), "none")
        heights = (
            "[...document.querySelectorAll('details')]"
            ".map(details => details.lastElementChild.getBoundingClientRect().height)"
        )
        self.assertGreater(min(self.browser.evaluate(heights)), 0)
        self.assertLessEqual(max(self.browser.evaluate(_WIDTH)), 690)
        document = self.browser.pdf()
        self.assertTrue(document.startswith(b"%PDF-"))
        self.assertIn(document.count(b"/Type /Page\n"), range(3, 30))

    def test_it_looks_as_it_did(self):
        for screen, scheme in self.every_look():
            shown = Image.open(io.BytesIO(self.browser.picture())).convert("RGB")
            shown = shown.resize((shown.width // _SHRINK, shown.height // _SHRINK), Image.Resampling.BOX)
            shown = ImageOps.posterize(shown, _BITS)
            name = f"{screen}_{scheme}.png"
            if _UPDATE:
                target = pathlib.Path(os.environ["BUILD_WORKSPACE_DIRECTORY"], "tests", "report", "golden", name)
                target.parent.mkdir(exist_ok=True)
                shown.save(target, optimize=True)
                continue
            kept = Image.open(_GOLDEN / name).convert("RGB")
            remedy = f"{name}: if this is intended, run with --update and commit the pictures"
            self.assertEqual(shown.size, kept.size, remedy)
            mean, worst = _difference(shown, kept)
            if mean > _MEAN or worst > _BLOCK:
                outputs = pathlib.Path(os.environ.get("TEST_UNDECLARED_OUTPUTS_DIR", tempfile.gettempdir()))
                shown.save(outputs / name)
                differs = f"differs by {mean:.2f} on average and {worst:.1f} in the worst block"
                self.fail(f"{differs}; {remedy}. New picture: {outputs / name}")


def _difference(shown: Image.Image, kept: Image.Image) -> tuple[float, float]:
    """(mean, largest mean of a block of 8 by 8 pixels) of the absolute difference, 0 to 255."""
    difference = np.asarray(ImageChops.difference(shown, kept), np.float64).mean(axis=2)
    rows, columns = (-(-size // 8) * 8 for size in difference.shape)
    padded = np.zeros((rows, columns))
    padded[: difference.shape[0], : difference.shape[1]] = difference
    blocks = padded.reshape(rows // 8, 8, columns // 8, 8).mean(axis=(1, 3))
    return float(difference.mean()), float(blocks.max())


if __name__ == "__main__":
    unittest.main()
