"""The release gate: a policy and judged queries become one decision, with its exit code and renderings.

`release_policy.py` reads the rules, `gate.py` decides, `sample_size.py` says how many queries it would take,
`state.py` is what a decision in batches remembers. The result is plain data (`decision_data.py`) that holds every
score, so that a decision can be computed again; `decision_text.py`, `decision_page.py`, `junit.py` and
`github_actions.py` render it. State and ledger are written after everything else was: a decision that could not be
shown was not made.
"""
