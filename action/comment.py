"""Comments on the pull request with what was decided; the comment of an earlier push is replaced.

The comment is found again by a mark that readers do not see. What keeps it from being written is a warning: a
comment decides nothing. A token that may only read (a pull request from a fork) is such a case.
"""

from __future__ import annotations

import hashlib
import json
import os
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from workflow_files import commands_stopped, warn

MOST_LETTERS = 65_000  # GitHub takes 65,536
_A_PAGE = 100
_MOST_PAGES = 30


def main() -> None:
    """Write the comment, or say why not."""
    with commands_stopped():
        problem = commented()
    if problem is not None:
        warn(f"the comment was not written: {problem}")


def commented() -> str | None:
    """Write the comment; what kept it from being written."""
    number = pull_request()
    if number is None:
        print("No pull request belongs to this event: nothing to comment on.")
        return None
    repository = f"{os.environ['GITHUB_API_URL']}/repos/{os.environ['GITHUB_REPOSITORY']}"
    mark = mark_of(os.environ["COMMENT_NAME"])
    body = {"body": text_of(Path(os.environ["COMMENT_TEXT"]).read_text(encoding="utf-8"), mark)}
    try:
        earlier = find(repository, number, mark)
        if earlier is None:
            call("POST", f"{repository}/issues/{number}/comments", body)
        else:
            call("PATCH", f"{repository}/issues/comments/{earlier}", body)
    except urllib.error.HTTPError as error:
        return f"{error.code} {error.reason}; the job needs 'pull-requests: write'"
    except OSError as error:
        return str(error)
    return None


def pull_request() -> int | None:
    """The number of the pull request that the event is about."""
    path = os.environ.get("GITHUB_EVENT_PATH")
    event = json.loads(Path(path).read_text(encoding="utf-8")) if path else {}
    number = (event.get("pull_request") or {}).get("number")
    return number if isinstance(number, int) else None


def mark_of(name: str) -> str:
    """The mark of a comment; a name of any letters cannot leave it."""
    return f"<!-- surefoot gate {hashlib.sha256(name.encode()).hexdigest()[:16]} -->"


def text_of(markdown: str, mark: str) -> str:
    """The comment, as much of it as GitHub takes."""
    if len(markdown) > MOST_LETTERS:
        markdown = markdown[: markdown.rfind("\n", 0, MOST_LETTERS) + 1] + "\n… cut: the page has all of it.\n"
    return f"{mark}\n{markdown}"


def find(repository: str, number: int, mark: str) -> int | None:
    """The comment that starts with the mark."""
    for page in range(1, _MOST_PAGES + 1):
        found = call("GET", f"{repository}/issues/{number}/comments?per_page={_A_PAGE}&page={page}")
        for comment in found:
            if str(comment.get("body", "")).startswith(mark):
                return int(comment["id"])
        if len(found) < _A_PAGE:
            break
    return None


def call(method: str, url: str, body: dict[str, str] | None = None) -> Any:
    """Ask GitHub's API; the token goes into a header, and into no command line or log."""
    headers = {
        "Accept": "application/vnd.github+json",
        "Authorization": f"Bearer {os.environ['GITHUB_TOKEN']}",
        "Content-Type": "application/json",
        "X-GitHub-Api-Version": "2022-11-28",
    }
    data = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(urllib.request.Request(url, data, headers, method=method), timeout=60) as answer:
        return json.load(answer)


if __name__ == "__main__":
    main()
