"""Small real calls of what surefoot is built on, each in a process of its own: `python -m surefoot.cli.probes NAME`.

A library that crashes or hangs then takes nothing else with it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

_TREES: Mapping[str, Any] = {"n_estimators": 2, "history": False}


def scoring() -> str:
    """NumPy, SciPy and Polars: runs are made, scored, assessed and decided on."""
    import surefoot as sf

    made = sf.synthetic_runs(queries=20)
    scores = sf.score(made.qrels, made.runs, "nDCG@10")
    sf.assess(scores, baseline="today", alphas=[5])
    return f"scored and assessed 20 queries; the decision was: {_decided(scores)}"


def _decided(scores: Any) -> str:
    import surefoot as sf

    return sf.gate(scores, candidate="bold", baseline="today", policy={"risk": 0.5}).decision


def page() -> str:
    """Jinja2 and the assets: a page is written."""
    import surefoot as sf

    made = sf.synthetic_runs(queries=20)
    with TemporaryDirectory() as folder:
        target = Path(folder, "report.html")
        sf.assess(sf.score(made.qrels, made.runs, "nDCG@10"), baseline="today").to_html(target)
        return f"wrote a page of {target.stat().st_size / 1e3:.0f} kB"


def compiled() -> str:
    """Numba compiles a loop, and can keep it on disk."""
    from surefoot.learn import kernel

    return f"compiled loops are kept in {cache_folder(kernel.__file__)}"


def cache_folder(module: str) -> Path:
    """Where Numba keeps what it compiles of a module; an error where it can write nowhere."""
    from numba.core.caching import FunctionCache

    def function(x: float) -> float:
        return x

    function.__code__ = function.__code__.replace(co_filename=module)
    folder = Path(FunctionCache(function).cache_path)  # type: ignore[no-untyped-call]
    if not os.access(folder if folder.is_dir() else folder.parent, os.W_OK):
        raise OSError(
            f"{folder} is not writable; set NUMBA_CACHE_DIR to a writable folder, otherwise every start compiles again"
        )
    return folder


def _trees(engine: str, **settings: Any) -> str:
    import surefoot as sf

    data = sf.synthetic_letor(queries=12, documents=8, features=5)
    ranker = sf.Ranker("u_risk", 5, engine=engine, **_TREES, **settings).fit(data)
    return f"{len(ranker.predict(data))} documents ranked with two trees"


def lightgbm() -> str:
    """LightGBM grows two trees."""
    return _trees("lightgbm", num_leaves=4, num_threads=1, min_data_in_leaf=5)


def xgboost() -> str:
    """XGBoost grows two trees."""
    return _trees("xgboost", max_depth=2, nthread=1)


def duckdb() -> str:
    """Ibis computes a sum in DuckDB."""
    from surefoot.clicks.duckdb_files import ibis_connection

    ibis = import_module("ibis")
    connection = ibis_connection()
    total = connection.execute(ibis.memtable({"x": [1, 2]}).x.sum())
    return f"1 + 2 = {total} in DuckDB"


def uvicorn() -> str:
    """A service of Starlette's answers on the loopback."""
    import socket
    import threading
    from urllib.request import urlopen

    server, answers = import_module("uvicorn"), import_module("starlette.responses")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        config = server.Config(answers.PlainTextResponse("yes"), lifespan="off", log_config=None, ws="none")
        service = server.Server(config)
        thread = threading.Thread(target=service.run, args=([listener],))
        thread.start()
        with urlopen(f"http://127.0.0.1:{listener.getsockname()[1]}/", timeout=10) as answer:
            status = answer.status
        service.should_exit = True
        thread.join()
    return f"answered a request with status {status}"


def matplotlib() -> str:
    """Matplotlib draws a figure to memory."""
    import io

    from matplotlib.figure import Figure

    figure, target = Figure(), io.BytesIO()
    figure.add_subplot().plot([0, 1])
    figure.savefig(target, format="svg")
    return f"drew a figure of {len(target.getvalue()) / 1e3:.0f} kB"


def onnx() -> str:
    """ONNX makes and checks a graph."""
    module = import_module("onnx")
    helper, single = module.helper, module.TensorProto.FLOAT
    ends = [helper.make_tensor_value_info(name, single, [1]) for name in ("x", "y")]
    module.checker.check_model(
        helper.make_model(helper.make_graph([helper.make_node("Identity", ["x"], ["y"])], "g", ends[:1], ends[1:]))
    )
    return "made and checked a graph"


def httpx() -> str:
    """httpx fetches a run from a server on this machine."""
    import json
    from http.server import BaseHTTPRequestHandler, HTTPServer
    from threading import Thread

    from surefoot.fetch import fetch_run

    class _Service(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            found = {"_shards": {"failed": 0}, "hits": {"hits": [{"_id": "d1", "_score": 1.0}]}}
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps(found).encode())

        def log_message(self, format: str, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), _Service) as server:
        thread = Thread(target=server.handle_request)
        thread.start()
        url = f"http://127.0.0.1:{server.server_port}/shop"
        run = fetch_run("elasticsearch", url, {"q1": "goat"}, {"query": {"match": {"title": "{{query}}"}}})
        thread.join()
    return f"{len(run)} result fetched from a server here"


def dask() -> str:
    """Dask computes a sum in a cluster of threads."""
    distributed = import_module("distributed")
    with (
        distributed.LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        return f"1 + 2 = {client.submit(sum, [1, 2]).result()} in a cluster here"


def spark() -> str:
    """A Java runtime is there, which Spark needs; Spark itself is not started, since that takes long."""
    import_module("pyspark")
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home, "bin", "java")) if home else "java"
    if shutil.which(java) is None:
        raise OSError("no Java runtime was found; install Java 17 or newer, or set JAVA_HOME")
    done = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60, check=True)
    return f"{(done.stderr or done.stdout).splitlines()[0]}; Spark was not started"


def torch() -> str:
    """PyTorch trains a network for an epoch, and safetensors keeps it."""
    import surefoot as sf

    data = sf.synthetic_letor(queries=12, documents=8, features=5)
    ranker = sf.NeuralRanker("u_risk", 5, epochs=1, hidden=(4,), history=False, device="cpu").fit(data)
    with TemporaryDirectory() as folder:
        ranker.save(folder)
        return f"{len(sf.NeuralRanker.load(folder).predict(data))} documents ranked by a network"


PROBES: Mapping[str, Callable[[], str]] = {
    probe.__name__: probe
    for probe in (
        scoring, page, compiled, lightgbm, xgboost, duckdb, uvicorn, matplotlib, onnx, httpx, dask, spark, torch,
    )
}  # fmt: skip

if __name__ == "__main__":
    try:
        print(PROBES[sys.argv[1]]())
    except Exception as error:
        cause: BaseException = error
        while cause.__cause__ is not None:  # the library's own words, not ours about it
            cause = cause.__cause__
        sys.exit(f"{type(cause).__name__}: {cause}".replace("\n", " "))
