"""Every network and head as an ONNX graph, with random weights, equals the model itself."""

import numpy as np
import pytest

from unmet.networks import (
    LocationScale,
    ModelSpec,
    NetworkSpec,
    OnnxGraph,
    TobitShape,
    add_onnx_model,
    layout,
    unflatten,
)

LEVELS = (0.1, 0.35, 0.5, 0.9)
NETWORKS = {
    "linear": NetworkSpec("linear"),
    "mlp": NetworkSpec("mlp", hidden=(5, 3), activation="softplus"),
    "tanh": NetworkSpec("mlp", hidden=(4,), activation="tanh"),
    "kernel": NetworkSpec("kernel", units=5),
    "lstm": NetworkSpec("lstm", units=3, activation="tanh", sequence=(3, 2)),
    "lstm and static": NetworkSpec("lstm", units=3, activation="linear", sequence=(2, 2)),
}
HEADS = {
    "free": "free",
    "monotone": "monotone",
    "location-scale": LocationScale(scale_hidden=(4,), grid=LEVELS),
    "constant": LocationScale(scale="constant", grid=LEVELS),
    "softplus": LocationScale(scale="linear", link="softplus", grid=LEVELS),
    "shared": LocationScale(scale="shared", grid=LEVELS),
    "tobit": TobitShape(),
    "tobit, given scale": TobitShape("fixed"),
    "tobit, any scale": TobitShape("network", sinh_arcsinh=True),
}


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize(
    ("network", "head"),
    [(name, "location-scale") for name in NETWORKS] + [("mlp", name) for name in HEADS],
)
def test_the_graph_is_the_model(network, head, intercept):
    pytest.importorskip("onnx")
    from onnx import TensorProto, helper
    from onnx.reference import ReferenceEvaluator

    real = 6
    columns = real if network.startswith("lstm") else 8  # padded
    fixed = LEVELS if isinstance(HEADS[head], LocationScale) else ()
    spec = ModelSpec(NETWORKS[network], HEADS[head], columns, 4, "neutral", intercept, False, fixed)
    random = np.random.default_rng(0)
    weights = random.normal(size=layout(spec).size).astype(np.float32)
    x = random.normal(size=(7, real)).astype(np.float32)
    padded = np.zeros((columns, 7), np.float32)
    padded[:real] = x.T
    expected = np.asarray(unflatten(spec, weights)(padded, np.asarray(LEVELS, np.float32)).quantiles).T
    graph = OnnxGraph()
    name = add_onnx_model(graph, spec, weights, "x", real, LEVELS)
    ends = [
        helper.make_tensor_value_info(end, TensorProto.FLOAT, ["n", size])
        for end, size in (("x", real), (name, 4))
    ]
    body = helper.make_graph(graph.nodes, "model", ends[:1], ends[1:], graph.constants)
    opset = helper.make_opsetid("", graph.versions[0])
    model = helper.make_model(body, opset_imports=[opset], ir_version=graph.versions[1])
    (found,) = ReferenceEvaluator(model).run(None, {"x": x})
    assert found == pytest.approx(expected, abs=2e-5, rel=2e-5)


def test_a_network_of_the_callers_own_is_refused():
    spec = ModelSpec(NetworkSpec("custom", builder=lambda *_: None), "free", 2, 1)
    with pytest.raises(ValueError, match="custom network has no ONNX export"):
        add_onnx_model(OnnxGraph(), spec, np.zeros(1, np.float32), "x", 2, (0.5,))
