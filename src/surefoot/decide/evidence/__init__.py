"""What judged queries prove: how they were drawn, what each condition makes of them, and the proof.

`judged_queries.py` holds the scores in the order in which they are bet on (`betting_order.py`); `draws.py` says how
queries were drawn, `strata.py` weighs them, `nothing_to_lose.py` says which cannot lose anything. `conditions.py` is
the table of conditions, each a bounded mean; `proof.py` gives its p and its bound, by the bets of `risk/batches.py`.
`record.py` remembers what was drawn, asked and looked at. Files that must outlive a command are sealed with a hash
(`sealed_files.py`).

Terms:

| term | what it is |
|---|---|
| V | what a query was drawn in proportion to: `Draws.could_lose`, `JudgedQueries.drawn_by`; V̄: `could_lose_mean` |
| traffic weight | what a query counts in an average over traffic: V̄/V if drawn, π_h·n/n_h in strata, else 1 |
| shares | π_h, each stratum's share of traffic; users give them as `weights`, `read_shares` reads them |
| `weights` of `calibrate` | either of the two that a user may give: draws, or shares |
| `Sampling` | how the judged queries stand for traffic, as a certificate says it (key `weights`) |
| `unanswered` | the user's choice for all queries on which nothing can be lost (`NothingToLoseTreatment`) |
| `JudgedQueries` | both systems' scores on judged queries, in betting order once they are a sample |
| `JudgedBatch` | one batch of them, as given and in betting order, with what could not be lost |
| `JudgedListPair` | the two lists of each judged query, its judgments, and the `JudgedQueries` made of them |
| `ScoredQueries` | `JudgedQueries` with the score that a guard's scorer gives each |
"""
