"""comment.py against a server that stores comments as GitHub and GitLab do."""

import contextlib
import http.server
import io
import json
import os
import pathlib
import tempfile
import threading
import unittest
from unittest import mock

from examples.ci import comment

TOKEN = "a-token"


class _Server(http.server.ThreadingHTTPServer):
    """On a free port. Attributes: comments: number -> text; requests: (method, path) of each, in order."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.comments: dict[int, str] = {}
        self.requests: list[tuple[str, str]] = []


class _Handler(http.server.BaseHTTPRequestHandler):
    """Comments of one change; a wrong token gets 403."""

    server: _Server

    def _answer(self, code, content):
        data = json.dumps(content).encode()
        self.send_response(code)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _handle(self):
        path = self.path.partition("?")[0]
        data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.server.requests.append((self.command, path))
        given = {self.headers.get("Authorization"), self.headers.get("PRIVATE-TOKEN")}
        if not given & {TOKEN, f"Bearer {TOKEN}"}:
            return self._answer(403, {"message": "Forbidden"})
        if self.command == "GET":
            page = int(self.path.rpartition("page=")[2])
            found = [{"id": number, "body": text} for number, text in self.server.comments.items()]
            return self._answer(200, found[(page - 1) * 100 : page * 100])
        number = len(self.server.comments) if self.command == "POST" else int(path.rpartition("/")[2])
        self.server.comments[number] = json.loads(data)["body"]
        return self._answer(201 if self.command == "POST" else 200, {"id": number})

    do_GET = do_POST = do_PUT = do_PATCH = _handle

    def log_message(self, *_):
        pass


class CommentTest(unittest.TestCase):
    def setUp(self):
        self.server = _Server()
        thread = threading.Thread(target=self.server.serve_forever)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)
        url = f"http://127.0.0.1:{self.server.server_address[1]}"
        self.github = {
            "GITHUB_API_URL": url,
            "GITHUB_REPOSITORY": "owner/mlgo",
            "GITHUB_TOKEN": TOKEN,
            "PULL_REQUEST": "7",
        }
        self.gitlab = {
            "CI_API_V4_URL": url,
            "CI_PROJECT_ID": "12",
            "CI_MERGE_REQUEST_IID": "7",
            "MLGO_COMMENT_TOKEN": TOKEN,
        }
        self.file = pathlib.Path(tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR"))) / "comment.md"

    def run_main(self, environment, text="**−1.1 %** | better\n"):
        """Exit code and what is printed on standard error."""
        if text is not None:
            self.file.write_text(text, encoding="utf-8")
        said = io.StringIO()
        with mock.patch.dict(os.environ, environment, clear=True), contextlib.redirect_stderr(said):
            with contextlib.redirect_stdout(io.StringIO()):
                return comment.main([str(self.file)]), said.getvalue()

    def test_the_second_run_replaces_the_comment_of_the_first(self):
        for environment, comments, edited, method in (
            (self.github, "/repos/owner/mlgo/issues/7/comments", "/repos/owner/mlgo/issues/comments/250", "PATCH"),
            (self.gitlab, "/projects/12/merge_requests/7/notes", "/projects/12/merge_requests/7/notes/250", "PUT"),
        ):
            with self.subTest(method=method):
                # More than two pages of other comments, one of which quotes our mark.
                self.server.comments = dict.fromkeys(range(250), f"> {comment.MARK}")
                self.server.requests.clear()
                self.assertEqual(self.run_main(environment, "first\n"), (0, ""))
                self.assertEqual(self.server.requests[-1], ("POST", comments))
                self.assertEqual(self.run_main(environment, "−2 %\n"), (0, ""))
                self.assertEqual(self.server.requests[-1], (method, edited))
                self.assertEqual(self.server.comments[250], f"{comment.MARK}\n−2 %\n")
                self.assertEqual(len(self.server.comments), 251)

    def test_a_long_text_is_cut(self):
        self.assertEqual(self.run_main(self.github, "x" * 100_000)[0], 0)
        self.assertEqual(len(self.server.comments[0]), comment.MAX_CHARACTERS)
        self.assertIn("the artefacts of the run have the whole text", self.server.comments[0])

    def test_no_file_no_comment(self):
        self.assertEqual(self.run_main(self.github, None), (0, ""))
        self.assertEqual(self.server.requests, [])

    def test_missing_variables_are_named(self):
        del self.github["PULL_REQUEST"], self.github["GITHUB_TOKEN"]
        code, said = self.run_main(self.github)
        self.assertEqual(code, 2)
        self.assertIn("PULL_REQUEST, GITHUB_TOKEN not set", said)

    def test_a_refusal_is_one_sentence(self):
        code, said = self.run_main(self.github | {"GITHUB_TOKEN": "another"})
        self.assertEqual(code, 2)
        self.assertRegex(said, "the server answers 403 Forbidden: give the token the right to write comments\n$")
        self.assertNotIn("another", said)


if __name__ == "__main__":
    unittest.main()
