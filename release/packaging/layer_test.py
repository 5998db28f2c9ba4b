import io
import pathlib
import tarfile
import tempfile
import unittest

from mlgo.run.exit_codes import RunError
from release.packaging import layer, licences, part
from third_party.debian.testing import archives


class PackagesTest(unittest.TestCase):
    def setUp(self):
        self.scratch = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def package(self, name, files, compression="xz"):
        path = self.scratch / f"{name}.deb"
        path.write_bytes(archives.deb_bytes(files, compression, control=f"Package: {name}\nVersion: 1\n".encode()))
        return path

    def layer(self, packages, **options):
        output = io.BytesIO()
        layer.write(output, packages, **options)
        return output.getvalue()

    @staticmethod
    def members(content):
        found = {}
        with tarfile.open(fileobj=io.BytesIO(content)) as tar:
            for member in tar:
                file = tar.extractfile(member) if member.isfile() else None
                found[member.name] = (member, file.read() if file else b"")
        return found

    def test_a_layer_is_the_packages_merged_into_usr(self):
        tool = self.package(
            "tool",
            {
                "./bin/tool": b"program",
                "./usr/bin/hard": ("hardlink", "./bin/tool"),
                "./lib/x.so": ("symlink", "/lib/y.so"),
            },
        )
        text = self.package(
            "text", {"./usr/share/doc/text/copyright": b"text", "./usr/share/doc/text/changelog": b"long"}, "gz"
        )
        found = self.members(
            self.layer(
                [tool, text],
                exclude=["usr/share/doc/*/*"],
                keep=["usr/share/doc/*/copyright"],
                links=[("usr/bin/awk", "mawk")],
                directories=[(0o1777, 1000, "var/tmp")],
            )
        )
        self.assertEqual(found["usr/bin/tool"][1], b"program")
        self.assertEqual(found["usr/bin/tool"][0].mode, 0o755)
        self.assertEqual(
            (found["usr/bin/hard"][0].type, found["usr/bin/hard"][0].linkname), (tarfile.LNKTYPE, "usr/bin/tool")
        )
        self.assertEqual(found["usr/lib/x.so"][0].linkname, "/lib/y.so")
        self.assertEqual(found["bin"][0].linkname, "usr/bin")
        self.assertEqual(found["usr/bin/awk"][0].linkname, "mawk")
        self.assertEqual((found["var/tmp"][0].mode, found["var/tmp"][0].uid), (0o1777, 1000))
        self.assertEqual(found["usr/share/doc/text/copyright"][1], b"text")
        self.assertNotIn("usr/share/doc/text/changelog", found)
        self.assertEqual(found["var/lib/dpkg/status.d/text"][1], b"Package: text\nVersion: 1\n")
        self.assertEqual({member.mtime for member, _ in found.values()}, {0})

    def test_parents_come_first_and_nothing_twice(self):
        packages = [self.package("a", {"./usr/share/x/1": b""}), self.package("b", {"./usr/share/x/2": b""})]
        with tarfile.open(fileobj=io.BytesIO(self.layer(packages))) as tar:
            names = tar.getnames()
        self.assertEqual(len(names), len(set(names)))
        for name in names:
            parents = [str(parent) for parent in pathlib.PurePosixPath(name).parents][:-1]
            self.assertTrue(all(names.index(parent) < names.index(name) for parent in parents), name)

    def test_equal_packages_give_equal_bytes(self):
        packages = [self.package("a", {"./etc/x": b"1"})]
        first = self.layer(packages)
        self.assertEqual(first, self.layer(packages))
        # Neither a time nor a file name in gzip's header.
        self.assertEqual(first[3:8], bytes(5))

    def test_certificates_become_one_bundle(self):
        folder = "./usr/share/ca-certificates/mozilla"
        package = self.package("ca-certificates", {f"{folder}/B.crt": b"two\n", f"{folder}/A.crt": b"one\n"})
        found = self.members(self.layer([package], certificates=True))
        self.assertEqual(found["etc/ssl/certs/ca-certificates.crt"][1], b"one\ntwo\n")
        with self.assertRaisesRegex(RunError, "no package has any .* Add ca-certificates"):
            self.layer([self.package("a", {"./etc/x": b"1"})], certificates=True)

    def test_two_packages_with_one_path_are_named(self):
        packages = [self.package("a", {"./etc/x": b"1"}), self.package("b", {"./etc/x": b"2"})]
        with self.assertRaisesRegex(RunError, r"b\.deb: etc/x: is also in a\.deb\. Leave one"):
            self.layer(packages)

    def test_damaged_packages(self):
        good = self.package("a", {"./etc/x": bytes(range(256)) * 64}).read_bytes()
        for name, content, says in (
            ("cut", good[:-200], "cut.deb: "),
            ("other", b"not a package", "ar signature missing"),
            ("changed", good[:-300] + b"\xff" * 60 + good[-240:], "changed.deb: is damaged"),
            ("empty", archives.deb_bytes({"./etc/x": b""}), "no Package line"),
        ):
            path = self.scratch / f"{name}.deb"
            path.write_bytes(content)
            with self.subTest(name), self.assertRaisesRegex(RunError, f"{says}.*etch it again"):
                self.layer([path])
        with self.assertRaisesRegex(RunError, "lies outside"):
            self.layer([self.package("climbs", {"../x": b""})])
        with self.assertRaisesRegex(RunError, "is a hard link to the root"):
            self.layer([self.package("link", {"./usr/x": ("hardlink", "./")})])

    def test_the_reason_of_damage_in_three_parts(self):
        path = self.scratch / "other.deb"
        path.write_bytes(b"not a package")
        with self.assertRaises(RunError) as caught:
            self.layer([path])
        self.assertEqual(
            (caught.exception.subject, caught.exception.wrong, caught.exception.remedy),
            ("other.deb", "no Debian package (ar signature missing)", "delete it and fetch it again"),
        )

    def test_a_part_of_a_package(self):
        package = self.package("rt", {"./usr/lib/x/a.txt": b"a", "./usr/lib/x/i386.a": b"", "./usr/lib/y": b""})
        part.extract(package, "usr/lib/x", ["i386*"], self.scratch / "out")
        self.assertEqual([path.name for path in (self.scratch / "out").iterdir()], ["a.txt"])
        with self.assertRaisesRegex(RunError, "no file below usr/none. Correct --prefix"):
            part.extract(package, "usr/none", [], self.scratch / "none")

    def test_licences_bring_the_texts_they_refer_to(self):
        zlib = self.package(
            "zlib1g-dev", {"./usr/share/doc/zlib1g-dev/copyright": b"See /usr/share/common-licenses/GPL."}
        )
        base = self.package(
            "base-files",
            {"./usr/share/common-licenses/GPL-3": b"GNU", "./usr/share/common-licenses/GPL": ("symlink", "GPL-3")},
        )
        text, common = licences.package_licence(zlib), licences.common_texts(base)
        licences.collect(self.scratch / "out", {"zlib": text}, common)
        self.assertEqual((self.scratch / "out/zlib.txt").read_text(), text)
        self.assertEqual((self.scratch / "out/common/GPL.txt").read_text(), "GNU")
        with self.assertRaisesRegex(RunError, "the licence GPL: is referred to"):
            licences.collect(self.scratch / "out", {"zlib": text}, {})
        with self.assertRaisesRegex(RunError, r"has no usr/share/doc/empty/copyright"):
            licences.package_licence(self.package("empty", {"./etc/x": b""}))


if __name__ == "__main__":
    unittest.main()
