"""Puts the name of the GitHub account in place of OWNER, in every file that git knows.

python tools/set_owner.py NAME
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# Where an account's name stands: in addresses, in an action's name, and in an image's.
PLACES = re.compile(
    r"(?P<before>github\.com/|ghcr\.io/|uses: |repository |\baction `)(?P<owner>[\w-]+)(?P<after>/surefoot\b)"
    r"|(?P<site>[\w-]+)(?=\.github\.io/surefoot)"
)


def owners(text: str) -> list[str]:
    """The accounts that a text names as surefoot's.

    >>> owners("https://github.com/OWNER/surefoot, uses: OWNER/surefoot@v0, https://OWNER.github.io/surefoot/")
    ['OWNER', 'OWNER', 'OWNER']
    """
    return [found["owner"] or found["site"] for found in PLACES.finditer(text)]


def with_owner(text: str, name: str) -> str:
    """The same text with another account.

    >>> with_owner("uses: OWNER/surefoot@v0", "acme")
    'uses: acme/surefoot@v0'
    """
    return PLACES.sub(lambda found: name if found["site"] else f"{found['before']}{name}{found['after']}", text)


def files() -> list[Path]:
    """What git knows, this file and those that test it aside."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [ROOT / name for name in listed.split("\0") if name and Path(name).parts[0] not in ("tools", "tests")]


def main(name: str) -> None:
    """Change the files, and say which."""
    if not re.fullmatch(r"[A-Za-z\d](?:[A-Za-z\d]|-(?=[A-Za-z\d])){0,38}", name):
        sys.exit(f"{name!r} cannot be the name of a GitHub account")
    for path in files():
        try:
            before = path.read_text(encoding="utf-8")
        except (UnicodeDecodeError, IsADirectoryError):
            continue
        after = with_owner(before, name)
        if after != before:
            path.write_text(after, encoding="utf-8")
            print(path.relative_to(ROOT))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit((__doc__ or "").strip())
    main(sys.argv[1])
