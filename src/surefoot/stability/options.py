"""The defaults of studies of stability.

It imports nothing, so that the command line can show all of it before anything is loaded.
"""

MEASURES = ("nDCG@5", "rNDCG@5", "SoftNDCG@5")
NOISE_SIZES = (0.0, 0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3)  # standard deviations
REPEATS = 10  # seeds for each size of noise
SUBSET_SIZES = (5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000)  # as far as there are queries, and then all
SUBSETS = 1000
PERIOD = "day"
PERIOD_SIZE = 50  # queries in a subset of a period's: the paper's
REPLICATES = 1000
MOST_QUERIES_LISTED = 10  # queries listed where measures disagree
