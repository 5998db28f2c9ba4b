"""Writes a Markdown file as the comment of a pull request on GitHub or a merge request on GitLab.

    comment.py out/ci/comment.md

The comment that an earlier run wrote is replaced: a change has one comment, with the newest result. Variables of the CI
name the place: GITHUB_API_URL, GITHUB_REPOSITORY, GITHUB_TOKEN and PULL_REQUEST, or CI_API_V4_URL, CI_PROJECT_ID,
CI_MERGE_REQUEST_IID and MLGO_COMMENT_TOKEN. Python >= 3.9 and the standard library only: CI runs this without Bazel.

Exit codes: 0 written, or the file does not exist because the build ended before the comparison; 2 a variable is missing
or the server refuses.
"""

import json
import os
import pathlib
import sys
import urllib.error
import urllib.request
from collections.abc import Mapping
from typing import NamedTuple

#: First line of our comments, which pages do not show.
MARK = "<!-- mlgo: result of CI -->"
#: GitHub refuses comments of more than 65536 characters.
MAX_CHARACTERS = 65000
_PAGE_SIZE = 100
_MAX_PAGES = 50
_TIMEOUT_SECONDS = 60
_MAX_ANSWER_BYTES = 32 << 20


class CommentError(Exception):
    """One sentence: what was read, what is wrong, what to do."""


class Place(NamedTuple):
    """Where comments go.

    Attributes:
      list_url: lists comments, and takes new ones by POST.
      edit_url: URL of one comment, with {id}.
      edit_method: HTTP method that replaces a comment.
      headers: with the token.
    """

    list_url: str
    edit_url: str
    edit_method: str
    headers: dict[str, str]


def place(environment: Mapping[str, str]) -> Place:
    """The comments of the change that CI builds.

    Raises: CommentError: neither GitHub's nor GitLab's variables are there; names the missing ones.
    """
    if environment.get("CI_API_V4_URL"):
        url, project, number, token = _values(
            environment, "CI_API_V4_URL", "CI_PROJECT_ID", "CI_MERGE_REQUEST_IID", "MLGO_COMMENT_TOKEN"
        )
        notes = f"{url}/projects/{project}/merge_requests/{number}/notes"
        return Place(notes, notes + "/{id}", "PUT", {"PRIVATE-TOKEN": token})
    url, repository, number, token = _values(
        environment, "GITHUB_API_URL", "GITHUB_REPOSITORY", "PULL_REQUEST", "GITHUB_TOKEN"
    )
    issues = f"{url}/repos/{repository}/issues"
    headers = {"Authorization": f"Bearer {token}", "Accept": "application/vnd.github+json"}
    return Place(f"{issues}/{number}/comments", issues + "/comments/{id}", "PATCH", headers)


def _values(environment: Mapping[str, str], *names: str) -> list[str]:
    missing = [name for name in names if not environment.get(name)]
    if missing:
        raise CommentError(f"environment: {', '.join(missing)} not set: pass them to this step")
    return [environment[name] for name in names]


def body(text: str) -> str:
    """The comment with our mark; a text that is too long is cut, and says so."""
    note = "\n\n(cut: the artefacts of the run have the whole text)\n"
    whole = f"{MARK}\n{text}"
    return whole if len(whole) <= MAX_CHARACTERS else whole[: MAX_CHARACTERS - len(note)] + note


def write(where: Place, text: str) -> None:
    """Replaces our comment at `where` by `text`, or adds one.

    Raises: CommentError: the server cannot be reached, refuses, or answers with what is no list of comments.
    """
    found = _own_comment(where)
    content = {"body": body(text)}
    if found is None:
        _request("POST", where.list_url, where.headers, content)
    else:
        _request(where.edit_method, where.edit_url.format(id=found), where.headers, content)


def _own_comment(where: Place) -> "int | None":
    for page in range(1, _MAX_PAGES + 1):
        comments = _request("GET", f"{where.list_url}?per_page={_PAGE_SIZE}&page={page}", where.headers)
        if not isinstance(comments, list):
            raise CommentError(f"{where.list_url}: the answer is no list of comments: check the URL of the API")
        for comment in comments:
            if isinstance(comment, dict) and str(comment.get("body", "")).startswith(MARK):
                return int(comment["id"])
        if len(comments) < _PAGE_SIZE:
            break
    return None


def _request(method: str, url: str, headers: Mapping[str, str], content: object = None) -> object:
    data = None if content is None else json.dumps(content).encode()
    request = urllib.request.Request(
        url, data=data, method=method, headers={**headers, "Content-Type": "application/json"}
    )
    try:
        with urllib.request.urlopen(request, timeout=_TIMEOUT_SECONDS) as answer:
            return json.loads(answer.read(_MAX_ANSWER_BYTES))
    except urllib.error.HTTPError as error:
        remedy = "give the token the right to write comments" if error.code in (401, 403, 404) else "try again"
        raise CommentError(f"{method} {url}: the server answers {error.code} {error.reason}: {remedy}") from error
    except (OSError, ValueError) as error:
        raise CommentError(f"{method} {url}: {error}: check the URL of the API and the network") from error


def main(arguments: "list[str]") -> int:
    """Writes the comment; returns the exit code."""
    if len(arguments) != 1:
        print("comment.py: give one Markdown file: comment.py out/ci/comment.md", file=sys.stderr)
        return 2
    path = pathlib.Path(arguments[0])
    if not path.exists():
        print(f"{path}: does not exist, for the build ended before the comparison: no comment is written")
        return 0
    try:
        write(place(os.environ), path.read_text(encoding="utf-8", errors="replace"))
    except CommentError as error:
        print(f"comment.py: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
