"""`python -m benchmarks.space_time.diffusion`: our spill model beside a diffusion-aware Tobit model.

The rival follows Rodrigues (2025): what exceeds the stock of a place moves to its neighbours by a transition
matrix, then a Tobit likelihood. Latent demand is normal around f = exp(level + hour by kind of day + factors)
as rich as our rate, with a variance in proportion to f:

    f̃ᵢ = fᵢ + Σⱼ Tⱼᵢ (fⱼ − cⱼ)⁺,   Tⱼᵢ = share · exp(−dⱼᵢ / walk) / Σₖ exp(−dⱼₖ / walk),
    open rows N(y; f̃, σ² f̃), rows that ran out P(N > c),

c being what the place served before it ran out. Share, walk and σ are learned with the rates. With share 0 it
is a plain Tobit model; without censoring too, the unaware one.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from benchmarks.space_time.cities import Case, town
from unmet.forecasting._around import make_site
from unmet.forecasting._nearby import find_nearby
from unmet.forecasting._parametric import fit_parametric, look_back

_RANK, _STEPS, _RATE = 4, 400, 0.03
_REACH = 1000.0
FINAL = range(101, 111)


def fit_diffusion(case: Case, *, censored: bool, diffuses: bool, seed: int = 0) -> dict[str, Any]:
    """Return the rates (P, T), and the share and walk of the model fitted by Adam to all rows."""
    import jax
    import jax.numpy as jnp
    import optax
    from jax.scipy.stats import norm

    grid = case.grid
    site = make_site(grid.places, case.stations, "distance")
    metres = np.hypot(site.east[:, None] - site.east, site.north[:, None] - site.north)
    reachable = (metres < _REACH) & ~np.eye(len(metres), dtype=bool)
    cell = grid.calendar.cell
    y, known = grid.y.astype(np.float32), grid.known.astype(np.float32)
    flags = grid.censored if censored else np.zeros_like(grid.censored)
    rng = np.random.default_rng(seed)
    places, cells = len(y), int(cell.max()) + 1
    weights = {
        "level": np.log(np.maximum(y.mean(axis=1), 0.05)),
        "cell": np.zeros(cells),
        "loading": 0.1 * rng.standard_normal((places, _RANK)),
        "factor": 0.1 * rng.standard_normal((_RANK, cells)),
        "sigma": np.array(0.5),
        "share": np.array(0.0),
        "walk": np.array(np.log(300.0)),
    }
    weights = {name: jnp.asarray(values, jnp.float32) for name, values in weights.items()}

    def rates(w: Any) -> Any:
        return jnp.exp(w["level"][:, None] + w["cell"][cell] + (w["loading"] @ w["factor"])[:, cell])

    def cost(w: Any) -> Any:
        f = rates(w)
        mean = f
        if diffuses:
            pull = jnp.where(reachable, jnp.exp(-metres / jnp.exp(w["walk"])), 0.0)
            matrix = jax.nn.sigmoid(w["share"]) * pull / (pull.sum(axis=1, keepdims=True) + 1e-6)
            excess = jnp.where(flags, jnp.maximum(f - y, 0.0), 0.0)
            mean = f + matrix.T @ excess
        scale = jax.nn.softplus(w["sigma"]) * jnp.sqrt(mean + 0.1)
        # A normal variable stands for a count: it is cut at half a ride below.
        rows = jnp.where(flags, -norm.logsf((y - 0.5 - mean) / scale), -norm.logpdf(y, mean, scale))
        ridge = sum(jnp.sum(jnp.square(w[name])) for name in ("cell", "loading", "factor"))
        return (jnp.sum(rows * known) + 0.5 * ridge) / known.sum()

    adam = optax.adam(optax.cosine_decay_schedule(_RATE, _STEPS))

    @jax.jit
    def run(w: Any) -> Any:
        def step(_: Any, carry: Any) -> Any:
            w, state = carry
            change, state = adam.update(jax.grad(cost)(w), state)
            return optax.apply_updates(w, change), state

        return jax.lax.fori_loop(0, _STEPS, step, (w, adam.init(w)))[0]

    found = run(weights)
    share = 1 / (1 + np.exp(-float(found["share"]))) if diffuses else 0.0
    return {
        "rate": np.asarray(rates(found), np.float64),
        "share": share,
        "walk": float(np.exp(found["walk"])),
    }


def judge(case: Case, rate: np.ndarray) -> tuple[float, float, float]:
    """Return R² of rates over all rows, total / true total, and the same at places empty most often."""
    assert case.rate is not None
    truth = case.rate
    square = 1 - np.mean((rate - truth) ** 2) / truth.var()
    short = case.grid.censored.mean(axis=1)
    most = short >= np.quantile(short, 0.75)
    return float(square), float(rate.sum() / truth.sum()), float(rate[most].sum() / truth[most].sum())


def main() -> None:
    parser = argparse.ArgumentParser(description="Our spill model beside a diffusion-aware Tobit model.")
    parser.add_argument("--seeds", type=int, nargs="*", default=list(FINAL))
    found: dict[str, list[tuple[float, float, float]]] = {}
    for seed in parser.parse_args().seeds:
        case = town(seed, days=42)
        grid = case.grid
        position = {str(place): k for k, place in enumerate(case.stations["unique_id"])}
        order = [position[str(place)] for place in grid.places]
        near = find_nearby(case.stations["lat"][order], case.stations["lng"][order])
        results = {
            "unaware": fit_diffusion(case, censored=False, diffuses=False)["rate"],
            "Tobit": fit_diffusion(case, censored=True, diffuses=False)["rate"],
            "diffusion-aware Tobit": fit_diffusion(case, censored=True, diffuses=True)["rate"],
        }
        for name, where in (("ours without spill", None), ("ours with spill", near)):
            model = fit_parametric(grid, where)
            results[name] = look_back(model, grid, where).rate
        for name, rate in results.items():
            found.setdefault(name, []).append(judge(case, rate))
        print(f"town {seed}", {name: round(values[-1][0], 3) for name, values in found.items()}, flush=True)
    print(f"mean of {len(found['Tobit'])}: R² of rates, total / truth, the same at the emptiest quarter")
    for name, values in found.items():
        square, total, most = np.mean(values, axis=0)
        print(f"{name:24} {square:.3f}  {total:.3f}  {most:.3f}")


if __name__ == "__main__":
    main()
