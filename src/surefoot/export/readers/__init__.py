"""One reader for each learner: its own model text as an `Ensemble`, or the reason why no search engine can run it."""
