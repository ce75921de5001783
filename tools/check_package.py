"""What a release is, on any machine: both archives built, the wheel from the source; looked into; the wheel run.

python -m tools.check_package                    builds into dist/ first
python -m tools.check_package --no-build         takes what is in dist/
python -m tools.check_package --tag v0.2.0       also holds the version to a tag
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

from tools.fresh_environment import Environment, fresh_environment
from tools.package_contents import ROOT, faults_of

MOST_INSTALLED = 460.0  # megabytes of the core with all that it needs
SMOKE = Path(__file__).with_name("smoke_test.py")


def main() -> None:
    """Check all, and say what was found."""
    options = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    options.add_argument("--dist", type=Path, default=ROOT / "dist", help="where the built files are")
    options.add_argument("--no-build", action="store_true", help="take the files that are there")
    options.add_argument("--tag", default=os.environ.get("RELEASE_TAG"), help="the tag that is released, RELEASE_TAG")
    given = options.parse_args()
    if not given.no_build:
        build(given.dist)
    archives = built(given.dist)
    wrong = [f"{archive.name}: {fault}" for archive in archives for fault in faults_of(archive)]
    if wrong:
        sys.exit("\n".join(wrong))
    print("contents: as they should be, in", " and ".join(archive.name for archive in archives))
    try_out(archives[0], given.tag)


def build(dist: Path) -> None:
    """Make the source archive, and the wheel from it; what an earlier build left is removed."""
    for old in (*dist.glob("surefoot-*.whl"), *dist.glob("surefoot-*.tar.gz")):
        old.unlink()
    _run(sys.executable, "-I", "-m", "build", "--outdir", str(dist), str(ROOT))
    _run(sys.executable, "-I", "-m", "twine", "check", "--strict", *map(str, built(dist)))


def built(dist: Path) -> list[Path]:
    """The one wheel and the one source archive there."""
    found = [*dist.glob("surefoot-*.whl"), *dist.glob("surefoot-*.tar.gz")]
    if [path.suffix for path in found] != [".whl", ".gz"]:
        sys.exit(f"{dist} holds {[path.name for path in found]}, not one wheel and one source archive; build again")
    return found


def try_out(archive: Path, tag: str | None) -> None:
    """Install the file where nothing else is, and run it outside this folder."""
    with fresh_environment() as environment:
        environment.install(str(archive.resolve()))
        size = environment.megabytes()
        if size > MOST_INSTALLED:
            sys.exit(f"{archive.name} installs {size:.0f} MB, more than {MOST_INSTALLED:.0f}")
        version = environment.run(["surefoot", "--version"]).split()[1]
        if tag is not None and tag != f"v{version}":
            sys.exit(f"{archive.name} is version {version}, and the tag is {tag}; they must be the same")
        run_demo(environment)
        environment.run([environment.python, "-I", SMOKE])
        print(f"{archive.name}: installs {size:.0f} MB; the demo and the smoke test run")


def run_demo(environment: Environment) -> None:
    """`surefoot demo`, and the files that it writes decided on."""
    said = environment.run(["surefoot", "demo", "-o", "demo"])
    if "The training step was skipped" not in said:
        sys.exit(f"the demo learned without a learner, or did not say why it does not:\n{said}")
    runs = ["surefoot", "gate", "demo/qrels.txt", "demo/today.run"]
    conditions = ["--baseline", "today", "--risk", "0.03", "--gain", "0"]
    environment.run([*runs, "demo/steady.run", *conditions, "--html", "ship.html"])
    environment.run([*runs, "demo/bold.run", *conditions, "--html", "stop.html"], codes=(1,))
    for name in ("demo/report.html", "ship.html", "stop.html"):
        if "<h1" not in (environment.work / name).read_text(encoding="utf-8"):
            sys.exit(f"{name} is no page")


def _run(*command: str) -> None:
    done = subprocess.run(command, cwd=ROOT, check=False)
    if done.returncode:
        sys.exit(done.returncode)


if __name__ == "__main__":
    main()
