"""The extra `serve`: a model of a made-up log answers a request over HTTP."""

import json
import subprocess
import sys
import urllib.request

import surefoot as sf
from surefoot.clicks.generator import generate_log, write_log

write_log(generate_log(users=60, queries=30), "clicks.log")
result = sf.personalize(
    "clicks.log", "study", grid={"betas": [0.1], "alphas": [1], "lowest": [1]},
    ranker={"n_estimators": 5, "min_data_in_leaf": 20},
)  # fmt: skip
result.save("model", method="Standard gain")
service = subprocess.Popen(
    [sys.executable, "-I", "-m", "surefoot", "serve", "model", "--port", "0"], stdout=subprocess.PIPE, text=True
)
assert service.stdout is not None
address = service.stdout.readline().partition(" at ")[2].partition(";")[0]
shown = {
    "query": "3",
    "results": ["11", "12"],
    "terms": ["5"],
    "domains": ["1", "2"],
    "day": 30,
    "time": 5,
    "user": "7",
}
request = urllib.request.Request(f"{address}/rerank", json.dumps(shown).encode(), {"Content-Type": "application/json"})
with urllib.request.urlopen(request) as answer:
    documents = json.load(answer)["documents"]
service.terminate()
assert service.wait() == 0
print(f"a service re-ranked {len(documents)} results")
