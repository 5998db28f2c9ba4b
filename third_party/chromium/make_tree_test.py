"""Trees of a made-up source package, and our patches on the files that they change. Argument: the program patch."""

import contextlib
import io
import json
import os
import pathlib
import shutil
import sys
import tempfile
import unittest
import unittest.mock

import chromium_lock
import fetch
import lockfile
import make_tree
import patch_series
import patch_sets
import unpack

from third_party.debian.testing import archives

PATCH = pathlib.Path(sys.argv.pop(1)).absolute()
_HERE = pathlib.Path(__file__).resolve().parent
_OWN = _HERE.parent.parent / "patches" / "chromium"
_ODD = "third_party/lib/odd (1) näme.cc"

_FIRST = """--- chromium.orig/build/flags.gni
+++ chromium/build/flags.gni
@@ -1 +1 @@
-old = true
+new = true
--- a/chrome/absent.cc
+++ b/chrome/absent.cc
@@ -1 +1 @@
-x
+y
"""
_MAKES = (
    "--- /dev/null\n+++ b/made.py\n@@ -0,0 +1 @@\n+pass\n--- /dev/null\n+++ b/chrome/made.py\n@@ -0,0 +1 @@\n+pass\n"
)


def excerpt(version: int, name: str) -> bytes:
    return (_HERE / "testdata" / str(version) / name).read_bytes()


class TreeTestCase(unittest.TestCase):
    """A folder, a cache and a mirror of archives; nothing else can be reached."""

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.root, self.mirror = self.folder / "repository", self.folder / "mirror"
        self.root.mkdir()
        self.patch = self.serve("patch", archives.deb_bytes({"./usr/bin/patch": PATCH.read_bytes()}))
        environment = {"XDG_CACHE_HOME": str(self.folder / "cache"), "MLGO_DEBIAN_MIRRORS": str(self.mirror)}
        for patcher in (
            unittest.mock.patch.dict(os.environ, environment),
            unittest.mock.patch.object(make_tree.mirrors, "find_mirrors", lambda environ: [str(self.mirror)]),
        ):
            patcher.start()
            self.addCleanup(patcher.stop)

    def serve(self, name: str, content: bytes) -> lockfile.Entry:
        entry = archives.entry(name, content, f"pool/{name}")
        (self.mirror / "pool").mkdir(parents=True, exist_ok=True)
        (self.mirror / entry.path).write_bytes(content)
        return entry

    def source(self, version: int, **files: bytes) -> lockfile.Entry:
        names = ["build/config/clang/clang.gni", "build/config/compiler/BUILD.gn"]
        content = {f"chromium/{name}": excerpt(version, name) for name in names}
        content.update(
            {
                "chromium/build/flags.gni": b"old = true\n",
                f"chromium/{_ODD}": b"int odd;\n",
                "chromium/chrome/browser.cc": b"int browser;\n",
            }
        )
        return self.serve("orig", archives.tar_bytes({**content, **files}))

    def packaging(self, series: str = "first.patch\n# off.patch\nmakes.patch\n", **patches: str) -> lockfile.Entry:
        texts = {"first.patch": _FIRST, "makes.patch": _MAKES, **patches}
        files = {f"debian/patches/{name.replace('_patch', '.patch')}": text.encode() for name, text in texts.items()}
        return self.serve("debian", archives.tar_bytes({"debian/patches/series": series.encode(), **files}))

    def make(self, pinned: chromium_lock.Origin, **request) -> str:
        """Makes the tree anew; returns what is said."""
        shutil.rmtree(self.root)
        self.root.mkdir()
        lock = self.folder / "lock.json"
        lock.write_text(chromium_lock.to_text({"debian": pinned}), encoding="utf-8")
        said = io.StringIO()
        with contextlib.redirect_stderr(said):
            make_tree.make_tree(
                {
                    "lock": str(lock),
                    "origin": "debian",
                    "include": ["build/", "third_party/lib/"],
                    "exclude": [],
                    "patch_set": "",
                    "unbundle": True,
                    "patches": [],
                    "patch_folder": str(_OWN),
                    "patch": {**self.patch.to_json(), "name": "patch"},
                    **request,
                },
                self.root,
            )
        return said.getvalue()

    def text(self, name: str) -> str:
        return (self.root / "source" / name).read_text(encoding="utf-8")


class TreeTest(TreeTestCase):
    def test_only_listed_paths_and_the_parts_of_patches_that_are_for_them(self):
        said = self.make(chromium_lock.Origin("150.0.1.2-1", self.source(150), self.packaging()))
        found = {
            str(path.relative_to(self.root / "source")) for path in (self.root / "source").rglob("*") if path.is_file()
        }
        self.assertIn(_ODD, found)
        self.assertIn("made.py", found)
        self.assertNotIn("chrome/browser.cc", found)
        self.assertEqual({(self.root / "source" / name).stat().st_mtime for name in found}, {unpack.TIME_STAMP})
        self.assertNotIn("chrome/made.py", found)
        self.assertEqual(self.text("build/flags.gni"), "new = true\n")
        self.assertIn("lld_emit_index = false", self.text("build/config/clang/clang.gni"))
        self.assertIn("2 parts are for files that are not here", said)
        fingerprints = json.loads((self.root / "source.json").read_text(encoding="utf-8"))
        self.assertEqual((fingerprints["version"], fingerprints["patch_set"]), ("150.0.1.2-1", "current"))
        self.assertEqual(fingerprints["patches"][0], {"patch": "first.patch", "files": 1, "left_out": 1})

    def test_upstreams_tarball_has_no_series(self):
        self.make(chromium_lock.Origin("150.0.1.2", self.source(150)))
        self.assertEqual(self.text("build/flags.gni"), "old = true\n")
        self.assertIn("current_toolchain == default_toolchain", self.text("build/config/compiler/BUILD.gn"))

    def test_older_version_gets_the_older_set(self):
        self.make(chromium_lock.Origin("103.0.5060.134-1", self.source(103), self.packaging()))
        self.assertIn("clang_embed_bitcode = false", self.text("build/config/clang/clang.gni"))
        compiler = self.text("build/config/compiler/BUILD.gn")
        self.assertIn("-fembed-bitcode=all", compiler)
        self.assertIn("--thinlto-emit-index-files", compiler)

    def test_changed_file_is_an_error_that_names_patch_version_and_choice(self):
        changed = excerpt(150, "build/config/compiler/BUILD.gn").replace(
            b"if (clang_embed_bitcode) {", b"if (clang_embed_bitcode2) {"
        )
        source = self.source(150, **{"chromium/build/config/compiler/BUILD.gn": changed})
        with self.assertRaisesRegex(
            patch_series.PatchError,
            r"patches/chromium/bitcode_of_the_default_toolchain.patch: does not apply \(.*FAILED.*\); the tree is of"
            r" version 150: choose .*older, current",
        ):
            self.make(chromium_lock.Origin("150.0.1.2-1", source, self.packaging()))

    def test_wrong_set_is_an_error(self):
        with self.assertRaisesRegex(patch_series.PatchError, "older_trees_have_both_arguments.patch: does not apply"):
            self.make(chromium_lock.Origin("150.0.1.2-1", self.source(150), self.packaging()), patch_set="older")
        with self.assertRaisesRegex(patch_series.PatchError, "'newest': is none; there are: older, current"):
            self.make(chromium_lock.Origin("150.0.1.2-1", self.source(150), self.packaging()), patch_set="newest")

    def test_our_patch_needs_its_file(self):
        with self.assertRaisesRegex(patch_series.PatchError, "the tree has no build/config/compiler/BUILD.gn"):
            self.make(
                chromium_lock.Origin("150.0.1.2-1", self.source(150), self.packaging()),
                include=["build/flags.gni", "third_party/lib/"],
            )

    def test_debians_patch_that_does_not_apply_is_an_error(self):
        packaging = self.packaging(first_patch=_FIRST.replace("old = true", "other = true"))
        with self.assertRaisesRegex(patch_series.PatchError, "first.patch: does not apply"):
            self.make(chromium_lock.Origin("150.0.1.2-1", self.source(150), packaging))

    def test_series_that_names_what_is_not_there(self):
        with self.assertRaisesRegex(patch_series.PatchError, "names none.patch, which is not in the tarball"):
            self.make(chromium_lock.Origin("150.0.1.2-1", self.source(150), self.packaging(series="none.patch\n")))

    def test_libraries_that_debian_took_away_are_the_systems(self):
        table = (
            b"REPLACEMENTS = {'zlib': 'third_party/lib/zlib/BUILD.gn', 'other': 'third_party/other/BUILD.gn',\n"
            b"'lib': 'third_party/lib/BUILD.gn', 'evil': '../evil', 'none': 'none.gn'}\nimport os\n"
        )
        files = {f"chromium/build/linux/unbundle/{name}.gn": name.encode() for name in ("zlib", "lib", "evil", "other")}
        files["chromium/third_party/lib/BUILD.gn"] = b"bundled"
        source = self.source(150, **{"chromium/build/linux/unbundle/replace_gn_files.py": table, **files})
        self.make(chromium_lock.Origin("150.0.1.2-1", source, self.packaging()))
        self.assertEqual(
            (self.text("third_party/lib/zlib/BUILD.gn"), self.text("third_party/lib/BUILD.gn")), ("zlib", "bundled")
        )
        self.assertFalse((self.root / "evil").exists())
        fingerprints = json.loads((self.root / "source.json").read_text(encoding="utf-8"))
        self.assertEqual(fingerprints["system_libraries"], ["third_party/lib/zlib/BUILD.gn"])
        self.make(chromium_lock.Origin("150.0.1.2", source))
        self.assertFalse((self.root / "source/third_party/lib/zlib").exists())
        self.make(chromium_lock.Origin("150.0.1.2-1", source, self.packaging()), unbundle=False)
        self.assertFalse((self.root / "source/third_party/lib/zlib").exists())
        broken = self.source(150, **{"chromium/build/linux/unbundle/replace_gn_files.py": b"REPLACEMENTS = f()\n"})
        with self.assertRaisesRegex(patch_series.PatchError, "no table REPLACEMENTS that can be read"):
            self.make(chromium_lock.Origin("150.0.1.2-1", broken, self.packaging()))

    def test_path_that_matches_nothing(self):
        with self.assertRaisesRegex(unpack.UnpackError, "nothing in it matches nowhere/"):
            self.make(
                chromium_lock.Origin("150.0.1.2-1", self.source(150), self.packaging()), include=["build/", "nowhere/"]
            )

    def test_version_that_left_the_mirrors(self):
        origin = chromium_lock.Origin("150.0.1.2-1", self.source(150), self.packaging())
        (self.mirror / origin.source.path).unlink()
        with unittest.mock.patch.object(make_tree, "_versions_there", lambda: ["151.0.1.1-1", "156.0.2.2-1"]):
            with self.assertRaisesRegex(
                fetch.FetchError,
                r"^chromium 150.0.1.2-1: has left the mirrors .*There today: 151.0.1.1-1, 156.0.2.2-1\. "
                r"Take one of them: ./bazelw run //third_party/chromium:lock -- --version=156.0.2.2-1$",
            ):
                self.make(origin)

    def test_other_missing_archive_is_not_called_chromium(self):
        (self.mirror / self.patch.path).unlink()
        with self.assertRaisesRegex(fetch.FetchError, "^patch 1.0"):
            self.make(chromium_lock.Origin("150.0.1.2-1", self.source(150), self.packaging()))

    def test_damaged_tarball_is_named(self):
        cut = self.serve("orig", (self.mirror / self.source(150).path).read_bytes()[:-200])
        with self.assertRaisesRegex(unpack.UnpackError, "damaged"):
            self.make(chromium_lock.Origin("150.0.1.2-1", cut, self.packaging()))

    def test_origin_that_is_not_pinned(self):
        with self.assertRaisesRegex(
            lockfile.LockError, "no origin upstream; there are: debian. Add it with .*--upstream=URL"
        ):
            self.make(chromium_lock.Origin("150.0.1.2-1", self.source(150), self.packaging()), origin="upstream")


class OwnPatchesTest(unittest.TestCase):
    def test_libraries_without_the_browser(self):
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(_HERE / "testdata" / "150", folder, dirs_exist_ok=True)
            patcher = make_tree.Patcher(pathlib.Path(folder), str(PATCH), [])
            name = "libraries_without_the_browser.patch"
            patcher.apply_whole(name, (_OWN / name).read_text(encoding="utf-8"), "mend it")
            gclient = pathlib.Path(folder, "build/config/gclient_args.gni").read_text(encoding="utf-8")
            self.assertIn("build_with_chromium = false\n", gclient)

    def test_bindgen_with_its_tools(self):
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(_HERE / "testdata" / "150", folder, dirs_exist_ok=True)
            patcher = make_tree.Patcher(pathlib.Path(folder), str(PATCH), [])
            name = "bindgen_with_its_tools.patch"
            patcher.apply_whole(name, (_OWN / name).read_text(encoding="utf-8"), "mend it")
            generator = pathlib.Path(folder, "build/rust/rust_bindgen_generator.gni").read_text(encoding="utf-8")
            self.assertEqual(
                generator[generator.rindex("_rustfmt_path = ") :].splitlines()[:2],
                [
                    '_rustfmt_path = "${rust_bindgen_root}/bin/rustfmt"',
                    '_libclang_path = "${rust_bindgen_root}/lib/x86_64-linux-gnu"',
                ],
            )
            self.assertNotIn("clang_base_path", generator)

    def test_v8_in_its_own_checkout(self):
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(_HERE / "testdata" / "150", folder, dirs_exist_ok=True)
            patcher = make_tree.Patcher(pathlib.Path(folder), str(PATCH), [])
            name = "v8_in_its_own_checkout.patch"
            patcher.apply_whole(name, (_OWN / name).read_text(encoding="utf-8"), "mend it")
            self.assertIn('"//v8/gni/cluster_build.gni"', pathlib.Path(folder, ".gn").read_text(encoding="utf-8"))
            highway = pathlib.Path(folder, "third_party/highway/BUILD.gn").read_text(encoding="utf-8")
            self.assertIn('if (build_with_chromium) {\ntest("highway_tests") {', highway)
            self.assertTrue(highway.endswith("}\n}\n"))

    def test_every_patch_is_in_a_set_or_asked_for_and_says_why_it_is_there(self):
        known = {name for patch_set in patch_sets.PATCH_SETS.values() for name in patch_set.patches}
        self.assertEqual(
            {path.name for path in _OWN.glob("*.patch")},
            known
            | {"bindgen_with_its_tools.patch", "libraries_without_the_browser.patch", "v8_in_its_own_checkout.patch"},
        )
        for path in _OWN.glob("*.patch"):
            text = path.read_text(encoding="utf-8")
            self.assertRegex(text, r"(?s)\APurpose: .*\nUpstream: .*\nDrop when: ", path.name)

    def test_sets_by_version(self):
        self.assertEqual(
            [patch_sets.chosen(major) for major in (90, 108, 109, 150)], ["older", "older", "current", "current"]
        )


if __name__ == "__main__":
    unittest.main()
