"""An assessment and its renderings, and what all results and pages share.

A result computes plain data first (`result.py`); tables, CSV, Markdown, LaTeX and the page render that, so that there
is one truth. `columns.py` is the one place that knows a column's name, heading, digits and which way is better;
`words.py` turns figures into sentences. The page (`page.py`, `assets/`) embeds the score matrix and recomputes the
figures in the browser for any α, baseline and segment; a browser test holds them to Python's to 1e-9. `family.py` is
what all pages share: templates that escape, a head, a style, and a policy that allows their own style and script
alone. `kinds.py` lists the kinds of results, and makes JSON Schemas from their types. `charts.py` and
`population_charts.py` draw the papers' charts on `canvas.py`.
"""
