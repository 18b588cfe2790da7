"""A fitted process as plain arrays, and back."""

from typing import Any

import numpy as np

from unmet.estimators._settings import check_quantiles
from unmet.estimators.gaussian_process._fitted import FittedProcess, ProcessState
from unmet.estimators.gaussian_process._kernels import parse_kernel

_UNITS = ("center", "scale", "y_center", "y_scale")


def pack_process(fitted: FittedProcess) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return plain data and arrays that describe the process."""
    arrays = {name: getattr(fitted, name) for name in _UNITS}
    if len(fitted.level):
        arrays["level"] = fitted.level
    for number, process in enumerate(fitted.processes):
        for name in ProcessState.__dataclass_fields__:
            arrays[f"processes.{number}.{name}"] = np.ascontiguousarray(getattr(process, name))
    return {"outputs": fitted.outputs, "bound": fitted.bound}, arrays


def take_process(
    estimator: Any,
    config: dict[str, Any],
    arrays: dict[str, np.ndarray],
    periods: tuple[tuple[int, float], ...],
) -> FittedProcess:
    """Return the process from loaded arrays, and remove these. Raise ValueError if they do not fit."""
    columns, outputs = config["columns"], config["outputs"]
    kernel = parse_kernel(estimator.kernel, columns, dict(periods))
    terms = len(kernel.terms)
    width = columns + (len(kernel.wrapped) if "periodic" in kernel.terms else 0)
    likelihood = estimator.likelihood
    states = []
    for number in range(2 if estimator.heteroskedastic else 1):
        found = {name: arrays.pop(f"processes.{number}.{name}") for name in ProcessState.__dataclass_fields__}
        points, latents = len(found["inducing"]), outputs
        shapes = {
            "lengthscales": (terms, columns),
            "variances": (terms,),
            "offset": (outputs,),
            "mixing": (outputs, latents),
            "inducing": (points, width),
            "factor": (points, points),
            "mean": (latents, points),
            "covariance": (latents * points, latents * points),
        }
        for name, shape in shapes.items():
            _check(f"processes.{number}.{name}", found[name], shape)
        if not (np.diag(found["factor"]) > 0).all():
            raise ValueError("the factor of the inducing points has no positive diagonal")
        states.append(ProcessState(**found))
    has_level = likelihood == "negative-binomial" or (likelihood == "gaussian" and len(states) == 1)
    level = arrays.pop("level") if has_level else np.zeros(0)
    _check("level", level, (outputs if has_level else 0,))
    units = {name: arrays.pop(name) for name in _UNITS}
    for name, values in units.items():
        _check(name, values, (outputs if name.startswith("y_") else columns,))
        if name.endswith("scale") and not (values > 0).all():
            raise ValueError(f"{name} must be positive")
    return FittedProcess(
        kernel=kernel,
        likelihood=likelihood,
        processes=tuple(states),
        level=level,
        levels=check_quantiles(estimator.quantiles),
        bound=float(config["bound"]),
        **units,
    )


def _check(name: str, values: np.ndarray, shape: tuple[int, ...]) -> None:
    if values.shape != shape or values.dtype != np.float64 or not np.isfinite(values).all():
        raise ValueError(f"{name} must hold finite numbers, shape {shape}")
