"""Boosting of several increasing quantiles at once, and LightGBM's trees as arrays."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from unmet.estimators.trees._arrays import Floats, Trees, join
from unmet.estimators.trees._objective import curvature, slopes
from unmet.estimators.trees._units import has_values
from unmet.losses import doubly_censored_tilted_loss, portnoy_weights, tilted_loss

# Least slope of a step in the curvature, so that a leaf never jumps.
_LEAST = 0.05
# A score whose softplus is zero.
_NO_STEP = -800.0
# With fewer rows, none are held out.
_FEWEST = 50
# If held-out rows ask for more than this part of the rounds, trees are too small a step: try a faster rate.
_RUNS_OUT, _FASTER, _FASTEST = 0.9, 4.0, 0.5


def middle(levels: tuple[float, ...]) -> int:
    """Return the position of the level nearest the median."""
    return int(np.argmin(np.abs(np.asarray(levels) - 0.5)))


def increasing(raw: Floats, levels: tuple[float, ...]) -> Floats:
    """Return quantiles from raw scores (n, K): the middle one, and softplus steps up and down from it."""
    at = middle(levels)
    steps = np.logaddexp(0.0, raw)
    found = np.empty_like(raw)
    found[:, at] = raw[:, at]
    for number in range(at + 1, raw.shape[1]):
        found[:, number] = found[:, number - 1] + steps[:, number]
    for number in range(at - 1, -1, -1):
        found[:, number] = found[:, number + 1] - steps[:, number]
    return found


def scores(quantiles: Floats, levels: tuple[float, ...]) -> Floats:
    """Return finite raw scores (K,) that `increasing` turns into these quantiles (K,)."""
    at = middle(levels)
    steps = np.abs(np.diff(quantiles))
    with np.errstate(divide="ignore"):
        raw = np.maximum(steps + np.log(-np.expm1(-steps)), _NO_STEP)
    return np.concatenate([raw[:at], quantiles[at : at + 1], raw[at:]])


def chain(raw: Floats, gradient: Floats, bend: Floats, levels: tuple[float, ...]) -> tuple[Floats, Floats]:
    """Return gradient and curvature along the raw scores from those along the quantiles, all (n, K)."""
    at = middle(levels)
    rate = 1 / (1 + np.exp(-np.clip(raw, -30, 30)))
    first, second = np.empty_like(raw), np.empty_like(raw)
    first[:, at], second[:, at] = gradient.sum(axis=1), bend.sum(axis=1)
    for number in range(raw.shape[1]):
        if number == at:
            continue
        part = slice(number, None) if number > at else slice(None, number + 1)
        sign = 1.0 if number > at else -1.0
        first[:, number] = sign * rate[:, number] * gradient[:, part].sum(axis=1)
        # One rate for all rows: LightGBM counts the rows of a leaf by their curvature.
        typical = max(float(np.sqrt(np.square(rate[:, number]).mean())), _LEAST)
        second[:, number] = typical**2 * bend[:, part].sum(axis=1)
    return first, second


def boost(
    X: Floats,
    y: Floats,
    limits: tuple[Floats, Floats],
    below: Floats | None,
    share: Floats,
    levels: tuple[float, ...],
    model: Any,
    seed: int,
) -> tuple[Trees, Floats, tuple[float, ...], float, float]:
    """Return trees, starting scores, levels, and the center and scale of y.

    `limits` are the floor and cap of each row; rows with flags (`below`) are right-censored. `model` is the
    booster, with checked parameters. Held-out rows first choose the number of rounds, and whether to learn
    faster; then all rows train for that many.
    """
    center = float(np.average(y, weights=share))
    scale = float(np.sqrt(np.average(np.square(y - center), weights=share)))
    if scale <= 1e-12 * abs(center):
        scale = 0.0
    floor, cap = ((limit - center) / (scale or 1.0) for limit in limits)
    rows = Rows(X, (y - center) / (scale or 1.0), (floor, cap), below, share)
    rate, rounds = model.learning_rate, model.n_estimators
    if model.validation_fraction is not None and len(y) >= _FEWEST:
        held = np.zeros(len(y), bool)
        count = max(1, round(model.validation_fraction * len(y)))
        held[np.random.default_rng(seed).permutation(len(y))[:count]] = True
        rate, rounds = _choose(rows.take(~held), rows.take(held), levels, model, seed)
    trees, start = _train(rows, levels, model, seed, rate, rounds)
    return trees, start, levels, center, scale


def _choose(
    rows: "Rows", held: "Rows", levels: tuple[float, ...], model: Any, seed: int
) -> tuple[float, int]:
    """Return the learning rate and the number of rounds with the lowest loss of held-out rows.

    Many rows can ask for more rounds than there are. A faster rate is tried then, and kept if it is better.
    """
    best, rate = (np.inf, model.learning_rate, 1), model.learning_rate
    while True:
        losses = _losses(*_train(rows, levels, model, seed, rate, model.n_estimators), held, levels)
        rounds = 1 + int(np.argmin(losses))
        if min(losses) >= best[0]:
            break
        best = min(losses), rate, rounds
        if rounds <= _RUNS_OUT * model.n_estimators or rate * _FASTER > _FASTEST:
            break
        rate *= _FASTER
    return best[1:]


def _losses(trees: Trees, start: Floats, rows: "Rows", levels: tuple[float, ...]) -> list[float]:
    """Return the censored loss of these rows after each round."""
    thetas = np.asarray(levels)
    floor, cap = (limit[:, None] for limit in rows.limits)
    far = float(rows.y.max()) + 10.0
    losses = []
    leaves = trees.value[trees.leaves(rows.X)].reshape(len(rows.y), -1, len(levels))
    raw = np.tile(start, (len(rows.y), 1))
    for change in np.moveaxis(leaves, 1, 0):
        raw = raw + change
        found = increasing(raw, levels)
        if rows.below is None:
            loss = doubly_censored_tilted_loss(rows.y[:, None], found, thetas, floor, cap)
        else:
            weight = portnoy_weights(rows.below[:, None], thetas)
            loss = weight * tilted_loss(rows.y[:, None], found, thetas)
            loss = loss + (1 - weight) * tilted_loss(far, found, thetas)
        losses.append(float(rows.share @ loss.mean(axis=1)))
    return losses


@dataclass(frozen=True)
class Rows:
    """Censored rows in units of the spread of y."""

    X: Floats
    y: Floats
    limits: tuple[Floats, Floats]  # floor and cap of each row, infinite where there is none
    below: Floats | None  # F̂(y | x) of censored rows and 1 in others; None where caps are known
    share: Floats

    def take(self, index: Any) -> "Rows":
        below = None if self.below is None else self.below[index]
        floor, cap = self.limits
        return Rows(self.X[index], self.y[index], (floor[index], cap[index]), below, self.share[index])


def _train(
    rows: Rows, levels: tuple[float, ...], model: Any, seed: int, rate: float, rounds: int
) -> tuple[Trees, Floats]:
    """Return the trees of that many rounds, and the scores before the first."""
    try:
        import lightgbm
    except ImportError:
        raise ImportError(
            'CensoredQuantileBooster needs LightGBM: pip install "unmet[boosting]" and fit again'
        ) from None
    known = getattr(model, "categories_", None)
    coded = [] if known is None else known.coded
    thetas, size, share = np.asarray(levels), len(rows.y), rows.share
    start = _start(rows.y, share, levels)
    if not has_values(rows.X):
        return join([_leaf(0.0)] * (rounds * len(levels))), start
    bend = np.tile(curvature(thetas, 1.0), (size, 1)) * share[:, None]

    shifts: list[Floats] = []  # (K,) for each round

    def objective(predictions: Any, data: Any) -> tuple[Floats, Floats]:
        raw = np.reshape(predictions, (size, -1)) + sum(shifts)
        gradient = slopes(rows.y, increasing(raw, levels), thetas, rows.limits, rows.below) * share[:, None]
        first, second = chain(raw, gradient, bend, levels)
        # A quantile beyond all rows has one slope everywhere: no split helps, and a tree would stay a stump.
        beyond = np.abs(first.sum(axis=0)) >= (1 - 1e-9) * np.abs(first).sum(axis=0)
        step = -rate * first.sum(axis=0) / (second.sum(axis=0) + model.l2)
        shifts.append(np.where(beyond, step, 0.0))
        return (first, second) if len(levels) > 1 else (first[:, 0], second[:, 0])

    parameters = {
        "objective": objective,
        "num_class": len(levels),
        "learning_rate": rate,
        "num_leaves": model.num_leaves,
        "min_data_in_leaf": min(model.min_child_samples, max(1, size // 3)),
        "lambda_l2": model.l2,
        "feature_fraction": model.column_share,
        "seed": seed % 2**31,
        "deterministic": True,
        "force_row_wise": True,
        "num_threads": 1,
        "min_data_in_bin": 1,
        "min_data_per_group": model.min_child_samples,
        "feature_pre_filter": False,
        "verbosity": -1,
    }
    scores = np.tile(start, (size, 1))
    scores = scores if len(levels) > 1 else scores[:, 0]
    data = lightgbm.Dataset(rows.X, label=rows.y, init_score=scores, categorical_feature=coded)
    dump = lightgbm.train(parameters, data, num_boost_round=rounds).dump_model()["tree_info"]
    moved = np.concatenate(shifts)[: len(dump)]
    grown = [_plain(tree["tree_structure"], shift) for tree, shift in zip(dump, moved)]
    grown += [_leaf(0.0)] * (rounds * len(levels) - len(grown))  # LightGBM stops where no split helps
    return join(grown), start


def _start(values: Floats, share: Floats, levels: tuple[float, ...]) -> Floats:
    """Return raw scores that give the quantiles of all observed values."""
    order = np.argsort(values)
    reached = np.cumsum(share[order]) / share.sum()
    place = np.minimum(np.searchsorted(reached, levels), len(values) - 1)
    found = values[order][place]
    at = middle(levels)
    steps = np.maximum(np.diff(found), 0.05)
    raw = np.log(np.expm1(np.concatenate([steps[:at], [1.0], steps[at:]])))
    raw[at] = found[at]
    return raw


def _leaf(value: float) -> Trees:
    zero = np.zeros(1, np.int32)
    return Trees(np.full(1, -1, np.int32), np.zeros(1), zero, zero, np.array([value]), zero)


def _plain(root: dict[str, Any], shift: float = 0.0) -> Trees:
    """Return one of LightGBM's trees as arrays, parents before their children, with `shift` on all leaves.

    A split of categories becomes a chain of splits between neighbouring numbers of categories. Its nodes
    share their children, which a walk from the root does not notice.
    """
    feature: list[int] = []
    threshold: list[float] = []
    value: list[float] = []
    child: tuple[list[int], list[int]] = ([], [])
    waiting: list[tuple[dict[str, Any], list[tuple[int, int]]]] = [(root, [])]
    while waiting:
        node, parents = waiting.pop()
        for parent, side in parents:
            child[side][parent] = len(feature)
        inner = "split_feature" in node
        ends = _ends(node) if inner else [(0.0, 0, 0)]
        below: tuple[list[tuple[int, int]], list[tuple[int, int]]] = ([], [])
        for number, (end, low, high) in enumerate(ends):
            here = len(feature)
            feature.append(int(node["split_feature"]) if inner else -1)
            threshold.append(end)
            value.append(0.0 if inner else float(node["leaf_value"]) + shift)
            last = number == len(ends) - 1
            child[0].append(0)
            child[1].append(0 if last else here + 1)
            below[low].append((here, 0))
            if last:
                below[high].append((here, 1))
        if inner:
            waiting.append((node["right_child"], below[1]))
            waiting.append((node["left_child"], below[0]))
    kinds = (np.int32, np.float64, np.int32, np.int32, np.float64)
    parts = [np.asarray(part, kind) for part, kind in zip((feature, threshold, *child, value), kinds)]
    return Trees(parts[0], parts[1], parts[2], parts[3], parts[4], np.zeros(1, np.int32))


def _ends(node: dict[str, Any]) -> list[tuple[float, int, int]]:
    """Return where a split ends: a value, and the child (0 left, 1 right) up to it and beyond it."""
    if node["decision_type"] != "==":
        return [(float(node["threshold"]), 0, 1)]
    left = {int(code) for code in str(node["threshold"]).split("||")}
    sides = [0 if code in left else 1 for code in range(max(left) + 2)]
    return [(k + 0.5, sides[k], sides[k + 1]) for k in range(len(sides) - 1) if sides[k] != sides[k + 1]]
