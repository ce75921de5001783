"""Re-rankers learned from clicks: training, choice and the page (Bennett et al., ICTIR 2015).

`methods.py` names the methods and trains them, `reranker_figures.py` measures them on held-out lists,
`study.py` chooses among them, `tables.py` and `page.py` show the result.
"""
