"""Deciding on a release, in five rooms.

`evidence/`: judged queries, conditions, and what the first prove of the second. `gate/`: the release decision.
`guard/`: the re-ranker that shows the candidate's list only where that is proved safe. Gate and guard import
evidence, and never each other. `agreement/`: what an automatic judge is worth, beside people. `history/`:
past decisions and assessments by date.
"""
