"""What judged queries prove: how they were drawn, what each condition makes of them, and the proof.

`judged_queries.py` holds the scores in the order in which they are bet on (`betting_order.py`); `draws.py` says how
queries were drawn, `strata.py` weighs them, `nothing_to_lose.py` says which cannot lose anything. `conditions.py` is
the table of conditions, each a bounded mean; `proof.py` gives its p and its bound, by the bets of `risk/betting.py`.
`ledger.py` counts how often queries were used to decide. Files that must outlive a command are sealed with a hash
(`sealed_files.py`).
"""
