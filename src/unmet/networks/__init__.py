"""Networks and heads: Equinox modules that map columns of features to quantiles.

Arrays inside have features or quantiles first and rows last, `(features, rows)`. Matrix products then run
along contiguous rows, and stacking many networks on a leading axis is free.
"""

from unmet.networks._flat import flatten, layout, split, unflatten
from unmet.networks._graph import Graph
from unmet.networks._heads import (
    HEADS,
    SMALLEST_SCALE,
    FreeHead,
    GaussianHead,
    MonotoneHead,
    Prediction,
    Start,
)
from unmet.networks._kernel import Kernel
from unmet.networks._layers import ACTIVATIONS, Activation, Initialiser, Linear, Noise
from unmet.networks._location_scale import LocationScale, LocationScaleHead
from unmet.networks._lstm import LSTM
from unmet.networks._mlp import MLP
from unmet.networks._model import Model, ModelSpec, NetworkSpec, TobitShape, build
from unmet.networks._onnx import OnnxGraph, add_onnx_model
from unmet.networks._raster import Raster
from unmet.networks._remember import Remembered, remember_hash
from unmet.runs import limit_xla_threads

limit_xla_threads()  # before JAX computes anything: its number of threads changes the order of sums

__all__ = [
    "ACTIVATIONS",
    "HEADS",
    "LSTM",
    "MLP",
    "SMALLEST_SCALE",
    "Activation",
    "FreeHead",
    "GaussianHead",
    "Graph",
    "Initialiser",
    "Kernel",
    "Linear",
    "LocationScale",
    "LocationScaleHead",
    "Model",
    "ModelSpec",
    "MonotoneHead",
    "NetworkSpec",
    "Noise",
    "OnnxGraph",
    "Prediction",
    "Raster",
    "Remembered",
    "Start",
    "TobitShape",
    "add_onnx_model",
    "build",
    "flatten",
    "layout",
    "remember_hash",
    "split",
    "unflatten",
]
