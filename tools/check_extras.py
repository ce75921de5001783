"""Each extra alone, from the built wheel, in an environment of its own: its smallest example runs outside this folder.

python -m tools.check_extras [EXTRA ...]
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from tools.check_package import build
from tools.fresh_environment import fresh_environment
from tools.package_contents import ROOT

EXAMPLES = Path(__file__).with_name("extras")
FILES = {"onnx": ["tests/export/fixtures/lightgbm/model.txt"]}  # that an example reads
NOT_TRIED = {
    "all": "the sum of the others",
    "spark": "needs Java, and 400 MB; `make test-engines` runs it",
}
# a build of PyTorch for graphics cards weighs 5 GB; of this version, which the tests use, a small one may be at hand
PINNED = {"neural": ["torch==2.13.0"]}


def examples() -> dict[str, Path]:
    """The smallest example of each extra."""
    return {path.stem.removeprefix("try_").replace("_", "-"): path for path in sorted(EXAMPLES.glob("try_*.py"))}


def main(chosen: list[str]) -> None:
    """Try the extras that are named, or all that have an example."""
    known = examples()
    if unknown := [name for name in chosen if name not in known]:
        sys.exit(f"no example of {', '.join(unknown)}; known: {', '.join(known)}")
    dist = ROOT / "dist"
    if not list(dist.glob("surefoot-*.whl")):
        build(dist)
    (wheel,) = dist.glob("surefoot-*.whl")
    for name in chosen or known:
        with fresh_environment() as environment:
            environment.install(f"{wheel.resolve()}[{name}]", *PINNED.get(name, []))
            size = environment.megabytes()
            shutil.copy(known[name], environment.work / "example.py")
            for file in FILES.get(name, []):
                shutil.copy(ROOT / file, environment.work)
            said = environment.run([environment.python, "-I", "example.py"]).strip()
            print(f"{name}: {size:.0f} MB; {said}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
