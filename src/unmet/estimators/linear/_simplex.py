"""Exact linear programmes behind weighted quantile regression, many at once, from a known vertex."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Breakpoints that a line search passes one by one before it sorts the rest.
_ONE_BY_ONE = 4
# A vertex is best when no share leaves its bounds by more than this part of all weights.
_TOLERANCE = 1e-11
# A row that moves slower than this part of the fastest does not move: it would make the basis singular.
_FLAT = 1e-10
# Steps after which everything is computed afresh, so that rounding does not add up.
_FRESH = 50


@dataclass
class Vertices:
    """Where each of R programmes stands: the rows it fits exactly, its coefficients and its residuals."""

    basis: NDArray[np.intp]  # (R, p)
    coefficients: Floats  # (R, p)
    residuals: Floats  # (R, n), exactly 0 on the basis
    shares: Floats  # (R, p): dual values of the basis, between 0 and `upper`
    bounded: NDArray[np.bool_]  # (R,): False where the programme has no finite solution


def first_basis(X: Floats) -> NDArray[np.intp]:
    """Rows of X that are well apart: p rows that determine the coefficients, shape (p,)."""
    from scipy.linalg import qr

    return np.sort(qr(X.T, mode="r", pivoting=True)[1][: X.shape[1]])


def solve(X: Floats, y: Floats, upper: Floats, target: Floats, basis: NDArray[np.intp]) -> Vertices:
    """Minimise b't + Σᵢ uᵢ (yᵢ − xᵢ'b)⁺ over b, for R choices of weights u and targets t at once.

    The dual programme is max y'a with X'a = t, 0 ≤ a ≤ u; with t = (1 − θ) X'u it is quantile regression at
    level θ. Each step leaves a vertex along the edge with the steepest descent and passes all breakpoints up
    to the lowest point of that edge, which is the dual simplex method with bounds, or Barrodale and Roberts'
    (1974) method. A basis that solves a neighbouring programme makes a good start: all steps are descents.

    Parameters
    ----------
    X : array (n, p) of full column rank
    y : array (n,), in general position: no p + 1 rows on one hyperplane
    upper : array (R, n), not negative
    target : array (R, p)
    basis : array (R, p) of row numbers that determine the coefficients
    """
    total = upper.sum(axis=1)
    found = Vertices(
        basis.copy(),
        np.empty_like(target),
        np.empty_like(upper),
        np.empty_like(target),
        np.ones(len(basis), bool),
    )
    who = np.arange(len(basis))  # the programmes that still move; all that follows belongs to them
    basis = basis.copy()
    inverse, coefficients, residuals, missing = _stand(X, y, upper, target, basis)
    for step in range(1, 200 * (len(y) + 10)):
        share = np.einsum("rij,ri->rj", inverse, missing)
        excess = np.maximum(-share, share - np.take_along_axis(upper, basis, axis=1))
        steepness = excess / np.sqrt(np.square(inverse).sum(axis=1))
        leaving = steepness.argmax(axis=1)[:, None]
        gain = np.take_along_axis(excess, leaving, axis=1)[:, 0]
        sign = np.where(np.take_along_axis(share, leaving, axis=1) < 0, 1.0, -1.0)
        edge = sign * np.take_along_axis(inverse, leaving[:, None], axis=2)[:, :, 0]
        rates = edge @ X.T
        np.put_along_axis(rates, basis, 0.0, axis=1)
        rates[np.abs(rates) < _FLAT * np.abs(rates).max(axis=1, keepdims=True)] = 0.0
        entering, length = _lowest(residuals, rates, upper, gain)
        solved = gain <= _TOLERANCE * total
        endless = ~solved & (entering < 0)
        done = solved | endless
        if done.any():
            ended = who[done]
            found.basis[ended], found.coefficients[ended] = basis[done], coefficients[done]
            found.residuals[ended], found.shares[ended] = residuals[done], share[done]
            found.bounded[who[endless]] = False
            going = ~done
            who, basis, inverse, coefficients = who[going], basis[going], inverse[going], coefficients[going]
            residuals, missing, upper, target = residuals[going], missing[going], upper[going], target[going]
            leaving, sign, edge, rates = leaving[going], sign[going], edge[going], rates[going]
            entering, length, total = entering[going], length[going], total[going]
            if not len(who):
                return found
        above = residuals > 0
        residuals -= length[:, None] * rates
        np.put_along_axis(
            residuals, np.take_along_axis(basis, leaving, axis=1), -sign * length[:, None], axis=1
        )
        np.put_along_axis(residuals, entering[:, None], 0.0, axis=1)
        now = residuals > 0
        missing += ((above.view(np.int8) - now.view(np.int8)) * upper) @ X
        coefficients += length[:, None] * edge
        row = np.einsum("rj,rjk->rk", X[entering], inverse)
        column = np.take_along_axis(inverse, leaving[:, None], axis=2)[:, :, 0]
        column = column / np.take_along_axis(row, leaving, axis=1)
        np.put_along_axis(row, leaving, np.take_along_axis(row, leaving, axis=1) - 1.0, axis=1)
        inverse -= column[:, :, None] * row[:, None, :]
        np.put_along_axis(basis, leaving, entering[:, None], axis=1)
        if step % _FRESH == 0:
            inverse, coefficients, residuals, missing = _stand(X, y, upper, target, basis)
    raise ArithmeticError("the linear programme did not end: X is too close to collinear; drop columns")


def _stand(X: Floats, y: Floats, upper: Floats, target: Floats, basis: NDArray[np.intp]) -> tuple[Any, ...]:
    """Inverse, coefficients, residuals and the part of the target that the basis has to bring."""
    inverse = np.linalg.inv(X[basis])
    coefficients = np.einsum("rij,rj->ri", inverse, y[basis])
    residuals = y - coefficients @ X.T
    np.put_along_axis(residuals, basis, 0.0, axis=1)
    missing = target - ((residuals > 0) * upper) @ X
    return inverse, coefficients, residuals, missing


def _lowest(residuals: Floats, rates: Floats, upper: Floats, gain: Floats) -> tuple[NDArray[np.intp], Floats]:
    """The row met at the lowest point of each edge, −1 if it falls for ever, and the way there.

    Residual i falls at rate gᵢ. Where it meets zero, the slope rises by uᵢ|gᵢ|; it starts at −gain.
    """
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ways = residuals / rates
    ways[~((residuals * rates > 0) & (upper > 0))] = np.inf
    runs = np.arange(len(ways))
    entering, length = np.full(len(ways), -1), np.zeros(len(ways))
    slope = -gain
    open_ = runs
    for _ in range(_ONE_BY_ONE):
        nearest = ways[open_].argmin(axis=1)
        way = ways[open_, nearest]
        slope[open_] += upper[open_, nearest] * np.abs(rates[open_, nearest])
        here = np.isfinite(way) & (slope[open_] >= 0)
        entering[open_[here]], length[open_[here]] = nearest[here], way[here]
        ways[open_, nearest] = np.inf
        open_ = open_[np.isfinite(way) & ~here]
        if not len(open_):
            return entering, length
    order = ways[open_].argsort(axis=1)
    jumps = np.where(np.isfinite(ways[open_]), upper[open_] * np.abs(rates[open_]), 0.0)
    climb = slope[open_, None] + np.take_along_axis(jumps, order, axis=1).cumsum(axis=1)
    first = (climb >= 0).argmax(axis=1)
    nearest = order[np.arange(len(open_)), first]
    way = ways[open_, nearest]
    here = np.isfinite(way) & (climb[np.arange(len(open_)), first] >= 0)
    entering[open_[here]], length[open_[here]] = nearest[here], way[here]
    return entering, length
