"""
Chemistry: values below a detection limit
=========================================

An instrument reports "< 0.5" when a concentration is too small to measure. Half the limit, or zero, is
often written instead, and both bend the result. Here the value is censored from *below*: use
``side="left"``.

You need ``pip install 'unmet[plots]'`` and pandas.
"""

# %%
# A monitoring series
# -------------------
#
# 400 samples along a river. The concentration falls with the distance from a source. Two laboratories took
# part, with detection limits of 0.5 and 1.0 µg/l.

import matplotlib.pyplot as plt
import numpy as np

rng = np.random.default_rng(3)
distance = rng.uniform(0, 10, 400)
true = 1.4 - 0.4 * distance + rng.normal(0, 0.7, 400)  # log of the concentration
limit = np.log(rng.choice([0.5, 1.0], 400))
reported = np.maximum(true, limit)
below = reported <= limit
print(f"{below.mean():.0%} of the samples are below their limit")

# %%
# Three ways
# ----------
#
# Replace by half the limit, assume a normal distribution (Tobit), or estimate quantiles without assuming a
# shape.

from sklearn.linear_model import LinearRegression

from unmet import CensoredQuantileRegressor, LinearCensoredQuantiles, TobitRegressor

X = distance[:, None]
halved = np.where(below, limit + np.log(0.5), reported)
substituted = LinearRegression().fit(X, halved)
tobit = TobitRegressor(side="left", random_state=0).fit(X, reported, threshold=limit)
quantiles = CensoredQuantileRegressor(side="left", random_state=0).fit(X, reported, threshold=limit)

ends = np.array([[0.0], [10.0]])
print("truth          ", 1.4, -2.6)
print("half the limit ", substituted.predict(ends).round(2))
print("Tobit          ", tobit.predict(ends).round(2))
print("quantiles      ", quantiles.predict(ends).round(2))

# %%
# Substitution makes the river look dirtier far from the source, because it cannot fall below half the limit.

line = np.linspace(0, 10, 50)[:, None]
low, middle, high = quantiles.predict_quantiles(line).T
figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.plot(distance[~below], reported[~below], ".", color="0.6", label="measured")
ax.plot(distance[below], reported[below], "v", color="#d55e00", markersize=4, label="below this limit")
ax.plot(line, 1.4 - 0.4 * line, "k--", label="truth")
ax.plot(line, middle, color="#0072b2", label="median")
ax.fill_between(line[:, 0], low, high, color="#0072b2", alpha=0.15, label="90% interval")
ax.plot(line, substituted.predict(line), ":", color="#d55e00", label="half the limit")
ax.set(xlabel="distance from the source (km)", ylabel="log concentration")
ax.legend(frameon=False, ncols=2)
plt.show()

# %%
# From the laboratory's file
# --------------------------
#
# Files often say ``<0.5`` where a value is below its limit, and nothing about the limits of the others. Take
# the sign off, and say with ``censored=`` which rows had it. ``complete`` then gives values in place of the
# bounds. Draw several, so that means of concentrations (not of their logs) are right too.

import pandas as pd

texts = [f"<{np.exp(cap):.1f}" if cut else f"{np.exp(v):.3f}" for v, cap, cut in zip(reported, limit, below)]
file = pd.DataFrame({"km": distance, "lead": texts})

flag = file["lead"].str.startswith("<")
y = np.log(file["lead"].str.lstrip("<").astype(float))
model = TobitRegressor(side="left", random_state=0).fit(file[["km"]], y, censored=flag)
drawn = np.exp(model.complete(file[["km"]], y, censored=flag, n_draws=50, random_state=0)).mean(axis=1)
far = file["km"] > 5
table = pd.DataFrame({"estimated": drawn, "half the limit": np.exp(halved), "true": np.exp(true)})
print(table.groupby(np.where(far, "beyond 5 km", "up to 5 km")).mean().round(2))

# %%
# Standard errors
# ---------------
#
# For a straight line with standard errors use the exact estimator. It needs no training and prints a table.

exact = LinearCensoredQuantiles(
    method="powell", side="left", quantiles=(0.5, 0.9), n_bootstrap=200, random_state=0
)
print(exact.fit(X, reported, threshold=limit).summary())

# %%
# Which one?
# ----------
#
# - Errors close to normal, few rows: ``TobitRegressor``.
# - A straight line and standard errors for a report: ``LinearCensoredQuantiles``.
# - Curves, many columns, unequal spread, intervals: ``CensoredQuantileRegressor``.
#
# More in :doc:`/explanation/which-method`. If more than half of the samples near some distance are below
# the limit, the median there rests on the line, not on data.
