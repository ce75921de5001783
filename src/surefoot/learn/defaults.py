"""What learning takes where nothing is said; the command line shows it without loading the learner."""

MEASURE = "nDCG(dcg='exp-log2')@10"
