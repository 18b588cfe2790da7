"""A fitted network as one ONNX graph: from the user's columns to quantiles in the user's units."""

from typing import Any

import numpy as np

from unmet.censoring import mirror_levels
from unmet.estimators._fitted import Fitted
from unmet.estimators._scaling import FARTHEST
from unmet.networks import OnnxGraph, add_onnx_model
from unmet.runs import naming_extras


@naming_extras()
def to_onnx_bytes(fitted: Fitted, wanted: tuple[float, ...], positive: bool) -> bytes:
    """Return the file: input `X`, double (rows, columns); output `quantiles`, double (rows, wanted).

    Units are double as in `predict_quantiles`, networks float32. Dropout has no part in predictions.
    """
    from onnx import TensorProto, checker, helper

    graph, scaling = OnnxGraph(), fitted.scaling
    columns = len(scaling.x_center)
    levels = mirror_levels(wanted) if fitted.mirrored else wanted
    x = graph.node("Sub", "X", graph.constant(scaling.x_center, np.float64))
    x = graph.node("Div", x, graph.constant(scaling.x_scale, np.float64))
    ends = (graph.constant(end, np.float64) for end in (-FARTHEST, FARTHEST))
    x = graph.node("Cast", graph.node("Clip", x, *ends), to=TensorProto.FLOAT)
    members = fitted.members[:1] if fitted.parametric else fitted.members
    parts = []
    for member in members:
        own = levels if fitted.parametric else member.levels
        parts.append(add_onnx_model(graph, member.spec, member.weights, x, columns, own))
    known = tuple(level for member in members for level in member.levels)
    values = parts[0]
    if len(parts) > 1 and members[0].levels == members[1].levels:
        values, known = graph.node("Mean", *parts), members[0].levels
    elif len(parts) > 1:
        values = graph.node("Concat", *parts, axis=1)
    place = list(range(len(levels))) if fitted.parametric else [known.index(level) for level in levels]
    found = [graph.columns(values, [number]) for number in place]
    if fitted.monotone:
        for number in range(1, len(found)):
            found[number] = graph.node("Max", found[number - 1], found[number])
    found = found[::-1] if fitted.mirrored else found
    joined = graph.node("Cast", graph.node("Concat", *found, axis=1), to=TensorProto.DOUBLE)
    sign = -1.0 if fitted.mirrored else 1.0
    scaled = graph.node("Mul", joined, graph.constant([sign * scaling.y_scale], np.float64))
    center = graph.constant([sign * scaling.y_center], np.float64)
    least = graph.constant([0.0 if positive else -np.inf], np.float64)
    graph.node("Max", graph.node("Add", scaled, center), least, name="quantiles")
    return _finish(graph, columns, wanted, helper, checker, TensorProto.DOUBLE)


def _finish(
    graph: OnnxGraph, columns: int, wanted: tuple[float, ...], helper: Any, checker: Any, double: int
) -> bytes:
    body = helper.make_graph(
        graph.nodes,
        "unmet",
        [helper.make_tensor_value_info("X", double, ["rows", columns])],
        [helper.make_tensor_value_info("quantiles", double, ["rows", len(wanted)])],
        graph.constants,
    )
    opset, version = graph.versions
    model = helper.make_model(body, opset_imports=[helper.make_opsetid("", opset)], ir_version=version)
    model.producer_name = "unmet"
    helper.set_model_props(model, {"levels": " ".join(f"{level:g}" for level in wanted)})
    checker.check_model(model)
    return bytes(model.SerializeToString())
