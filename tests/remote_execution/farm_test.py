import pathlib
import socket
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

from tests.isolation.processes import process
from tests.remote_execution import farm, installation
from tests.remote_execution.failure import FarmError


class FarmTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def test_configuration_names_folder_port_and_database(self):
        template = (installation.HERE / "buildgrid.yml").read_text("utf-8")
        text = farm.configuration(template, pathlib.Path("/scratch"), 4321, "postgresql+psycopg2://x")
        self.assertIn('address: "127.0.0.1:4321"', text)
        self.assertIn("path: /scratch/cas", text)
        self.assertIn("connection-string: postgresql+psycopg2://x", text)

    def test_server_that_ends_is_reported_with_its_words(self):
        log = self.folder / "log"
        command = [sys.executable, "-c", "print('address in use')"]
        with process(command, log) as started, self.assertRaisesRegex(FarmError, "address in use"):
            started.wait()
            farm.wait_for(farm.free_port(), started, log)

    def test_without_fuse_the_other_way_of_staging_is_named(self):
        with (
            mock.patch.object(farm, "_FUSE", self.folder / "fuse"),
            self.assertRaisesRegex(FarmError, "fuse: is absent.*--staging=copy-or-link"),
            farm.farm(self.folder, workers=1, jobs=1, staging="fuse"),
        ):
            self.fail("a farm has started")

    def test_server_that_listens_is_waited_for(self):
        with socket.create_server(("127.0.0.1", 0)) as server:
            waiting = subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE)
            try:
                farm.wait_for(server.getsockname()[1], waiting, self.folder / "log")
            finally:
                waiting.communicate()


if __name__ == "__main__":
    unittest.main()
