"""Users' files and the types they become: runs, judgments, score matrices, synthetic data."""
