"""The choices that learning offers by name, and its defaults.

It imports nothing heavy, so that the command line can show all of it without loading the learner.
"""

from surefoot.learn.objectives import ESTIMATES, OBJECTIVE_KINDS, RULES

OBJECTIVES = tuple(OBJECTIVE_KINDS)
RISK_OBJECTIVES = tuple(name for name, kind in OBJECTIVE_KINDS.items() if kind.needs_baseline)
REGRESSION_OBJECTIVE = "regression"  # without pairs
ENGINES = ("lightgbm", "xgboost")  # of trees
NETWORK_ENGINE = "torch"  # the engine of networks

OBJECTIVE, RULE, ESTIMATE, ENGINE = OBJECTIVES[0], RULES[0], ESTIMATES[0], ENGINES[0]
MEASURE = "nDCG(dcg='exp-log2')@10"
STOP_ON = SCORE_ON = "effectiveness"
CHECKPOINT_EVERY = 50  # trees
