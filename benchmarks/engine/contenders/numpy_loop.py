"""NumPy: a plain Adam loop for linear networks with gradients by hand, one network after the other."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from benchmarks.engine.config import Rule
from benchmarks.engine.problems import Problem, pinball
from benchmarks.engine.starts import draw


def versions() -> dict[str, str]:
    return {"numpy": np.__version__}


def train(rule: Rule, problem: Problem) -> tuple[float, int]:
    """Fit one problem in float32 with gradients written by hand; loss on the validation rows, epochs."""
    if rule.network != "linear" or rule.patience is None:
        raise ValueError("this loop is for linear networks with early stopping")
    (X, y, cap), (Xv, yv, capv) = ((_columns(X), y, cap) for X, y, cap in problem.split())
    theta = np.asarray(rule.quantiles, np.float32)[:, None]
    W = np.zeros((len(theta), len(X)), np.float32)
    W[:, :-1] = draw((problem.X.shape[1], len(theta)), [problem.seed, 0], rule.initialiser).T
    ridge = np.full(W.shape, 2 * rule.l2, np.float32)
    ridge[:, -1] = 0  # no penalty on biases
    m, v = np.zeros_like(W), np.zeros_like(W)
    best, best_loss, waited, epoch = W, np.inf, 0, 0
    XT, low = np.ascontiguousarray(X.T) / np.float32(len(y) * len(theta)), theta - 1
    while epoch < rule.max_epochs and waited < rule.patience:
        epoch += 1
        q = W @ X
        # d loss / d q: (q > y) − θ below the cap, nothing beyond it.
        slope = ((q > y) - theta) * (q < cap)
        gradient = slope @ XT + ridge * W
        norm = np.linalg.norm(gradient)
        if norm > rule.clip_norm:
            gradient *= rule.clip_norm / norm
        m *= 0.9
        m += 0.1 * gradient
        v *= 0.999
        v += 0.001 * np.square(gradient)
        rate = rule.learning_rate / (1 - 0.9**epoch)
        W = W - rate * m / (np.sqrt(v / (1 - 0.999**epoch)) + 1e-8)
        residual = yv - np.minimum(capv, W @ Xv)
        loss = np.maximum(theta * residual, low * residual).mean()
        if loss < best_loss:
            best, best_loss, waited = W, loss, 0
        else:
            waited += 1
    return pinball(yv, capv, (best @ Xv).T, rule.quantiles), epoch


def _columns(X: np.ndarray) -> np.ndarray:
    """Rows last, so that every operation runs along them; a row of ones for the intercept."""
    return np.ascontiguousarray(np.column_stack([X, np.ones(len(X), np.float32)]).T)


def many(rule: Rule, problems: list[Problem]) -> dict[str, Any]:
    """Fit the problems one by one."""
    train(rule, problems[0])
    began = time.perf_counter()
    results = [train(rule, problem) for problem in problems]
    seconds = time.perf_counter() - began
    return {"seconds": seconds, "losses": [r[0] for r in results], "epochs": [r[1] for r in results]}
