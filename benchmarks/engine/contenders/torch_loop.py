"""PyTorch: one network after the other, in a loop with as little overhead as eager PyTorch allows."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

from benchmarks.engine.config import Rule
from benchmarks.engine.problems import Problem, pinball
from benchmarks.engine.starts import draw

torch.set_num_threads(1)


def versions() -> dict[str, str]:
    return {"torch": torch.__version__}


class LastStep(torch.nn.Module):
    """An LSTM over the columns of X, oldest first, and a linear layer on its last hidden state."""

    def __init__(self, units: int, outputs: int) -> None:
        super().__init__()
        self.lstm = torch.nn.LSTM(1, units)
        self.head = torch.nn.Linear(units, outputs)

    def forward(self, X: torch.Tensor) -> torch.Tensor:
        _, (hidden, _) = self.lstm(X)
        return self.head(hidden[0])


def build(rule: Rule, columns: int) -> torch.nn.Module:
    outputs = len(rule.quantiles)
    if rule.network == "linear":
        return torch.nn.Linear(columns, outputs)
    if rule.network == "lstm":
        model = LastStep(rule.units, outputs)
        # PyTorch keeps two biases per gate, which only ever act as their sum: train one, as the others do.
        model.lstm.bias_hh_l0.requires_grad_(False)
        return model
    layers: list[torch.nn.Module] = []
    for width in rule.hidden:
        layers += [torch.nn.Linear(columns, width), torch.nn.ReLU()]
        columns = width
    return torch.nn.Sequential(*layers, torch.nn.Linear(columns, outputs))


def start(model: torch.nn.Module, seed: int, initialiser: str) -> None:
    """Weights as the rule says, biases zero."""
    with torch.no_grad():
        for number, parameter in enumerate(model.parameters()):
            parameter.copy_(torch.from_numpy(draw(tuple(parameter.shape), [seed, number], initialiser)))


def tensors(rule: Rule, rows: tuple[np.ndarray, ...]) -> tuple[torch.Tensor, ...]:
    X, y, cap = (torch.from_numpy(np.ascontiguousarray(part)) for part in rows)
    if rule.network == "lstm":
        X = X.T.contiguous()[:, :, None]
    return X, y[:, None], cap[:, None]


class Loss:
    """Censored pinball loss; θ and θ − 1 are made once."""

    def __init__(self, quantiles: tuple[float, ...]) -> None:
        self.high = torch.tensor(quantiles)
        self.low = self.high - 1

    def __call__(self, y: torch.Tensor, cap: torch.Tensor, predicted: torch.Tensor) -> torch.Tensor:
        residual = y - torch.minimum(cap, predicted)
        return torch.maximum(self.high * residual, self.low * residual).mean()


def stepper(rule: Rule, model: torch.nn.Module, loss: Loss) -> Any:
    """One update on a batch: gradients of loss and penalty, clipping by the global norm, Adam.

    Written for speed: of the ways that were timed (fused, foreach and single-tensor Adam; the penalty in the
    loss or in the gradient; the library's clipping or this one) this was the fastest, by about a fifth.
    """
    trained = [p for p in model.parameters() if p.requires_grad]
    weights = [p for p in trained if p.ndim > 1]
    adam = torch.optim.Adam(trained, lr=rule.learning_rate, fused=True)

    def step(X: torch.Tensor, y: torch.Tensor, cap: torch.Tensor) -> None:
        adam.zero_grad()
        loss(y, cap, model(X)).backward()
        gradients = [p.grad for p in trained]
        with torch.no_grad():
            if rule.l2:
                for weight in weights:
                    weight.grad.add_(weight, alpha=2 * rule.l2)
            norm = torch.linalg.vector_norm(torch.stack(torch._foreach_norm(gradients))).item()
            if norm > rule.clip_norm:
                torch._foreach_mul_(gradients, rule.clip_norm / norm)
        adam.step()

    return step


def train(rule: Rule, problem: Problem) -> tuple[float, int]:
    """Full batch with early stopping; the best validation loss and the epochs run."""
    training, validation = (tensors(rule, part) for part in problem.split())
    model, loss = build(rule, problem.X.shape[1]), Loss(rule.quantiles)
    start(model, problem.seed, rule.initialiser)
    step = stepper(rule, model, loss)
    trained = [p for p in model.parameters() if p.requires_grad]
    X, y, cap = validation
    best, best_weights, waited, epochs = float("inf"), [], 0, 0
    while epochs < rule.max_epochs and waited < rule.patience:
        epochs += 1
        step(*training)
        with torch.inference_mode():
            value = loss(y, cap, model(X)).item()
        if value < best:
            best, waited = value, 0
            best_weights = [p.detach().clone() for p in trained]
        else:
            waited += 1
    with torch.no_grad():
        for parameter, kept in zip(trained, best_weights):
            parameter.copy_(kept)
        predicted = model(X).numpy()
    return pinball(y[:, 0].numpy(), cap[:, 0].numpy(), predicted, rule.quantiles), epochs


def many(rule: Rule, problems: list[Problem]) -> dict[str, Any]:
    """Train the problems one by one; the first, untimed, one takes the set-up costs."""
    train(rule, problems[0])
    began = time.perf_counter()
    results = [train(rule, problem) for problem in problems]
    seconds = time.perf_counter() - began
    return {"seconds": seconds, "losses": [r[0] for r in results], "epochs": [r[1] for r in results]}


def batches(rows: int, size: int) -> Iterator[torch.Tensor]:
    order = torch.randperm(rows)
    for first in range(0, rows, size):
        yield order[first : first + size]


def table(rule: Rule, problem: Problem) -> dict[str, Any]:
    """Mini-batches over one large table held in memory; seconds of each epoch and the held-out loss."""
    torch.manual_seed(problem.seed)
    began = time.perf_counter()
    (X, y, cap), held_out = (tensors(rule, part) for part in problem.split())
    model, loss = build(rule, problem.X.shape[1]), Loss(rule.quantiles)
    start(model, problem.seed, rule.initialiser)
    step = stepper(rule, model, loss)
    epochs = []
    for _ in range(rule.max_epochs):
        epoch_began = time.perf_counter()
        for chosen in batches(len(X), rule.batch_size):
            step(*(part.index_select(0, chosen) for part in (X, y, cap)))
        epochs.append(time.perf_counter() - epoch_began)
    whole = time.perf_counter() - began
    with torch.inference_mode():
        predicted = model(held_out[0]).numpy()
    reached = pinball(held_out[1][:, 0].numpy(), held_out[2][:, 0].numpy(), predicted, rule.quantiles)
    return {"epoch_seconds": epochs, "end_to_end_seconds": whole, "losses": [reached]}
