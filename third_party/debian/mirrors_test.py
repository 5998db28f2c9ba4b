import functools
import pathlib
import tempfile
import unittest

import mirrors
import resolve

DEB822 = """\
# comment
Types: deb deb-src
URIs: http://one.example/debian
Suites: trixie
 trixie-updates
Components: main

Types: deb
URIs: https://two.example/debian-security/
Suites: trixie-security

Enabled: no
Types: deb
URIs: http://off.example/debian
Suites: trixie
"""


def no_package(environ):
    raise mirrors.MirrorError("pip: no such module")


class MirrorsTest(unittest.TestCase):
    def setUp(self):
        self.etc = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        (self.etc / "sources.list.d").mkdir()

    def test_deb822(self):
        self.assertEqual(
            mirrors.parse_deb822(DEB822),
            [
                mirrors.AptSource("http://one.example/debian", ("trixie", "trixie-updates")),
                mirrors.AptSource("https://two.example/debian-security", ("trixie-security",)),
            ],
        )

    def test_one_line(self):
        self.assertEqual(
            mirrors.parse_one_line(
                "# deb http://no.example/debian x\ndeb [arch=amd64] http://a.example/debian/ sid main\nnonsense"
            ),
            [mirrors.AptSource("http://a.example/debian", ("sid",))],
        )

    def test_environment_comes_before_apt_and_vendors_are_left_out(self):
        (self.etc / "sources.list").write_text(
            "deb http://vendor.example/apt x main\ndeb http://a.example/debian sid main\n"
        )
        (self.etc / "sources.list.d/debian.sources").write_text(DEB822)
        self.assertEqual(
            mirrors.find_mirrors({"MLGO_DEBIAN_MIRRORS": "/srv/keep, http://own.example/debian/"}, str(self.etc)),
            [
                "/srv/keep",
                "http://own.example/debian",
                "http://a.example/debian",
                "http://one.example/debian",
                "https://two.example/debian-security",
            ],
        )

    def test_the_option_of_the_launcher_comes_first_and_dated_archives_last(self):
        dated = "http://a.example/archive/debian/20261101T000000Z"
        environ = {"MLGO_DEBIAN_MIRRORS": f"{dated},/srv/keep", "MLGO_DEBIAN_MIRROR_OPTION": "file:///srv/a%20b"}
        (self.etc / "sources.list").write_text("deb http://a.example/debian sid main\n")
        self.assertEqual(
            mirrors.find_mirrors(environ, str(self.etc)),
            ["file:///srv/a%20b", "/srv/keep", "http://a.example/debian", dated],
        )

    def test_no_mirror_at_all(self):
        with self.assertRaisesRegex(
            mirrors.MirrorError, "not set, neither .* names one.*--debian_mirror=URL.*user.bazelrc"
        ):
            mirrors.find_mirrors({}, str(self.etc), str(self.etc / "absent"), no_package)

    def test_a_package_names_debians_archive_where_no_file_does(self):
        find = functools.partial(mirrors.find_mirrors, etc=str(self.etc), template="/absent")
        self.assertEqual(find({}, package=lambda environ: ["http://d.example/debian"]), ["http://d.example/debian"])
        self.assertEqual(find({"MLGO_DEBIAN_MIRRORS": "/srv/keep"}, package=no_package), ["/srv/keep"])

    def test_python_apt_names_debians_archive_where_apt_has_another_distribution(self):
        (self.etc / "sources.list").write_text("deb http://a.example/ubuntu noble main\n")
        template = self.etc / "Debian.info"
        template.write_text(
            "Suite: {series}\nBaseURI: https://d.example/debian/\nMatchURI: .*\n\n"
            "Suite: {series}-security\nBaseURI: https://security.example/\n\n"
            "Suite: stable\nBaseURI: https://d.example/debian/\nBaseURI: gopher://d.example/debian\n"
        )
        find = functools.partial(mirrors.find_mirrors, etc=str(self.etc), template=str(template))
        self.assertEqual(find({}), ["https://d.example/debian"])
        self.assertEqual(find({"MLGO_DEBIAN_MIRRORS": "/srv/keep"}), ["/srv/keep"])
        (self.etc / "sources.list").write_text("deb http://a.example/debian sid main\n")
        self.assertEqual(find({}), ["http://a.example/debian"])

    def test_hosts_of_other_distributions_are_told_what_to_set(self):
        ubuntu = "Types: deb\nURIs: http://archive.example/ubuntu\nSuites: noble noble-updates\nComponents: main\n"
        (self.etc / "sources.list.d/ubuntu.sources").write_text(ubuntu)
        for etc in (str(self.etc), str(self.etc / "no/apt/here")):
            with self.subTest(etc), self.assertRaises(mirrors.MirrorError) as caught:
                mirrors.find_mirrors({}, etc, "/absent", no_package)
            self.assertEqual(
                str(caught.exception),
                f"no Debian mirror: MLGO_DEBIAN_MIRRORS is not set, neither {etc} nor /absent names one, and the "
                "package of pip's index that does cannot be had (pip: no such module). Give the URL of a mirror, or a "
                "directory made by //third_party/debian:mirror, with ./bazelw --debian_mirror=URL, or in user.bazelrc "
                "with common --repo_env=MLGO_DEBIAN_MIRRORS=URL",
            )
            given = {mirrors.OPTION_VARIABLE: "http://m/debian"}
            self.assertEqual(mirrors.find_mirrors(given, etc), ["http://m/debian"])

    def test_apt_waits_as_long_as_our_own_downloads(self):
        lines = resolve.configuration(pathlib.Path("/root")).splitlines()
        for scheme in ("http", "https"):
            self.assertIn(f'Acquire::{scheme}::Timeout "20";', lines)

    def test_apt_resolves_packages_of_x86_64_on_any_machine(self):
        lines = resolve.configuration(pathlib.Path("/root")).splitlines()
        self.assertIn('APT::Architecture "amd64";', lines)
        self.assertIn('APT::Architectures "amd64";', lines)

    def test_a_directory_as_a_mirror(self):
        for base, expected in (
            ("/srv/keep", "/srv/keep"),
            ("keep", "keep"),
            ("file:///srv/a%20b", "/srv/a b"),
            ("file:/srv/keep", "/srv/keep"),
        ):
            self.assertEqual(mirrors.directory(base), pathlib.Path(expected))
        self.assertIsNone(mirrors.directory("https://host/debian"))

    def test_suites_lie_on_the_base_that_serves_their_kind(self):
        lines = resolve.source_lines(["bookworm", "bookworm-security"], mirrors.parse_deb822(DEB822))
        self.assertIn("one.example/debian bookworm main", lines[0])
        self.assertIn("two.example/debian-security bookworm-security main", lines[2])
        with self.assertRaisesRegex(resolve.ResolveError, "names no Debian mirror for forky"):
            resolve.source_lines(["forky"], [])


if __name__ == "__main__":
    unittest.main()
