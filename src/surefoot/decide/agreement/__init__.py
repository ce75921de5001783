"""What an automatic judge is worth: how far it agrees with people, and how many of their judgments it would save.

`agreement.py` compares, and says how many judgments a gate would need with and without the judge. The result is plain
data (`agreement_data.py`), which `agreement_view.py` renders.
"""
