"""Trade-offs between gain and risk: what can be reached, and what is worth choosing.

`plan.py` says which trainings there are and who learns in them, `folds.py` where the data comes from, as plain data
that every worker reads for itself. `trainings.py` hands work to processes, each of which runs `worker.py`. `store.py`
is the folder: a finished training appears there under a hash of everything that decided it, in one step, so that a
sweep that is killed goes on with what is there. Nothing of the result depends on how it came about: `candidates.py`
reads the stored scores and makes more rankings of them, `candidate_figures.py` has the figures and how sure they are,
`frontier.py` is the geometry, `findings.py` the sentences; `tradeoffs.py` gathers them. `selection_policy.py` has the
rules of choice, `choice.py` what they choose, and the model of it that is saved.
"""
