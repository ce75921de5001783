"""The extra `xgboost`: a careful ranker is learned with XGBoost."""

import surefoot as sf

data = sf.demo.letor(queries=60, documents=10, features=8)
ranker = sf.Ranker("u_risk", 5, engine="xgboost", n_estimators=10, max_depth=3).fit(data)
assert len(ranker.predict(data)) == len(data.y)
print("10 trees learned with XGBoost")
