"""Ours, through the public names only, but for the time that preparation takes."""

from __future__ import annotations

import time
from collections.abc import Iterator
from importlib.metadata import version
from itertools import islice
from typing import Any

import numpy as np

from benchmarks.engine.config import Rule
from benchmarks.engine.problems import Problem, pinball, seasonal
from unmet import CensoredQuantileRegressor, fit_many, iter_fit_many

# Distinct problems that the long stream repeats with new seeds; more would only cost memory of its own.
POOL = 500


def versions() -> dict[str, str]:
    return {name: version(name) for name in ("unmet", "jax", "jaxlib", "equinox", "optax")}


def estimator(rule: Rule, **changes: Any) -> CensoredQuantileRegressor:
    settings: dict[str, Any] = {
        "quantiles": rule.quantiles,
        "network": rule.network,
        "head": "free",
        "learning_rate": rule.learning_rate,
        "schedule": "constant",
        "max_epochs": rule.max_epochs,
        "patience": rule.patience,
        "batch_size": rule.batch_size,
        "l2": rule.l2,
        "clip_norm": rule.clip_norm,
        "initialiser": rule.initialiser,
        "standardise": False,
        "random_state": 0,
        "progress": False,
    }
    if rule.network == "lstm":
        settings["units"] = rule.units
    if rule.network == "mlp":
        settings["hidden"] = rule.hidden
    return CensoredQuantileRegressor(**(settings | changes))


def stated(problem: Problem) -> dict[str, Any]:
    """A problem as `fit_many` takes it, in the double precision that users' arrays have."""
    return {
        "X": problem.X.astype(float),
        "y": problem.y.astype(float),
        "threshold": problem.threshold.astype(float),
        "censored": problem.censored,
        "validation": problem.validation,
        "random_state": problem.seed,
    }


def reached(rule: Rule, model: CensoredQuantileRegressor, problem: Problem) -> float:
    """Loss on the validation rows, by the same formula as for the others."""
    _, (X, y, cap) = problem.split()
    return pinball(y, cap, model.predict_quantiles(X), rule.quantiles)


def many(rule: Rule, problems: list[Problem], n_jobs: int = 1, judged: int = 200) -> dict[str, Any]:
    """Train all problems at once; a first, cold call is timed apart from the one that counts.

    The cold call has the imports' late parts and the compilation in it (or reading the compiled program
    from disk). With several processes it is a whole run, so that each of them has been started and has its
    program. The first `judged` networks are compared.
    """
    m, stated_problems = estimator(rule), [stated(problem) for problem in problems]
    began = time.perf_counter()
    fit_many(m, stated_problems[: 32 if n_jobs == 1 else None], n_jobs=n_jobs)
    cold = time.perf_counter() - began
    began = time.perf_counter()
    models = fit_many(m, stated_problems, n_jobs=n_jobs)
    seconds = time.perf_counter() - began
    return {
        "seconds": seconds,
        "warm_up_seconds": cold,
        "preparing_seconds": preparing(m, stated_problems),
        "losses": [reached(rule, model, problem) for model, problem in zip(models[:judged], problems)],
        "epochs": [int(np.max(model.n_iter_)) for model in models],
    }


def preparing(m: CensoredQuantileRegressor, problems: list[dict[str, Any]]) -> float:
    """Seconds to check, sort, scale and pad the problems without training them."""
    from unmet.estimators._stacks import prepare_many

    began = time.perf_counter()
    for _ in prepare_many(m, enumerate(problems)):
        pass
    return time.perf_counter() - began


def stream(pool: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Problems without end: the pool again and again, each time with new seeds."""
    seed = 0
    while True:
        for problem in pool:
            yield problem | {"random_state": seed}
            seed += 1


def streamed(rule: Rule, count: int, repeats: int) -> dict[str, Any]:
    """Train `count` networks from a generator and keep none; seconds of each repetition."""
    m, pool = estimator(rule), [stated(seasonal(index)) for index in range(POOL)]
    for _ in iter_fit_many(m, islice(stream(pool), POOL)):
        pass
    seconds = []
    for _ in range(repeats):
        began = time.perf_counter()
        seen = sum(1 for _ in iter_fit_many(m, islice(stream(pool), count)))
        seconds.append(time.perf_counter() - began)
        if seen != count:
            raise RuntimeError(f"{seen} networks came back of {count}")
    return {"seconds": float(np.median(seconds)), "all_seconds": seconds, "losses": []}


def table(rule: Rule, problem: Problem) -> dict[str, Any]:
    """One epoch and all epochs of a large table; the difference is free of compilation and preparation."""
    train, held_out = ~problem.validation, problem.validation
    facts = {
        "threshold": problem.threshold[train],
        "censored": problem.censored[train],
    }
    X, y = problem.X[train], problem.y[train]

    def timed(epochs: int) -> tuple[float, CensoredQuantileRegressor]:
        began = time.perf_counter()
        model = estimator(rule, max_epochs=epochs).fit(X, y, **facts)
        return time.perf_counter() - began, model

    cold, _ = timed(1)
    one = min(timed(1)[0], timed(1)[0])
    whole, model = timed(rule.max_epochs)
    epoch = (whole - one) / (rule.max_epochs - 1)
    predicted = model.predict_quantiles(problem.X[held_out])
    loss = pinball(problem.y[held_out], problem.cap[held_out], predicted, rule.quantiles)
    return {
        "epoch_seconds": [epoch],
        "end_to_end_seconds": whole,
        "warm_up_seconds": cold,
        "losses": [loss],
    }


def plain(rule: Rule, problems: list[Problem]) -> dict[str, Any]:
    """Uncensored linear quantiles, all at once; the loss is that of the rows fitted."""
    m = estimator(rule, schedule="cosine")
    stated_problems = [
        {"X": p.X.astype(float), "y": p.y.astype(float), "random_state": p.seed} for p in problems
    ]
    fit_many(m, stated_problems[:4])
    began = time.perf_counter()
    models = fit_many(m, stated_problems)
    seconds = time.perf_counter() - began
    losses = [pinball(p.y, p.cap, f.predict_quantiles(p.X), rule.quantiles) for f, p in zip(models, problems)]
    return {"seconds": seconds, "losses": losses}
