"""Whether an installed surefoot works at all: run by the interpreter of its environment, outside the repository."""

from __future__ import annotations

import json
import sys
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory

import surefoot as sf
from surefoot.errors import MissingExtraError
from surefoot.report.kinds import schema_files


def main() -> None:
    """Try what needs no extra."""
    assert sf.__version__ == version("surefoot"), "the package and its metadata are of two versions"
    assert "site-packages" in str(sf.__file__), f"{sf.__file__} is not what was installed"
    for name in sf.__all__:
        try:
            getattr(sf, name)
        except MissingExtraError as error:
            if "pip install" not in str(error):
                raise
    for name, schema in schema_files().items():
        assert json.loads(files("surefoot").joinpath(name).read_text(encoding="utf-8")) == schema
    assert files("surefoot").joinpath("py.typed").is_file()

    made = sf.demo.runs(queries=40)
    scores = sf.score(made.qrels, made.runs, "nDCG@10")
    assessment = sf.assess(scores, baseline="today", alphas=[0, 5])
    decision = sf.gate(scores, candidate="bold", baseline="today", policy={"risk": 0.03})
    assert decision.exit_code in (0, 1, 3)
    with TemporaryDirectory() as folder:
        assessment.write(Path(folder, "report.html"))
        decision.write(Path(folder, "decision.html"))
        decision.write(Path(folder, "decision.json"))
        assert sf.Decision.read(Path(folder, "decision.json")).decision == decision.decision
    print(f"surefoot {sf.__version__} works on Python {sys.version.split()[0]}")


if __name__ == "__main__":
    main()
