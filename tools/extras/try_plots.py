"""The extra `plots`: the papers' charts are drawn."""

import surefoot as sf

made = sf.demo.runs(queries=40)
assessment = sf.assess(sf.score(made.qrels, made.runs, "nDCG@10"), baseline="today", alphas=[0, 5])
print(f"{len(assessment.charts('figures'))} charts drawn")
