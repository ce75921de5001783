"""Learners of trees behind one contract; each has a folder of its own."""
