"""The release gate: a policy and judged queries become one decision, with its exit code and renderings.

`release_policy.py` reads the rules, `asked.py` all that is given and how its queries were chosen, `looks.py` makes a
look at it, alone or as the record (`decide/evidence/record.py`) has it, `gate.py` the decision; `sample_size.py` says
how many queries it would take. The result is plain data (`decision_data.py`) that holds every score, so that a decision
can be computed again; `decision_text.py` (its sentences: `decision_words.py`), `decision_page.py` and
`build_servers.py` render it. A look is written to the record before anything is shown: one that was seen is counted.
"""
