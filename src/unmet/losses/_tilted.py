"""The tilted (pinball) loss: plain, Huber-smoothed, and censored at a known cap."""

from unmet.censoring import Side
from unmet.losses._arrays import Array, check_shapes, check_side, namespace


def tilted_loss(y: Array, quantile: Array, theta: Array) -> Array:
    """Return the tilted loss ρ_θ(y − q) = max(θ r, (θ − 1) r) with r = y − q.

    Parameters
    ----------
    y, quantile, theta
        Observed value, estimated quantile and its level in (0, 1). They broadcast.

    Returns
    -------
    array
        One loss per element, never reduced.

    References
    ----------
    Koenker & Bassett (1978), Regression quantiles, Econometrica 46.

    Examples
    --------
    >>> float(tilted_loss(3.0, 1.0, 0.75)), float(tilted_loss(1.0, 3.0, 0.75))
    (1.5, 0.5)
    """
    check_shapes(y=y, quantile=quantile, theta=theta)
    xp = namespace(y, quantile, theta)
    residual = y - quantile
    # Not a maximum: the gradient of one costs as much again, for the sake of ties.
    return xp.where(residual > 0, theta * residual, (theta - 1) * residual)


def smooth_tilted_loss(y: Array, quantile: Array, theta: Array, width: float) -> Array:
    """Return a tilted loss without a kink: θ h(r) for r > 0 and (1 − θ) h(r) for r ≤ 0, r = y − q.

    h is Huber's function of width w > 0: r² / (2w) for |r| ≤ w and |r| − w/2 beyond. The loss lies at most
    max(θ, 1 − θ)·w/2 below the tilted loss and tends to it as w → 0.

    References
    ----------
    Chen (2007), A finite smoothing algorithm for quantile regression, J. Comput. Graph. Stat. 16.
    Cannon (2011), Quantile regression neural networks, Computers & Geosciences 37.

    Examples
    --------
    >>> float(smooth_tilted_loss(3.0, 1.0, 0.75, 1.0)), float(smooth_tilted_loss(0.5, 0.0, 0.75, 1.0))
    (1.125, 0.09375)
    """
    if not width > 0:
        raise ValueError(f"width must be positive (use tilted_loss for width 0), got {width}")
    check_shapes(y=y, quantile=quantile, theta=theta)
    xp = namespace(y, quantile, theta)
    residual = y - quantile
    size = xp.abs(residual)
    # One expression for both pieces: no branch whose gradient could be NaN.
    inner = xp.minimum(size, width)
    huber = inner * (2 * size - inner) / (2 * width)
    return xp.where(residual > 0, theta * huber, (1 - theta) * huber)


def censored_tilted_loss(
    y: Array, quantile: Array, theta: Array, cap: Array, side: Side = "right", width: float = 0.0
) -> Array:
    """Return the tilted loss of what can be seen.

    It is ρ_θ(y − min(cap, q)) for the right side and ρ_θ(y − max(cap, q)) for the left: the paper's printed
    equation, Powell's estimator. A cap of +∞ (right) or −∞ (left) gives exactly the plain loss. A quantile
    beyond a finite cap gets no gradient.

    Parameters
    ----------
    y, quantile, theta, cap
        They broadcast. The cap of a row is y if the row is censored, otherwise its threshold.
    side
        "right" if values above the cap are unseen, "left" if those below it are.
    width
        0 for the tilted loss, otherwise the width of its smoothing.

    References
    ----------
    Powell (1986), Censored regression quantiles, J. Econometrics 32.

    Examples
    --------
    >>> float(censored_tilted_loss(1.0, 5.0, 0.5, 2.0)), float(censored_tilted_loss(1.0, 5.0, 0.5, 4.0))
    (0.5, 1.5)
    """
    check_shapes(y=y, quantile=quantile, theta=theta, cap=cap)
    return any_tilted_loss(y, hold_at_cap(quantile, cap, side), theta, width)


def doubly_censored_tilted_loss(
    y: Array, quantile: Array, theta: Array, floor: Array, cap: Array, width: float = 0.0
) -> Array:
    """Return the tilted loss of what can be seen between a floor and a cap: ρ_θ(y − min(cap, max(floor, q))).

    An infinite floor or cap leaves that side open. A quantile beyond either gets no gradient.

    Parameters
    ----------
    y, quantile, theta, floor, cap
        They broadcast. The floor of a row is y if the row is left-censored, its cap is y if it is
        right-censored; otherwise they are its known thresholds.
    width
        0 for the tilted loss, otherwise the width of its smoothing.

    References
    ----------
    Powell (1986), Censored regression quantiles, J. Econometrics 32.

    Examples
    --------
    >>> [float(doubly_censored_tilted_loss(1.0, q, 0.5, 0.0, 3.0)) for q in (-5.0, 2.0, 5.0)]
    [0.5, 0.5, 1.0]
    """
    check_shapes(y=y, quantile=quantile, theta=theta, floor=floor, cap=cap)
    held = hold_at_cap(hold_at_cap(quantile, floor, "left"), cap, "right")
    return any_tilted_loss(y, held, theta, width)


def hold_at_cap(quantile: Array, cap: Array, side: Side) -> Array:
    """Return the quantile of the observed variable: min(cap, q), or max(cap, q) for the left side."""
    check_side(side)
    xp = namespace(quantile, cap)
    free = quantile < cap if side == "right" else quantile > cap
    return xp.where(free, quantile, cap)


def any_tilted_loss(y: Array, quantile: Array, theta: Array, width: float) -> Array:
    """Return the tilted loss, smoothed if the width is positive."""
    if width == 0:
        return tilted_loss(y, quantile, theta)
    return smooth_tilted_loss(y, quantile, theta, width)
