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

import numpy as np

import surefoot as sf

MEASURES = ["nDCG@5", "rNDCG@5", "SoftNDCG@5", "SoftNDCG(sigma=0.05)@5"]
FEATURES = {"f1": range(46), "f2": [*range(0, 40, 5), *range(4, 40, 5)]}
TREES = {"f1": 100, "f2": 60}
PARAMETERS: dict[str, dict[str, Any]] = {
    "f1": {"num_leaves": 15, "learning_rate": 0.05},
    "f2": {"num_leaves": 7, "learning_rate": 0.1},
}
FIXED = {"objective": "lambdarank", "num_threads": 1, "deterministic": True, "seed": 0, "verbose": -1}


def read(path: Path) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[str]]:
    """Features, grades, queries and documents of a LETOR 4.0 file, which writes out every feature."""
    features, grades, queries, documents = [], [], [], []
    for line in path.read_text().splitlines():
        numbers, _, comment = line.partition("#")
        grade, query, *pairs = numbers.split()
        features.append([float(pair.split(":")[1]) for pair in pairs])
        grades.append(int(grade))
        queries.append(query.split(":")[1])
        documents.append(comment.split()[2])
    return np.array(features), np.array(grades), np.array(queries), documents


def group(queries: np.ndarray) -> np.ndarray:
    """How many documents each query has, in order."""
    return np.diff(np.flatnonzero(np.concatenate([[True], queries[1:] != queries[:-1], [True]])))


def functions(folder: Path) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, dict[str, float]]]]:
    """Judgments and the two functions' runs on the test parts of all folds."""
    import lightgbm

    qrels: dict[str, dict[str, int]] = {}
    runs: dict[str, dict[str, dict[str, float]]] = {name: {} for name in FEATURES}
    for fold in sorted(folder.glob("Fold*")):
        X, y, q, _ = read(fold / "train.txt")
        test_X, test_y, test_q, documents = read(fold / "test.txt")
        for query, document, grade in zip(test_q, documents, test_y, strict=True):
            qrels.setdefault(query, {})[document] = int(grade)
        for name, columns in FEATURES.items():
            data = lightgbm.Dataset(X[:, list(columns)], y, group=group(q))
            model = lightgbm.train({**FIXED, **PARAMETERS[name]}, data, num_boost_round=TREES[name])
            scores = sf.percentiles(model.predict(test_X[:, list(columns)]))
            for query, document, score in zip(test_q, documents, scores, strict=True):
                runs[name].setdefault(query, {})[document] = float(score)
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
        from surefoot.data.files import write_text
        from surefoot.report.stability_page import to_page

        write_text(sys.argv[2], to_page([study.to_dict() for study in studies]))


if __name__ == "__main__":
    main()
