"""Models as nodes of an ONNX graph, for programs that run networks without Python."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmet.networks._flat import split, unflatten
from unmet.networks._heads import SMALLEST_SCALE
from unmet.networks._kernel import frequencies
from unmet.networks._location_scale import BEND, LocationScale
from unmet.networks._model import ModelSpec

_ACTIVATIONS = {"relu": "Relu", "tanh": "Tanh", "softplus": "Softplus"}


class OnnxGraph:
    """Nodes and constants of a graph under way. Arrays have rows first, `(rows, features)`."""

    versions = (15, 8)  # of the operators and of the format: runtimes read them since 2021

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def constant(self, value: Any, kind: Any = np.float32) -> str:
        """Add an array; return its name."""
        from onnx import numpy_helper

        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(value, kind), name))
        return name

    def node(self, operator: str, *inputs: str, name: str | None = None, **attributes: Any) -> str:
        """Add an operation; return the name of its result."""
        from onnx import helper

        name = name or f"n{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, list(inputs), [name], **attributes))
        return name

    def columns(self, array: str, which: Any) -> str:
        """Take columns by their numbers."""
        return self.node("Gather", array, self.constant(which, np.int64), axis=1)

    def affine(self, x: str, weight: NDArray[Any], bias: NDArray[Any] | None) -> str:
        product = self.node("MatMul", x, self.constant(weight.T))
        return product if bias is None else self.node("Add", product, self.constant(bias))


def add_onnx_model(
    graph: OnnxGraph, spec: ModelSpec, weights: NDArray[np.float32], x: str, columns: int, levels: Any
) -> str:
    """Add a model that maps the standardised `columns` of x to quantiles at `levels`; return its result.

    Raise ValueError for a network of the caller's own, whose operations are not known.
    """
    if spec.network.kind == "custom":
        raise ValueError(
            "a custom network has no ONNX export: use network='linear', 'mlp', 'kernel' or 'lstm'"
        )
    if spec.network.kind in ("graph", "grid"):
        raise ValueError(
            f"network={spec.network.kind!r} has no ONNX export: use network='linear', 'mlp' or 'lstm'"
        )
    parts = split(spec, weights)
    if spec.network.kind == "lstm":
        raw = _lstm(graph, parts, spec, x, columns)
    elif spec.network.kind == "kernel":
        raw = _kernel(graph, parts, spec, x, columns)
    else:
        raw = _mlp(graph, parts, "body.", spec.network.activation, x, columns)
    if spec.head == "free":
        return raw
    if spec.head == "monotone":
        steps = graph.node("Softplus", graph.columns(raw, range(1, spec.levels))) if spec.levels > 1 else None
        first = graph.columns(raw, [0])
        gaps = first if steps is None else graph.node("Concat", first, steps, axis=1)
        return graph.node("MatMul", gaps, graph.constant(np.triu(np.ones((spec.levels, spec.levels)))))
    return _add_spread(graph, spec, weights, parts, raw, x, columns, levels)


def _add_spread(
    graph: OnnxGraph,
    spec: ModelSpec,
    weights: NDArray[np.float32],
    parts: dict[str, NDArray[Any]],
    raw: str,
    x: str,
    columns: int,
    levels: Any,
) -> str:
    """Add location + scale × shape. The shape is the same for all rows, so that the head itself gives it."""
    head = unflatten(spec, weights).head  # type: ignore[arg-type]
    found = head(np.zeros((2, 1), np.float32), np.zeros((spec.columns, 1), np.float32), np.asarray(levels))
    location = graph.columns(raw, [0])
    if "head.raw_scale" in parts:
        return graph.node("Add", location, graph.constant(found.quantiles[:, 0]))
    own = any(name.startswith("head.scale_network.") for name in parts)
    if own:
        raw_scale = _mlp(graph, parts, "head.scale_network.", "relu", x, columns)
    else:
        raw_scale = graph.columns(raw, [1])
    if isinstance(spec.head, LocationScale):
        link, shape = spec.head.link, np.asarray(found.anchors)
    else:
        link, shape = "softplus", np.asarray((found.quantiles - found.location) / found.scale)[:, 0]
    scale = _hyperbola(graph, raw_scale) if link == "hyperbola" else graph.node("Softplus", raw_scale)
    scale = graph.node("Add", scale, graph.constant([SMALLEST_SCALE]))
    return graph.node("Add", location, graph.node("Mul", scale, graph.constant(shape[None])))


def _hyperbola(graph: OnnxGraph, raw: str) -> str:
    """Add r² / (√(r² + s²) + s)."""
    raw = graph.node("Clip", raw, graph.constant(-1e15), graph.constant(1e15))
    squared, bend = graph.node("Mul", raw, raw), graph.constant([BEND])
    root = graph.node("Sqrt", graph.node("Add", squared, graph.constant([BEND**2])))
    return graph.node("Div", squared, graph.node("Add", root, bend))


def _mlp(
    graph: OnnxGraph, parts: dict[str, NDArray[Any]], under: str, activation: str, x: str, columns: int
) -> str:
    last = sum(name.startswith(f"{under}layers[") and name.endswith("weight") for name in parts) - 1
    for number in range(last + 1):
        weight, bias = (parts.get(f"{under}layers[{number}].{name}") for name in ("weight", "bias"))
        assert weight is not None
        x = graph.affine(x, weight[:, :columns] if number == 0 else weight, bias)  # the others are padding
        if number < last and activation in _ACTIVATIONS:
            x = graph.node(_ACTIVATIONS[activation], x)
    return x


def _kernel(graph: OnnxGraph, parts: dict[str, NDArray[Any]], spec: ModelSpec, x: str, columns: int) -> str:
    """Add cosines and sines of fixed frequencies; see `unmet.networks.Kernel`."""
    count, weight = spec.network.units, parts["body.layers[0].weight"]
    narrow = graph.constant(np.exp(-parts["body.log_bandwidth"][:columns]))
    waves = graph.affine(graph.node("Mul", x, narrow), frequencies(count, spec.columns)[:, :columns], None)
    share = graph.constant([1 / np.sqrt(count)])
    bent = (graph.node("Mul", share, graph.node(kind, waves)) for kind in ("Cos", "Sin"))
    used = np.concatenate([weight[:, :columns], weight[:, spec.columns :]], axis=1)
    return graph.affine(graph.node("Concat", x, *bent, axis=1), used, parts.get("body.layers[0].bias"))


def _lstm(graph: OnnxGraph, parts: dict[str, NDArray[Any]], spec: ModelSpec, x: str, columns: int) -> str:
    """Add the steps of an LSTM one by one; see `unmet.networks.LSTM`."""
    (steps, features), units = spec.network.sequence, spec.network.units
    recurrent = graph.constant(parts["body.recurrent"].T)
    hidden = cell = None
    for step in range(steps):
        seen = graph.columns(x, range(step * features, (step + 1) * features))
        gates = graph.affine(seen, parts["body.inputs"], parts["body.bias"])
        if hidden is not None:
            gates = graph.node("Add", gates, graph.node("MatMul", hidden, recurrent))
        enter, forget, leave, candidate = (
            graph.columns(gates, range(k * units, (k + 1) * units)) for k in range(4)
        )
        enter, forget, leave = (graph.node("Sigmoid", gate) for gate in (enter, forget, leave))
        curved = spec.network.activation == "tanh"
        new = graph.node("Mul", enter, graph.node("Tanh", candidate) if curved else candidate)
        cell = new if cell is None else graph.node("Add", graph.node("Mul", forget, cell), new)
        hidden = graph.node("Mul", leave, graph.node("Tanh", cell) if curved else cell)
    assert hidden is not None
    if columns > steps * features:
        static = graph.columns(x, range(steps * features, columns))
        hidden = graph.node("Concat", hidden, static, axis=1)
    return graph.affine(hidden, parts["body.readout.weight"], parts.get("body.readout.bias"))
