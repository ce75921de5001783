"""The extra `learn`: a careful ranker is learned with LightGBM, saved and loaded."""

import surefoot as sf

data = sf.demo.letor(queries=60, documents=10, features=8)
ranker = sf.Ranker("u_risk", 5, n_estimators=10, num_leaves=4, num_threads=1).fit(data)
ranker.save("model")
assert (sf.Ranker.load("model").predict(data) == ranker.predict(data)).all()
print("10 trees learned with LightGBM, saved and loaded")
