"""Training on many machines: Dask holds the data and starts the work, XGBoost's collective adds up.

`parts.py` makes parts of collections or files with every query complete; `rounds.py` is the client, which places them
and asks for batches of trees round by round (`tracker.py` lets XGBoost's processes find each other); `worker.py` is
what each machine does. The state goes back to the client after each round, so a machine that dies costs one round.
"""
