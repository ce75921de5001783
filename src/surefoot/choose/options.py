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
# What is made of the models without training: means of seeds always; blends and the like of whom.
STRATEGIES = {"gain": "of the gain-only model", "all": "of every model"}
CROSS_VALIDATION = "cross_validation"
CHOOSE_BY = {"validation": "valid", "cross-validation": CROSS_VALIDATION}  # and where the figures of each are
INNER_FOLDS, FEWEST_INNER_FOLDS = 5, 2  # of the training queries, where models are chosen by cross-validation
# Kinds of candidates: trained, or made of trained models.
MODEL, SEED_MEAN, BLENDED, SELECTIVE = "model", "mean of seeds", "blended", "selective"
RANDOM, MIXTURE = "random", "mixture"
RANKINGS = (MODEL, SEED_MEAN, BLENDED, SELECTIVE)  # what gives one ranking, where the others give two by chance
PLAIN_MODELS = (MODEL, SEED_MEAN)  # what ranks with trees alone, wherever trees run
PLAN_FILE, RESULT_FILE = "sweep.json", "result.json"  # in a sweep's folder
