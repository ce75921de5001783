"""Learners of trees behind one contract; each has a folder of its own.

`contract.py` says what an engine must do (check parameters, bin, grow, predict, dump, load) to stand behind `Ranker`.
It is handed gradients and gives trees: objectives, baselines and the sums over machines are no engine's business.
`tests/learn/engine_contract.py` is the test class that every engine must pass.
"""
