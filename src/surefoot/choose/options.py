"""The defaults of a sweep, and the names of what it can do.

It imports nothing, so that the command line can show all of it before anything is loaded.
"""

OBJECTIVES = ("u_risk",)
ALPHAS = (1, 5, 10, 20)
SEEDS = (0,)
DEFAULT_TREES = 100
TUNE = "gain"
TUNINGS = {
    "gain": "tuned for gain alone (α = 0) and reused for every objective and α",
    "objective": "tuned for each objective and α",
    "none": "not tuned: each setting of the grid has its own row",
}
FOLDS, FEWEST_FOLDS = 5, 3  # one to test, one to validate, one to train
SPLIT_SEED = 0
HELD_OUT = 0.2  # of the queries, where baselines are learned
PRESETS = ("wang2012", "dincer2014", "dincer2016")
# Kinds of candidates: trained, or made of the gain-only model.
MODEL, SEED_MEAN, BLENDED, SELECTIVE, NAIVE = "model", "mean of seeds", "blended", "selective", "naïve"
RANKINGS = (MODEL, SEED_MEAN, BLENDED, SELECTIVE)  # what gives one ranking, where a mixture gives two by chance
PLAN, RESULT = "sweep.json", "result.json"  # in a sweep's folder
