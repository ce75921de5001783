"""The guarded re-ranker: the candidate's list where a certificate covers it, the baseline's elsewhere.

`list_pair.py` holds what two systems show, `scorers.py` scores queries, `calibration.py` makes a calibration of judged
queries, `thresholds.py` searches it, `certificate.py` writes the certificate (`certificate_data.py`); `sequential.py`
is the same batch by batch. `guard.py` is the order in which these are called, `storage.py` the folder it is saved to.
"""
