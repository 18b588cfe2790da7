"""
Calibration in pictures
=======================

A 90% interval should hold nine values in ten. With a censored target you cannot simply count: where a row
was cut off, you do not know the value. This tutorial shows what can be checked all the same, and puts
conformal intervals of MAPIE beside ours.

You need ``pip install 'unmet[plots]' mapie``.
"""

# %%
# Two models, one right and one too sure
# --------------------------------------

import matplotlib.pyplot as plt
import numpy as np

from unmet import CensoredQuantileRegressor, TobitRegressor

rng = np.random.default_rng(5)
x = rng.uniform(-1, 1, 3000)
wanted = 10 + 4 * x + (1.5 + x) * rng.normal(size=3000)
cap = rng.uniform(8, 18, 3000)
y = np.minimum(wanted, cap)
censored = wanted >= cap
X = x[:, None]
fit_rows, new = np.arange(2000), np.arange(2000, 3000)
levels = np.arange(1, 20) / 20
good = CensoredQuantileRegressor(quantiles=tuple(levels), random_state=0)
good.fit(X[fit_rows], y[fit_rows], threshold=cap[fit_rows])
sure = TobitRegressor(scale=1.0, quantiles=tuple(levels), random_state=0)
sure.fit(X[fit_rows], y[fit_rows], threshold=cap[fit_rows])
print(f"{censored.mean():.0%} of the rows are cut off")

# %%
# Counting is misleading
# ----------------------
#
# The share of *observed* values below each predicted quantile should not be the level: cut-off rows pull it
# up.

figure, ax = plt.subplots(figsize=(4.6, 4.2), layout="constrained")
ax.plot([0, 1], [0, 1], color="0.6", linewidth=1)
quantiles = good.predict_quantiles(X[new])
ax.plot(
    levels,
    (y[new][:, None] <= quantiles).mean(axis=0),
    "o-",
    color="#d55e00",
    label="counted on what was seen",
)
ax.plot(levels, (wanted[new][:, None] <= quantiles).mean(axis=0), "s-", color="#0072b2", label="on the truth")
ax.set(xlabel="level", ylabel="share below the predicted quantile")
ax.legend(frameon=False)
plt.show()

# %%
# D-calibration
# -------------
#
# Where does each observation fall in its predicted distribution? A cut-off row lies somewhere above: its
# weight is spread over the rest. The ten shares should be equal, and the p-value of a test says whether
# they are.

from unmet.metrics import calibration_shares, d_calibration, predicted_levels

figure, axes = plt.subplots(1, 2, figsize=(8, 3.2), sharey=True, layout="constrained")
for ax, (name, model) in zip(axes, {"quantiles": good, "Tobit with σ = 1": sure}.items()):
    at = predicted_levels(y[new], model.predict_quantiles(X[new]), levels)
    shares = calibration_shares(at, censored[new], bins=10)
    ax.bar(np.arange(10) / 10 + 0.05, shares, 0.09, color="#0072b2")
    ax.axhline(0.1, color="0.4", linewidth=1)
    ax.set(title=f"{name}: p = {d_calibration(at, censored[new]):.2g}", xlabel="level")
axes[0].set_ylabel("share of rows")
plt.show()

# %%
# The model that is too sure has too much weight at both ends, and the test rejects it.
#
# Coverage by Kaplan and Meier
# ----------------------------
#
# Kaplan and Meier's curve of the levels estimates how often *latent* values lie below each level. It should
# follow the diagonal. Where nobody was ever seen, the curve ends: the highest levels are not identified.

from unmet.censoring import kaplan_meier

figure, ax = plt.subplots(figsize=(4.6, 4.2), layout="constrained")
ax.plot([0, 1], [0, 1], color="0.6", linewidth=1)
for (name, model), colour in zip(
    {"quantiles": good, "Tobit with σ = 1": sure}.items(), ("#0072b2", "#d55e00")
):
    at = predicted_levels(y[new], model.predict_quantiles(X[new]), levels)
    curve = kaplan_meier(at, censored[new])
    ax.step(curve.points, curve.reached, where="post", color=colour, label=name)
ax.set(xlabel="level", ylabel="share of latent values below")
ax.legend(frameon=False)
plt.show()

# %%
# MAPIE side by side
# ------------------
#
# Conformal prediction (`MAPIE <https://mapie.readthedocs.io>`__) widens the intervals of any model until
# they hold their share *of what was recorded*. That is the right promise for recorded values, and the wrong
# one for demand: it does not know that a record was cut off.

from mapie.regression import SplitConformalRegressor
from sklearn.linear_model import LinearRegression

half = fit_rows[:1000]
rest = fit_rows[1000:]
conformal = SplitConformalRegressor(
    LinearRegression().fit(X[half], y[half]), confidence_level=0.9, prefit=True
)
conformal.conformalize(X[rest], y[rest])
_, interval = conformal.predict_interval(X[new])
low, high = interval[:, 0, 0], interval[:, 1, 0]
ours_low, ours_high = good.predict_interval(X[new], 0.9).T
print(f"{'':28}{'recorded':>10}{'wanted':>10}{'width':>8}")
for name, lo, hi in (("MAPIE, plain regression", low, high), ("unmet", ours_low, ours_high)):
    inside = [np.mean((values[new] >= lo) & (values[new] <= hi)) for values in (y, wanted)]
    print(f"{name:28}{inside[0]:10.1%}{inside[1]:10.1%}{np.mean(hi - lo):8.1f}")

# %%
# MAPIE keeps its promise for records. For what people wanted it misses rows on the upper side, the ones
# that matter for stock:

busy = x[new] > 0.5
print("busy days above the interval (5% would be right)")
for name, hi in (("MAPIE", high), ("unmet", ours_high)):
    print(f"{name}: {np.mean(wanted[new][busy] > hi[busy]):.1%}")

# %%
# Use conformal intervals where nothing is cut off. Where something is, calibrate with what the cut-off rows
# can still tell; for forecasts of demand :doc:`/explanation/calibration` describes how ``unmet`` does it.
