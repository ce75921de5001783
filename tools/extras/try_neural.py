"""The extra `neural`: a small network learns by a risk-sensitive objective on arrays, is saved and loaded."""

import numpy as np

import surefoot as sf

rng = np.random.default_rng(1)
X = rng.normal(size=(300, 4))
y = (X[:, 0] + rng.normal(size=300) > 0).astype(int)
ranker = sf.NeuralRanker("u_risk", 5, epochs=3, hidden=(8,), device="cpu").fit(X, y, group=[10] * 30, baseline=X[:, 1])
ranker.save("network")
assert (sf.NeuralRanker.load("network").predict(X) == ranker.predict(X)).all()
print("a network learned with PyTorch, saved and loaded")
