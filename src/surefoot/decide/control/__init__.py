"""The risk-controlled re-ranker: the candidate's list where a certificate covers it, the baseline's elsewhere."""
