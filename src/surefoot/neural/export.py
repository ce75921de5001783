"""A network as ONNX: raw features in, a score out, with the features' transformation inside; and for Vespa."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from surefoot.arguments import integer
from surefoot.arrays import Float32s
from surefoot.errors import ArgumentError, shortened, visible
from surefoot.export.exported_model import ExportedModel, plain_json
from surefoot.export.package import ExportResult, write_package
from surefoot.export.settings import ExportSettings, check_feature_names, model_name
from surefoot.export.targets.onnx import onnx
from surefoot.export.targets.vespa import expressions
from surefoot.neural.network import HEADS, Network

if TYPE_CHECKING:
    from surefoot.neural.ranker import NeuralRanker

TARGETS = ("onnx", "vespa")
_OPSET, _IR = 17, 8  # of 2022: what runs these runs newer ones too
_MOST_ROWS = 100_000


def export_network(
    ranker: NeuralRanker,
    folder: str | os.PathLike[str],
    *,
    to: Any,
    missing: Any,
    name: Any = None,
    rows: Any,
    features: Sequence[str] | None = None,
) -> ExportResult:
    """Write a network for a target, and the files beside it."""
    settings = ExportSettings.parse(to, missing, model_name(folder) if name is None else name)
    if to not in TARGETS:
        raise ArgumentError(f"a network cannot be exported to {shortened(to)}, which takes trees; give onnx or vespa")
    count = integer("rows", rows, 0, _MOST_ROWS)
    names = check_feature_names(ranker.feature_names_in_ if features is None else features, ranker.n_features_in_)
    network = ranker.network_.cpu().eval()
    if network.shape.attention and to == "vespa":
        raise ArgumentError(
            "a network with attention scores all documents of a query together, and a rank profile of Vespa's one at a "
            "time; train without attention, or export to onnx"
        )
    content = onnx_model(network, settings, names)
    listed = plain_json({"features": names}, indent=2)
    companions = {"features.json": listed} if to == "onnx" else {"profile": _profile(names, settings)}
    notes = [
        "A feature that is not set counts as 0."
        if settings.missing == "zero"
        else "A feature that is not set is NaN, and counts as the training data's mean."
    ]
    if network.shape.attention:
        notes.append("All documents of one query go into one call: a score depends on the other documents.")
    model = ExportedModel(
        content=content,
        exact_thresholds=np.zeros(0),
        notes=notes,
        guide=_ONNX_GUIDE if to == "onnx" else _vespa_guide(settings),
        companions=companions,
    )
    matrix = _check_rows(network, settings, count) if count else None
    one_list = None if not network.shape.attention else [count]
    return write_package(
        folder, settings, model, names, matrix, lambda X: ranker.predict(X, group=one_list), notes, ending=".onnx"
    )


def _check_rows(network: Network, settings: ExportSettings, count: int) -> Float32s:
    """Rows like the training data's, in which some features are not set where that may be."""
    rng = np.random.default_rng(0)
    scale = network.scale.numpy().astype(np.float64)
    spread = np.divide(1, scale, out=np.zeros_like(scale), where=scale > 0)
    values = network.center.numpy() + rng.standard_normal((count, len(spread))) * spread
    rows: Float32s = (np.sign(values) * np.expm1(np.abs(values)) / 10).astype(np.float32)
    if settings.missing != "never":
        rows[rng.random(rows.shape) < 0.1] = np.nan
    return rows


def onnx_model(network: Network, settings: ExportSettings, names: Sequence[str]) -> bytes:
    """The network as ONNX, which takes float32 features, one row per document, and gives scores."""
    graph = _Graph()
    x = graph.input_name
    if settings.missing == "zero":
        x = graph.add("Where", graph.add("IsNaN", x), graph.constant(np.float32(0)), x)
    times_ten = graph.add("Mul", graph.add("Abs", x), graph.constant(np.float32(10)))
    logs = graph.add("Log", graph.add("Add", times_ten, graph.constant(np.float32(1))))
    x = graph.add("Mul", graph.add("Sign", x), logs)
    x = graph.add("Sub", x, graph.constant(network.center.numpy()))
    x = graph.add("Mul", x, graph.constant(network.scale.numpy()))
    x = graph.add("Where", graph.add("IsNaN", x), graph.constant(np.float32(0)), x)
    x = graph.add("Unsqueeze", x, graph.constant(np.array([0])))  # the models' axis
    parts = {name: each.detach().numpy() for name, each in network.named_parameters()}
    if network.shape.attention:
        x = graph.linear(x, parts, "input")
        for layer in range(network.shape.attention):
            x = graph.add("Add", x, _attend(graph, x, parts, f"attention{layer}"))
    for layer in range(len(network.shape.hidden)):
        x = graph.add("Relu", graph.linear(x, parts, f"hidden{layer}"))
    scores = graph.linear(x, parts, "score")
    graph.add("ReduceMean", scores, output="score", axes=[0], keepdims=0)
    return graph.to_bytes(settings.name, names)


def _attend(graph: _Graph, x: str, parts: dict[str, Any], name: str) -> str:
    """Self-attention over all rows, as one list."""
    models, width = parts[f"{name}_norm"].shape
    normal = graph.add("LayerNormalization", x, graph.constant(np.ones(width, np.float32)), axis=-1)
    normal = graph.add("Mul", normal, graph.constant(parts[f"{name}_norm"][:, None]))
    heads = graph.linear(normal, parts, f"{name}_heads")
    split = graph.constant(np.array([models, -1, 3, HEADS, width // HEADS]))
    stacked = graph.add("Transpose", graph.add("Reshape", heads, split), perm=[2, 0, 3, 1, 4])
    query, key, value = (graph.add("Gather", stacked, graph.constant(np.array(which)), axis=0) for which in range(3))
    products = graph.add("MatMul", query, graph.add("Transpose", key, perm=[0, 1, 3, 2]))
    shares = graph.add(
        "Softmax", graph.add("Mul", products, graph.constant(np.float32((width // HEADS) ** -0.5))), axis=-1
    )
    mixed = graph.add("Transpose", graph.add("MatMul", shares, value), perm=[0, 2, 1, 3])
    flat = graph.add("Reshape", mixed, graph.constant(np.array([models, -1, width])))
    return graph.linear(flat, parts, f"{name}_output")


class _Graph:
    """Nodes and constants of an ONNX graph, as they are added."""

    input_name = "features"

    def __init__(self) -> None:
        self._onnx = onnx()
        self._nodes: list[Any] = []
        self._constants: list[Any] = []

    def constant(self, value: Any) -> str:
        name = f"constant_{len(self._constants)}"
        array = np.ascontiguousarray(value) if np.ndim(value) else np.asarray(value)
        self._constants.append(self._onnx.numpy_helper.from_array(array, name))
        return name

    def add(self, kind: str, *inputs: str, output: str | None = None, **attributes: Any) -> str:
        name = output or f"value_{len(self._nodes)}"
        self._nodes.append(self._onnx.helper.make_node(kind, list(inputs), [name], **attributes))
        return name

    def linear(self, x: str, parts: dict[str, Any], name: str) -> str:
        """x·W + b, with each model's own W and, where there is one, b."""
        product = self.add("MatMul", x, self.constant(parts[f"{name}_weight"]))
        bias = parts.get(f"{name}_bias")
        return product if bias is None else self.add("Add", product, self.constant(bias[:, None]))

    def to_bytes(self, name: str, names: Sequence[str]) -> bytes:
        module, helper = self._onnx, self._onnx.helper
        single = module.TensorProto.FLOAT
        graph = helper.make_graph(
            self._nodes,
            name,
            [helper.make_tensor_value_info(self.input_name, single, ["documents", len(names)])],
            [helper.make_tensor_value_info("score", single, ["documents", 1])],
            initializer=self._constants,
        )
        opsets = [helper.make_opsetid("", _OPSET)]
        model = helper.make_model(graph, opset_imports=opsets, producer_name="surefoot", ir_version=_IR)
        helper.set_model_props(model, {"features": plain_json({"features": list(names)}, indent=2).decode()})
        module.checker.check_model(model)
        data: bytes = model.SerializeToString()
        return data


def _profile_name(settings: ExportSettings) -> str:
    return "surefoot_" + settings.name.replace("-", "_")


def _profile(names: Sequence[str], settings: ExportSettings) -> bytes:
    """A rank profile; features whose names are no rank features are functions to fill in."""
    used = expressions(names)
    functions = "".join(
        f"\n    # {visible(name)}\n    function {function}() {{\n        expression: FILL_IN\n    }}\n"
        for name, function in zip(names, used, strict=True)
        if name != function
    )
    listed = ",\n".join(f"            {function}" for function in used)
    model = settings.name.replace("-", "_")
    return f"""\
rank-profile {_profile_name(settings)} inherits default {{

    onnx-model {model} {{
        file: models/{settings.name}.onnx
        input "features": features_of_document
        output "score": score
    }}
{functions}
    function features_of_document() {{
        expression: tensor<float>(d0[1],d1[{len(used)}]):[[
{listed}
        ]]
    }}

    first-phase {{
        expression: sum(onnx({model}).score)
    }}
}}
""".encode()


_ONNX_GUIDE = """\
1. Give the model the features in the order of `STEM.features.json`, as they are, as float32, one row per document, NaN
   where a document lacks one:

       import onnxruntime
       scores = onnxruntime.InferenceSession("FILE").run(None, {"features": X})[0][:, 0]
"""


def _vespa_guide(settings: ExportSettings) -> str:
    return f"""\
1. Put the model into the application as `models/{settings.name}.onnx`, and the rank profile of `STEM.profile` into
   the schema; fill in the functions that it leaves open.
2. Deploy the application: `vespa deploy`
3. Rank by it: `vespa query 'yql=select * from sources * where userQuery()' 'query=…' ranking={_profile_name(settings)}`
"""
