"""What learning can be asked for by name, and what it takes where nothing is said.

It imports nothing, so that the command line can show all of it without loading the learner.
"""

RISK_OBJECTIVES = ("u_risk", "saro", "faro", "geo_risk")  # these compare with a baseline, and need α
REGRESSION = "regression"  # without pairs
OBJECTIVES = ("gain", *RISK_OBJECTIVES, REGRESSION)
RULES = ("exact", "eq9")
ESTIMATES = ("each", "first")
ENGINES = ("lightgbm", "xgboost")

OBJECTIVE, RULE, ESTIMATE, ENGINE = OBJECTIVES[0], RULES[0], ESTIMATES[0], ENGINES[0]
MEASURE = "nDCG(dcg='exp-log2')@10"
STOP_ON = "effectiveness"
CHECKPOINT_EVERY = 50  # trees
