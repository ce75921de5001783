"""The arrows of docs/architecture.md: which package may import which, and what importing one may load."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import surefoot

ROOT = Path(surefoot.__file__).parent
FOUNDATION = {
    "arguments",
    "arrays",
    "build_log",
    "errors",
    "lazy",
    "runtime",
    "progress",
    "significance",
    "__version__",
}
MAY_IMPORT = {  # besides itself and the foundation
    "data": set(),
    "clicks": {"data"},
    "fetching": {"data"},
    "measures": {"data"},
    "demo": {"data", "clicks", "measures"},
    "pyterrier": {"data", "measures"},
    "risk": {"data"},
    "export": {"data"},
    "learn": {"data", "measures", "risk", "export"},
    "neural": {"data", "measures", "risk", "export", "learn"},
    "report": {"data", "measures", "risk"},
    "stability": {"data", "measures", "risk", "report"},
    "choose": {"data", "measures", "risk", "learn", "neural", "report"},
    "decide": {"data", "measures", "risk", "learn", "neural", "report"},
    "personal": {"data", "clicks", "measures", "risk", "learn", "report", "choose"},
    "saved": {"data", "learn", "neural", "decide", "personal"},
    "cli": {
        "data",
        "clicks",
        "demo",
        "saved",
        "fetching",
        "measures",
        "pyterrier",
        "risk",
        "export",
        "learn",
        "neural",
        "report",
        "stability",
        "choose",
        "decide",
        "personal",
    },
}

INSIDE = {  # of a package's folders, which may import which besides themselves; its own files may be imported by all
    "decide": {
        "evidence": set(),
        "gate": {"evidence"},
        "control": {"evidence"},
        "agreement": {"evidence", "gate"},
        "history": {"evidence", "gate"},
    },
}


def packages() -> list[str]:
    return sorted(path.parent.name for path in ROOT.glob("*/__init__.py"))


def imported(file: Path) -> set[str]:
    """What a file imports of surefoot, by the first name below it."""
    names = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module == "surefoot":
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("surefoot."):
            names.add(str(node.module).split(".")[1])
        elif isinstance(node, ast.Import):
            names.update(alias.name.split(".")[1] for alias in node.names if alias.name.startswith("surefoot."))
    return names


def test_every_package_has_its_place() -> None:
    assert packages() == sorted(MAY_IMPORT)


@pytest.mark.parametrize("package", MAY_IMPORT)
def test_no_package_imports_what_is_above_it(package: str) -> None:
    allowed = MAY_IMPORT[package] | FOUNDATION | {package}
    for file in sorted((ROOT / package).rglob("*.py")):
        assert imported(file) <= allowed, file


@pytest.mark.parametrize(("package", "folder"), [(package, folder) for package in INSIDE for folder in INSIDE[package]])
def test_no_folder_imports_another_that_it_may_not(package: str, folder: str) -> None:
    others = INSIDE[package].keys() - INSIDE[package][folder] - {folder}
    for file in sorted((ROOT / package / folder).rglob("*.py")):
        text = file.read_text(encoding="utf-8")
        assert not [other for other in others if f"surefoot.{package}.{other}" in text], file


def test_the_foundation_imports_no_package() -> None:
    for file in ROOT.glob("*.py"):
        if file.stem not in ("__init__", "__main__"):
            assert imported(file) <= FOUNDATION, file


def test_the_arrows_have_no_circle() -> None:
    order = list(MAY_IMPORT)
    for package, below in MAY_IMPORT.items():
        assert all(order.index(other) < order.index(package) for other in below), package


def loaded_by(statement: str) -> set[str]:
    """The modules in a new process after a statement."""
    code = f"{statement}\nimport sys\nprint(*sys.modules)"
    return set(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split())


def test_risk_needs_numpy_and_scipy_only() -> None:
    modules = [f"surefoot.risk.{file.stem}" for file in (ROOT / "risk").glob("*.py") if file.stem != "__init__"]
    loaded = loaded_by(f"import {', '.join(modules)}")
    assert not loaded & {"polars", "numba", "pandas", "rich", "lightgbm", "surefoot.data.types.scores"}


def test_the_loss_for_networks_needs_numpy_and_pytorch_only() -> None:
    pytest.importorskip("torch")
    loaded = loaded_by("from surefoot.neural import RiskLoss; RiskLoss('geo_risk', 5, 'ERR@20')")
    assert not loaded & {"polars", "numba", "pandas", "rich", "lightgbm", "scipy", "sklearn", "transformers"}


def test_networks_without_pytorch_name_the_extra() -> None:
    statement = """
import sys
sys.modules["torch"] = None
import surefoot.neural
try:
    surefoot.neural.RiskLoss
except ImportError as error:
    assert 'pip install "surefoot[neural]"' in str(error), error
else:
    raise AssertionError("no error")
"""
    loaded_by(statement)


@pytest.mark.parametrize("module", ["surefoot", "surefoot.cli", "surefoot.cli.commands"])
def test_starting_loads_nothing_heavy(module: str) -> None:
    assert not loaded_by(f"import {module}") & {"numpy", "polars", "numba", "lightgbm", "rich", "ibis", "torch"}


def test_no_source_file_is_over_400_lines() -> None:
    sources = [file for file in ROOT.rglob("*.*") if file.suffix in (".py", ".js", ".j2")]
    lines = {file: len(file.read_text(encoding="utf-8").splitlines()) for file in sources}
    assert not {file.name: count for file, count in lines.items() if count > 400}


# What runs code that a file holds or names, or asks a hub for a model: no source has any of it, by whatever route.
RUNS_WHAT_IT_READS = {
    "pickle", "_pickle", "cPickle", "cloudpickle", "dill", "joblib", "marshal", "shelve", "jsonpickle", "torch.load",
    "torch.jit", "torch.hub", "torch.package", "torch.serialization", "yaml.load", "yaml.unsafe_load",
    "huggingface_hub", "transformers", "sentence_transformers", "tensorflow", "keras", "from_pretrained",
    "read_pickle", "load_dataset", "snapshot_download", "hf_hub_download", "load_state_dict_from_url", "deserialize",
    "trust_remote_code", "eval", "exec", "compile", "__import__", "run_path", "run_module",
}  # fmt: skip
IMPORTERS = ("import_module", "library", "import_learner")
METHODS = {"eval", "compile", "load"}  # innocent as methods: of networks, expressions, patterns and rankers
NETWORK_MODULES = {
    "socket", "ssl", "http", "urllib.request", "ftplib", "smtplib", "xmlrpc", "httpx", "requests", "aiohttp", "urllib3",
    "uvicorn", "starlette", "asyncio", "fsspec",
}  # fmt: skip
# Dask clusters and Spark are reached by their own libraries; replay.py is run by users, against their own engine.
MAY_REACH_A_NETWORK = ("fetching/", "personal/service/", "export/replay.py")


def named_in(tree: ast.AST) -> set[str]:
    """The modules, functions and keywords that a source uses, by their dotted names and by the last part of these."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
            names.update({str(node.module), *(alias.name for alias in node.names)})
        elif isinstance(node, ast.Attribute):
            names.add(ast.unparse(node))
            names.update({node.attr} - METHODS)
        elif isinstance(node, ast.Name):
            names.add(node.id)
        elif isinstance(node, ast.keyword):
            names.add(str(node.arg))
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith(IMPORTERS) and node.args:
            names.update(each.value for each in node.args[:1] if isinstance(each, ast.Constant))
    return names | {".".join(name.split(".")[:parts]) for name in names for parts in (1, 2)}


def pickles_allowed(tree: ast.AST) -> list[str]:
    """Arrays that may be read with pickles in them."""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    options = {id(call): {each.arg: ast.unparse(each.value) for each in call.keywords} for call in calls}
    allowed = [ast.unparse(call) for call in calls if options[id(call)].get("allow_pickle", "False") != "False"]
    loads = [call for call in calls if ast.unparse(call.func) in ("np.load", "numpy.load")]
    return allowed + [ast.unparse(call) for call in loads if options[id(call)].get("allow_pickle") != "False"]


def sources() -> list[Path]:
    return sorted(ROOT.rglob("*.py"))


def test_nothing_that_is_read_is_run() -> None:
    for file in sources():
        tree = ast.parse(file.read_text(encoding="utf-8"))
        assert not named_in(tree) & RUNS_WHAT_IT_READS, file
        assert not pickles_allowed(tree), file


def test_a_network_is_reached_where_that_is_the_purpose_alone() -> None:
    for file in sources():
        if not file.relative_to(ROOT).as_posix().startswith(MAY_REACH_A_NETWORK):
            assert not named_in(ast.parse(file.read_text(encoding="utf-8"))) & NETWORK_MODULES, file


@pytest.mark.parametrize(
    "line",
    [
        "import pickle", "from pickle import loads", "import_module('pickle')", "library('joblib', 'x', 'y').load(f)",
        "torch.load(f)", "torch.hub.load('x')", "from torch import hub", "Model.from_pretrained(name)",
        "CrossEncoder(name, trust_remote_code=True)", "eval(text)", "exec(code)", "frame.deserialize(f)",
        "np.load(path)", "np.load(path, allow_pickle=True)", "np.load(path, allow_pickle=given)",
        "from transformers import AutoModel", "pl.read_pickle(f)", "yaml.load(f)", "import torch.jit as t",
    ],
)  # fmt: skip
def test_what_runs_code_is_noticed(line: str) -> None:
    tree = ast.parse(line)
    assert named_in(tree) & RUNS_WHAT_IT_READS or pickles_allowed(tree)


@pytest.mark.parametrize(
    "line", ["network.eval()", "pl.col('x').list.eval(y)", "re.compile(x)", "np.load(path, allow_pickle=False)"]
)
def test_what_runs_no_code_is_not(line: str) -> None:
    assert not named_in(ast.parse(line)) & RUNS_WHAT_IT_READS | set(pickles_allowed(ast.parse(line)))
