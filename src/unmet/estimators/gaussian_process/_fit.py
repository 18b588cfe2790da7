"""From checked rows to a fitted process: units, start, inducing points, and the search for the parameters."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmet.estimators.gaussian_process._fitted import FittedProcess, ProcessState
from unmet.estimators.gaussian_process._kernels import choose_inducing, parse_kernel
from unmet.estimators.gaussian_process._likelihoods import Entries
from unmet.runs import enable_compile_cache, one_blas_thread, refuse_fork
from unmet.training import padded_rows

Floats = NDArray[np.float64]
# The search begins on this many rows, and ends on all.
_FIRST_ROWS = 1_000
_FIRST_STEPS, _LAST_STEPS = 60, 25
# Spread of the prior of each parameter; its centre is where the search starts.
_PRIOR = {"lengthscales": 1.5, "variances": 1.0, "offset": 2.0, "mixing": 1.0, "level": 1.5}
_FEWEST = 64  # rows of the smallest program: small tables share it
_SCALE_VARIANCE = 0.25  # of the log-scale before anything was seen


@dataclass(frozen=True)
class Table:
    """Checked rows: columns, bounds of each output (equal if exact, NaN if missing), weights."""

    X: Floats
    lower: Floats
    upper: Floats
    weight: Floats

    def take(self, rows: Any) -> "Table":
        return Table(self.X[rows], self.lower[rows], self.upper[rows], self.weight[rows])

    @property
    def seen(self) -> Floats:
        """One finite value per entry: the value itself, or the bound that is known."""
        return np.where(np.isfinite(self.lower), self.lower, self.upper)


@dataclass(frozen=True)
class Choices:
    """Checked parameters of the estimator."""

    likelihood: str
    heteroskedastic: bool
    kernel: str
    periods: dict[int, float] | None
    inducing: int
    n_restarts: int


@contextmanager
def double_precision() -> Iterator[None]:
    """Compute with 64 bits: the factors of covariances of near rows need them."""
    import jax

    refuse_fork()
    enable_compile_cache()
    with jax.enable_x64(True), one_blas_thread():
        yield


def fit_process(table: Table, choices: Choices, levels: tuple[float, ...], seed: int) -> FittedProcess:
    """Return the process fitted to canonical rows, the same whatever ran before."""
    from unmet.estimators.gaussian_process._posterior import Model

    columns, outputs = table.X.shape[1], table.lower.shape[1]
    center, scale = _units(table.X, table.weight[:, None])
    y_center, y_scale = np.zeros(outputs), np.ones(outputs)
    if choices.likelihood == "gaussian":
        y_center, y_scale = _units(table.seen, table.weight[:, None] * np.isfinite(table.seen))
    scaled = Table(
        table.X, (table.lower - y_center) / y_scale, (table.upper - y_center) / y_scale, table.weight
    )
    kernel = parse_kernel(choices.kernel, columns, choices.periods)
    kernels = (kernel, kernel) if choices.heteroskedastic else (kernel,)
    closed = np.isfinite(table.lower) & np.isfinite(table.upper) & (table.lower < table.upper)
    if choices.likelihood != "gaussian":
        closed &= table.lower > 0
    model = Model(kernels, choices.likelihood, outputs, bool(closed.any()))
    coordinates = kernel.coordinates(table.X, center, scale)
    with double_precision():
        parameters, posteriors, factors, places, bound = _search(model, scaled, coordinates, choices, seed)
    states = []
    for own, (mean, covariance, _), factor, inducing in zip(
        parameters["processes"], posteriors, factors, places
    ):
        points = len(inducing)
        latents = mean.shape[0]
        blocks = np.asarray(covariance).reshape(latents, mean.shape[1], latents, mean.shape[1])
        inner = blocks[:, :points, :, :points].reshape(latents * points, latents * points)
        mixing = own.get("mixing", np.ones((1, 1)))
        states.append(
            ProcessState(
                lengthscales=own["lengthscales"],
                variances=own["variances"],
                offset=own["offset"],
                mixing=mixing,
                inducing=inducing,
                factor=np.asarray(factor)[:points, :points],
                mean=np.asarray(mean)[:, :points],
                covariance=inner,
            )
        )
    level = parameters["noise"].get("level", np.zeros(0))
    return FittedProcess(
        kernel, choices.likelihood, tuple(states), level, center, scale, y_center, y_scale, levels, bound
    )


def _units(values: Floats, weight: Floats) -> tuple[Floats, Floats]:
    """Return mean and standard deviation of each column; 1 instead of none."""
    share = np.broadcast_to(weight, values.shape)
    total = np.maximum(share.sum(axis=0), 1e-300)
    known = np.where(share > 0, values, 0.0)
    largest = np.maximum(np.abs(known).max(axis=0), 1e-300)  # squares of huge values would overflow
    unit = known / largest
    mean = (unit * share).sum(axis=0) / total
    spread = np.sqrt((share * (unit - mean) ** 2).sum(axis=0) / total)
    return mean * largest, np.where(spread > 1e-10, spread * largest, 1.0)


def _search(
    model: Any, table: Table, coordinates: Floats, choices: Choices, seed: int
) -> tuple[Any, Any, Any, list[Floats], float]:
    """Return parameters, posteriors, factors and inducing points of the highest bound found."""
    from unmet.estimators.gaussian_process._posterior import profile

    start = _start(model, table)
    random = np.random.default_rng(seed)
    few = len(table.X) > _FIRST_ROWS
    first = slice(0, _FIRST_ROWS) if few else slice(None)
    found = []
    for number in range(choices.n_restarts):
        begin = start if number == 0 else _moved(start, random)
        problem = Problem(model, table.take(first), coordinates[first], begin, choices.inducing)
        found.append(problem.climb(begin, start, _FIRST_STEPS))
    parameters, bound = max(found, key=lambda one: one[1])
    problem = Problem(model, table, coordinates, parameters, choices.inducing)
    if few or len(problem.chosen[0]) < len(coordinates):  # the points depend on the parameters
        parameters, bound = problem.climb(parameters, start, _LAST_STEPS)
    posteriors, factors = profile(
        model, parameters, problem.places, problem.seen, problem.sites, 1e-9 * problem.total
    )[3:]
    if not all(np.isfinite(part).all() for q in posteriors for part in q):
        raise ValueError("no process fits these rows: look for values of y that are far from all others")
    return parameters, posteriors, factors, problem.chosen, bound


def _moved(start: Any, random: np.random.Generator) -> Any:
    """Return other lengthscales to begin with."""
    processes = [
        {**own, "lengthscales": own["lengthscales"] + random.normal(0, 1, own["lengthscales"].shape)}
        for own in start["processes"]
    ]
    return {**start, "processes": processes}


def _start(model: Any, table: Table) -> Any:
    """Return parameters to begin with; they are also the centres of the priors."""
    seen = table.seen
    share = table.weight[:, None] * np.isfinite(seen)
    mean = (np.where(share > 0, seen, 0.0) * share).sum(axis=0) / np.maximum(share.sum(axis=0), 1e-300)
    counts = model.likelihood != "gaussian"
    offset = np.log(np.maximum(mean, 0.1)) if counts else mean
    processes = []
    for number, kernel in enumerate(model.kernels):
        own: dict[str, Floats] = kernel.start(1.0 if number == 0 else _SCALE_VARIANCE)
        own["offset"] = offset if number == 0 else np.full(model.outputs, -0.7)
        if model.outputs > 1:
            own["mixing"] = _mixing(seen, counts)
        processes.append(own)
    noise = {}
    if model.likelihood == "negative-binomial":
        noise["level"] = np.full(model.outputs, np.log(5.0))
    elif model.likelihood == "gaussian" and len(processes) == 1:
        noise["level"] = np.full(model.outputs, -0.7)
    return {"processes": processes, "noise": noise}


def _mixing(seen: Floats, counts: bool) -> Any:
    """Return the factor of the correlations of what was seen, drawn a little towards none."""
    values = np.log(np.maximum(seen, 0) + 0.5) if counts else seen
    known = np.isfinite(values)
    filled = np.where(known, values, 0.0)
    filled = np.where(known, values - filled.sum(axis=0) / np.maximum(known.sum(axis=0), 1), 0.0)
    size = np.sqrt(np.maximum((filled**2).sum(axis=0), 1e-12))
    return np.linalg.cholesky(
        0.8 * (filled.T @ filled) / np.outer(size, size)
        + 0.2 * np.eye(seen.shape[1])
        + 1e-9 * np.eye(seen.shape[1])
    )


class Problem:
    """Padded arrays of one search, and where its sites stand."""

    def __init__(self, model: Any, table: Table, coordinates: Floats, parameters: Any, inducing: int) -> None:
        from unmet.estimators.gaussian_process._posterior import Places

        self.model, self.total = model, float(table.weight.sum())
        rows = max(_FEWEST, padded_rows(len(coordinates)))
        padded = _padded(coordinates, rows)
        self.chosen: list[Floats] = []
        places = []
        for kernel, own in zip(model.kernels, parameters["processes"]):
            points = coordinates[choose_inducing(kernel, own, coordinates, inducing)]
            self.chosen.append(points)
            size = -(-len(points) // 64) * 64
            places.append(Places(padded, _padded(points, size), np.arange(size) < len(points)))
        self.places = tuple(places)
        self.seen = _entries(table)
        self.sites = _first_sites(model, table, parameters, rows)

    def climb(self, parameters: Any, prior: Any, steps: int) -> tuple[Any, float]:
        """Return parameters of a higher bound, by L-BFGS, and that bound with the prior."""
        from jax.flatten_util import ravel_pytree
        from scipy.optimize import minimize

        from unmet.estimators.gaussian_process._posterior import profile

        rebuild: Any = ravel_pytree(prior)[1]
        center, spread = (np.asarray(ravel_pytree(part)[0]) for part in (prior, _spreads(prior)))
        best: list[Any] = [np.inf, np.asarray(ravel_pytree(parameters)[0])]

        def loss(flat: Floats) -> tuple[float, Floats]:
            value, slope, sites, *_ = profile(
                self.model, rebuild(flat), self.places, self.seen, self.sites, 1e-6 * self.total
            )
            off = (flat - center) / spread
            found = (0.5 * float(off @ off) - float(value)) / self.total
            grown = (off / spread - np.asarray(ravel_pytree(slope)[0])) / self.total
            if not np.isfinite(found) or not np.isfinite(grown).all():
                return 1e10, np.zeros_like(flat)
            if found < best[0]:
                best[:] = [found, flat.copy()]
                self.sites = sites
            return found, grown

        limits = np.stack([center - 6 * spread, center + 6 * spread], axis=1)
        options = {"maxiter": steps, "ftol": 1e-6, "gtol": 1e-4}
        minimize(loss, best[1], jac=True, method="L-BFGS-B", bounds=limits, options=options)
        plain = _tree(np.asarray, rebuild(best[1]))
        return plain, -best[0] * self.total


def _tree(function: Any, tree: Any) -> Any:
    import jax

    return jax.tree.map(function, tree)


def _spreads(prior: Any) -> Any:
    """Return the standard deviation of the prior of each parameter, in the same form."""
    parts = [
        {name: np.full(np.shape(value), _PRIOR[name]) for name, value in own.items()}
        for own in (*prior["processes"], prior["noise"])
    ]
    return {"processes": parts[:-1], "noise": parts[-1]}


def _padded(values: Any, size: int, fill: float = 0.0) -> Any:
    room = np.full((size, *values.shape[1:]), fill, values.dtype)
    room[: len(values)] = values
    return room


def _entries(table: Table) -> Entries:
    lower, upper = table.lower.ravel(), table.upper.ravel()
    weight = np.repeat(table.weight, table.lower.shape[1])
    exact = np.flatnonzero(lower == upper)
    bounded = np.flatnonzero(lower < upper)  # neither, if missing
    parts = []
    for where, values in ((exact, (lower,)), (bounded, (lower, upper))):
        size = max(_FEWEST, padded_rows(len(where))) if len(where) else 0
        # Padding is a row of weight 0 between bounds that every likelihood takes.
        parts.append(_padded(where, size))
        parts += [_padded(v[where], size, float(number)) for number, v in enumerate(values)]
        parts.append(_padded(weight[where], size))
    return Entries(*parts)


def _first_sites(model: Any, table: Table, parameters: Any, rows: int) -> Any:
    """Return sites that put the latent value near what was seen; those of a log-scale tell nothing yet."""
    seen = table.seen
    known = np.isfinite(seen)
    at = np.where(known, seen, 0.0)
    weight = np.where(known, table.weight[:, None], 0.0)
    if model.likelihood == "gaussian":
        level = parameters["noise"].get("level", np.full(model.outputs, -0.7))
        weight = weight * np.exp(-2 * level)
    else:
        mean = np.maximum(at, 0) + 0.5
        at = np.log(mean)
        shape = np.exp(parameters["noise"]["level"]) if "level" in parameters["noise"] else np.inf
        weight = weight * (mean / (1 + mean / shape))
    tilt = weight * (at - parameters["processes"][0]["offset"])
    first = (_padded(tilt, rows), _padded(weight, rows))
    none = np.zeros_like(first[0])
    return [first, (none, none)][: len(model.kernels)]
