"""What judged queries prove: how they were drawn, what each condition makes of them, and the proof.

`judged_queries.py` holds the scores in the order in which they are bet on; `draws.py` says how queries were drawn
(`traffic.py`: from what, and what an automatic judge says of it; `judge_next.py`: the next ones, for those who judge),
`sample.py` how the judged ones stand for traffic, with strata and segments, `nothing_to_lose.py` which cannot lose
anything. `conditions.py` is the table of conditions, each a bounded mean; `proof.py` gives its p and its bound, by the
bets of `risk/batches.py`. `record.py` remembers what was drawn, asked and looked at.

Terms:

| term | what it is |
|---|---|
| V | what a query was drawn in proportion to: `Draws.could_lose`, `JudgedQueries.drawn_by`; V̄: `could_lose_mean` |
| traffic weight | what a query counts in an average over traffic: V̄/V if drawn, π_h·n/n_h in strata, else 1 |
| shares | π_h, each stratum's share of traffic |
| `Sample` | how the judged queries were chosen: `Draws`, `Strata`, or nothing, a plain random sample |
| `unanswered` | the user's choice for all queries on which nothing can be lost (`NothingToLoseTreatment`) |
| `JudgedQueries` | both systems' scores on judged queries, in betting order once they are a sample |
| `JudgedBatch` | one batch of them, as given and in betting order, with what could not be lost |
| `JudgedListPair` | the two lists of each judged query, its judgments, and the `JudgedQueries` made of them |
| `ScoredQueries` | `JudgedQueries` with the score that a guard's scorer gives each |
"""
