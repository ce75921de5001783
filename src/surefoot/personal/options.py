"""Names and grids of the study of personalization; free of heavy imports, for the command line."""

STANDARD = "standard"
WEIGHTED = "weighted"
RISK = "risk"
WEIGHTED_RISK = "weighted_risk"
LOWEST = "lowest_click"
STANDARD_REGRESSION = "standard_regression"
WEIGHTED_REGRESSION = "weighted_regression"
METHOD_TITLES = {
    STANDARD: "Standard gain",
    WEIGHTED: "Weighted initial preferences",
    RISK: "Risk-sensitive",
    WEIGHTED_RISK: "Risk-sensitive on preferences",
    LOWEST: "Lowest click plus one",
    STANDARD_REGRESSION: "Standard gain by regression",
    WEIGHTED_REGRESSION: "Weighted initial preferences by regression",
}
# Rows of the paper's Table 2 that are chosen by another rule than the largest area.
CHOICE_TITLES = HALF_RERANKED, EQUAL_GAIN, EQUALLY_RERANKED = (
    "… most gain at half the re-ranking",
    "… least risk at equal gain",
    "… most gain at equal re-ranking",
)
SELECTIVE, RANDOM = "selective", "random"
METHOD_LINES = {  # what a row's model learns, or how it ranks
    STANDARD: "Learns to put clicked results first; the order of the others is free.",
    STANDARD_REGRESSION: "The same labels, learned by least squares, so that every rank counts alike.",
    WEIGHTED: "Learns clicks and (with weight β) the shown order, so that results move only for a good reason.",
    WEIGHTED_REGRESSION: "Learns clicks and (with weight β) the shown order, by least squares.",
    RISK: "Learns clicks, and counts a list that gets worse 1 + α times.",
    WEIGHTED_RISK: "Learns clicks and the shown order, and counts a list that gets worse 1 + α times.",
    LOWEST: "Learns only from results down to one below the lowest click.",
    SELECTIVE: "Uses the standard model if people agree on what to click (low entropy); else keeps the shown order.",
    RANDOM: "Uses the standard model on randomly chosen lists; else keeps the shown order.",
}
HORIZONS = SESSION_ONLY, LONG_TERM_ONLY = ("session", "long-term")  # of features, to learn from one alone
RESULT = "personalization.json"  # in a study's folder
SAVED_FILES = DETAILS, STATE = ("personal.json", "clicks.duckdb")  # beside the model that a study saved
# What makes a label of a click, and the measure that the label is judged by.
LABEL_MEASURES = {"satisfied": "AP", "grades": "nDCG(dcg='exp-log2')@10", "last": "RR"}
PREFERENCE_MEASURE = "nDCG@10"  # preference gains are linear
SPLITS = ("user", "session", "time")
SHARES = (0.6, 0.2, 0.2)
SAMPLE = 100_000  # lists to learn from and to judge by

# What is tried of each method. `betas`: β of preference gains (weighted, and its regression). `alphas`: α of
# risk-sensitive training. `lowest`: β of "lowest click plus one", which learns from results down to one below the
# lowest click, and so may go above 1. `ranker`: parameters of `Ranker`.
GRIDS: dict[str, dict[str, object]] = {
    "quick": {
        "betas": (0.01, 0.03, 0.1, 0.2, 0.4, 0.7),
        "alphas": (0.5, 1, 2, 5, 10),
        "lowest": (0.5, 1, 1.5),
        "ranker": {
            "num_leaves": 10, "min_data_in_leaf": 100, "n_estimators": 150, "learning_rate": 0.1,
            "early_stopping_rounds": 50,
        },
    },
    "bennett2015": {
        "betas": (*(round(0.01 * i, 2) for i in range(1, 10)), *(round(0.1 * i, 1) for i in range(1, 11))),
        "alphas": (*(round(0.1 * i, 1) for i in range(1, 10)), *range(1, 11)),
        "lowest": tuple(round(0.1 * i, 1) for i in range(1, 21)),
        # The paper prunes on validation data: all trees are grown, and the best number of them is kept.
        "ranker": {
            "num_leaves": 10, "min_data_in_leaf": 2000, "n_estimators": 500, "learning_rate": 0.25,
            "early_stopping_rounds": 500,
        },
    },
}  # fmt: skip
