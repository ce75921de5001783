"""The arrows of docs/architecture.md: which package may import which, and what importing one may load."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
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
        "guard": {"evidence"},
        "agreement": {"evidence", "gate"},
        "history": {"evidence", "gate"},
    },
}

SHELVES = {  # each imports only those before it
    "judge": ("data", "fetching", "pyterrier", "measures", "risk", "report", "stability", "decide"),
    "learn": ("export", "learn", "neural", "choose", "decide.guard"),
    "clicks": ("clicks", "personal", "demo", "saved"),
    "cli": ("cli",),
}
COMMANDS = r"surefoot\.cli\.\w+"  # the table of commands, which loads the one that is called
REACH = {  # of a command's module (or of these functions in it): the most lines that it can load, at once or late
    "evaluate": ("surefoot.cli.evaluate", None, 19_000),
    "gate": ("surefoot.cli.gate", None, 22_000),
    "check of a policy": ("surefoot.cli.check", frozenset({"check", "_check_files", "_policy"}), 7_000),
    "check": ("surefoot.cli.check", None, 11_500),
    "demo clicks": ("surefoot.cli.demo_clicks", None, 5_000),
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


@cache
def modules() -> dict[str, Path]:
    """Each module's file."""
    dotted = {file: ".".join(("surefoot", *file.relative_to(ROOT).with_suffix("").parts)) for file in sources()}
    return {name.removesuffix(".__init__"): file for file, name in dotted.items()}


@cache
def homes() -> dict[str, str]:
    """The module of each name that a package loads when it is first used."""
    found = {}
    for package, file in modules().items():
        if file.name == "__init__.py":
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
                if isinstance(node, ast.ImportFrom):
                    found.update({f"{package}.{alias.name}": str(node.module) for alias in node.names})
    return found


def running(node: ast.AST) -> Iterator[ast.AST]:
    """All of a source but what is there for types alone."""
    if not (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"):
        yield node
        for child in ast.iter_child_nodes(node):
            yield from running(child)


def names_of(node: ast.AST) -> set[str]:
    """The modules that a node imports, of which it imports a name, or whose name it has as text."""
    if isinstance(node, ast.Import):
        names = {alias.name for alias in node.names}
    elif isinstance(node, ast.ImportFrom):
        full = {f"{node.module}.{alias.name}" for alias in node.names}
        names = {name if name in modules() else homes().get(name, str(node.module)) for name in full}
    elif isinstance(node, ast.Constant):
        names = {str(node.value)} & modules().keys()
    elif isinstance(node, ast.JoinedStr):
        texts = (re.escape(str(part.value)) if isinstance(part, ast.Constant) else r"\w+" for part in node.values)
        pattern = "".join(texts)
        of_modules = pattern.startswith(r"surefoot\.") and pattern != COMMANDS
        names = set(filter(re.compile(pattern).fullmatch, modules())) if of_modules else set()
    else:
        names = set()
    return {".".join(name.split(".")[:count]) for name in names for count in range(1, name.count(".") + 2)}


@cache
def named_by(
    module: str, walk: Callable[[ast.AST], Iterator[ast.AST]] = running, only: frozenset[str] | None = None
) -> set[str]:
    """The modules that a module names; of its functions, those of `only` count."""
    names: set[str] = set()
    for statement in ast.parse(modules()[module].read_text(encoding="utf-8")).body:
        if only is None or not isinstance(statement, ast.FunctionDef) or statement.name in only:
            names = names.union(*map(names_of, walk(statement)))
    return names & modules().keys()


def reach(module: str, only: frozenset[str] | None = None) -> dict[str, str | None]:
    """The modules that a command's module can load, at once or late, each with the one by which it came in."""
    came_by: dict[str, str | None] = {"surefoot.cli.commands": None, module: None}
    waiting = list(came_by)
    for each in waiting:  # it grows
        new = sorted(named_by(each, only=only if each == module else None) - came_by.keys())
        came_by.update(dict.fromkeys(new, each))
        waiting += new
    return came_by


def way(module: str | None, came_by: dict[str, str | None]) -> str:
    """How a module came in."""
    return "" if module is None else f"{module} < {way(came_by[module], came_by)}".removesuffix(" < ")


@pytest.mark.parametrize("command", REACH)
def test_what_a_command_can_load_fits_in_a_head(command: str) -> None:
    module, only, most = REACH[command]
    came_by = reach(module, only)
    lines = {each: len(modules()[each].read_text(encoding="utf-8").splitlines()) for each in came_by}
    largest = sorted(came_by, key=lambda each: -lines[each])[:40]
    print(*(f"{lines[each]:4} {way(each, came_by)}" for each in largest), sep="\n")
    assert sum(lines.values()) <= most


def shelf(module: str) -> int:
    """The place of a module's shelf; 0 for the foundation, which all import."""
    names = [".".join(module.split(".")[1:parts]) for parts in (3, 2)]
    places = (place for name in names for place, each in enumerate(SHELVES.values(), 1) if name in each)
    return next(places, 0)


@pytest.mark.parametrize(("command", "foreign"), [("evaluate", "surefoot.decide"), ("gate", "surefoot.decide.guard")])
def test_evaluate_and_gate_reach_the_first_shelf_alone(command: str, foreign: str) -> None:
    reached = reach(REACH[command][0])
    cli = list(SHELVES).index("cli") + 1
    assert {shelf(each) for each in reached} == {0, 1, cli}
    assert not [each for each in reached if each.startswith(foreign)]


def test_no_shelf_imports_one_after_it() -> None:
    assert {room.split(".")[0] for rooms in SHELVES.values() for room in rooms} == set(packages())
    for module in modules():
        if shelf(module):
            assert not [each for each in named_by(module, ast.walk) if shelf(each) > shelf(module)], module


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


def test_no_source_file_is_over_450_lines() -> None:
    sources = [file for file in ROOT.rglob("*.*") if file.suffix in (".py", ".js", ".j2")]
    lines = {file: len(file.read_text(encoding="utf-8").splitlines()) for file in sources}
    assert not {file.name: count for file, count in lines.items() if count > 450}


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
