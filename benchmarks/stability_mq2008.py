"""The studies of stability on real data: two functions trained on MQ2008, from its five folds' test parts.

    python benchmarks/stability_mq2008.py ../shared/data/mq2008 [page.html]

f1 sees all 46 features and has 100 trees of 15 leaves; f2 sees the 16 features of body and document and has 60 trees of
7 leaves. Each fold's scores become percentiles of that fold's model before the folds are put together.
Needs the extra `learn`.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import surefoot as sf

MEASURES = ["nDCG@5", "rNDCG@5", "SoftNDCG@5", "SoftNDCG(sigma=0.05)@5"]
FEATURES = {"f1": list(range(46)), "f2": [*range(0, 40, 5), *range(4, 40, 5)]}
PARAMETERS: dict[str, dict[str, Any]] = {
    "f1": {"n_estimators": 100, "num_leaves": 15, "learning_rate": 0.05, "num_threads": 1},
    "f2": {"n_estimators": 60, "num_leaves": 7, "learning_rate": 0.1, "num_threads": 1},
}


def functions(folder: Path) -> tuple[dict[str, dict[str, float]], dict[str, dict[str, dict[str, float]]]]:
    """Judgments and the two functions' runs on all folds' test parts, scores as percentiles of each Ranker's sample."""
    qrels: dict[str, dict[str, float]] = {}
    runs: dict[str, dict[str, dict[str, float]]] = {name: {} for name in FEATURES}
    for fold in sorted(folder.glob("Fold*")):
        train, test = (sf.read_letor(fold / f"{part}.txt") for part in ("train", "test"))
        qrels |= test.qrels().to_dict()
        for name, columns in FEATURES.items():
            ranker = sf.Ranker(**PARAMETERS[name]).fit(train.X[:, columns], train.y, group=train.lengths)
            scores = sf.percentiles(ranker.predict(test.X[:, columns]), ranker.score_sample_)
            runs[name] |= test.to_run(scores, name).to_dict()
    return qrels, runs


def main() -> None:
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    qrels, runs = functions(Path(sys.argv[1]))
    scores = sf.score(qrels, runs, MEASURES)
    studies = [
        sf.noise_study(qrels, runs, MEASURES),
        sf.subset_study(scores),
        sf.compare_functions(scores),
    ]
    for study in studies:
        print(study, end="\n\n")
    if len(sys.argv) > 2:
        from surefoot.data.writing import write_text
        from surefoot.studies.page import to_page

        write_text(sys.argv[2], to_page([study.to_dict() for study in studies]))


if __name__ == "__main__":
    main()
