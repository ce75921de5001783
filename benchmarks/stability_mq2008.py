"""The studies of stability on real data: two functions trained on MQ2008, from its five folds' test parts.

    python benchmarks/stability_mq2008.py ../shared/data/mq2008 FOLDER [page.html]

f1 sees all 46 features and has 100 trees of 15 leaves; f2 sees the 16 features of body and document and has 60 trees of
7 leaves; each is a sweep of one setting, kept in FOLDER. Each fold's scores become percentiles of that fold's model
before the folds are put together. Needs the extra `learn`.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import surefoot as sf
from surefoot.measures.near_ties import percentiles

MEASURES = ["nDCG@5", "rNDCG@5", "SoftNDCG@5", "SoftNDCG(sigma=0.05)@5"]
FEATURES = {"f1": list(range(46)), "f2": [*range(0, 40, 5), *range(4, 40, 5)]}
GRIDS: dict[str, dict[str, Any]] = {
    "f1": {"n_estimators": 100, "num_leaves": 15, "learning_rate": 0.05},
    "f2": {"n_estimators": 60, "num_leaves": 7, "learning_rate": 0.1},
}


def functions(data: Path, folder: Path) -> tuple[dict[str, dict[str, float]], dict[str, dict[str, dict[str, float]]]]:
    """Judgments and the two functions' runs on all folds' test parts, scores as percentiles of each Ranker's sample."""
    qrels: dict[str, dict[str, float]] = {}
    runs: dict[str, dict[str, dict[str, float]]] = {name: {} for name in FEATURES}
    for name, columns in FEATURES.items():
        folds = [
            [seen(sf.read_letor(fold / f"{part}.txt"), columns) for part in ("train", "vali", "test")]
            for fold in sorted(data.glob("Fold*"))
        ]
        sf.sweep(folds, folder / name, objectives=(), grid=GRIDS[name])
        for ranker, (_, _, test) in zip(sf.TradeOffs.read(folder / name).models("gain"), folds, strict=True):
            qrels |= test.qrels().to_dict()
            runs[name] |= test.to_run(percentiles(ranker.predict(test), ranker.score_sample_), name).to_dict()
    return qrels, runs


def seen(data: sf.RankingData, columns: list[int]) -> sf.RankingData:
    """The data with these features alone; BM25 is what is compared with."""
    return data.with_baseline("bm25", data.feature(25)).with_features(data.X[:, columns].copy(), None)


def main() -> None:
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    qrels, runs = functions(Path(sys.argv[1]), Path(sys.argv[2]))
    scores = sf.score(qrels, runs, MEASURES)
    studies = [
        sf.stability.noise(qrels, runs, MEASURES),
        sf.stability.subsets(scores),
        sf.stability.measures(scores),
    ]
    for study in studies:
        print(study, end="\n\n")
    if len(sys.argv) > 3:
        from surefoot.data.writing.all_or_nothing import write_text
        from surefoot.stability.page import to_page

        write_text(sys.argv[3], to_page([study.to_dict() for study in studies]))


if __name__ == "__main__":
    main()
