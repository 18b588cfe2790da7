"""
Ten minutes with a censored target
==================================

A shop sells what it has. A bike stand rents what stands there. When the shelf is empty the records stop,
and the records then say less than people wanted. Such a target is *censored*: in some rows you know only
that the true value is at least what you saw.

This tutorial fits a model to such data, in the way you know from scikit-learn. You need NumPy and ``pip
install unmet``.
"""

# %%
# Data with a cap
# ---------------
#
# 2,000 days at a bike stand. ``wanted`` is what people wanted. Nobody records it; we keep it to check the
# answer later. ``bikes`` is what stood there, and ``rides`` is all that the records show.

import matplotlib.pyplot as plt
import numpy as np

rng = np.random.default_rng(0)
temperature = rng.uniform(-1, 1, 2000)
wanted = 12 + 6 * temperature + rng.normal(0, 3 + temperature, 2000)
bikes = rng.integers(5, 22, 2000).astype(float)
rides = np.minimum(wanted, bikes)

print(f"ran out on {np.mean(wanted >= bikes):.0%} of the days")
print(f"seen {rides.mean():.2f} rides a day, wanted {wanted.mean():.2f}")

# %%
# What goes wrong without care
# ----------------------------
#
# A plain model learns what was sold. Leaving out the days that ran out is worse: these are the busy days.

from sklearn.linear_model import LinearRegression

X = temperature[:, None]
open_days = rides < bikes
plain = LinearRegression().fit(X, rides)
dropped = LinearRegression().fit(X[open_days], rides[open_days])
for name, model in {"all days": plain, "only days with bikes left": dropped}.items():
    print(f"{name}: {model.predict(X).mean():.2f}")

# %%
# A model that knows about the cap
# --------------------------------
#
# Tell ``fit`` where each row was, or would have been, cut off. The loss then asks a prediction above the
# cap for nothing more: the row says "at least this many".

from unmet import CensoredQuantileRegressor

model = CensoredQuantileRegressor(random_state=0).fit(X, rides, threshold=bikes)
print(f"recovered {model.predict(X).mean():.2f} of {wanted.mean():.2f}")

# %%
# The answer is a distribution: ``predict`` gives its median, ``predict_quantiles`` the 5%, 50% and 95%
# quantiles, and ``predict_interval`` the two ends of an interval.

line = np.linspace(-1, 1, 100)[:, None]
low, middle, high = model.predict_quantiles(line).T

figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.plot(temperature[open_days], rides[open_days], ".", color="0.6", markersize=3, label="seen: all who came")
ax.plot(
    temperature[~open_days], rides[~open_days], "^", color="#d55e00", markersize=3, label="seen: at least"
)
ax.fill_between(line[:, 0], low, high, color="#0072b2", alpha=0.2, label="90% interval")
ax.plot(line, middle, color="#0072b2", label="median of demand")
ax.plot(line, 12 + 6 * line, "k--", label="true median")
ax.plot(line, plain.predict(line), ":", color="#d55e00", label="plain regression")
ax.set(xlabel="temperature (scaled)", ylabel="rides a day")
ax.legend(frameon=False, ncols=2, loc="upper left")
plt.show()

# %%
# Do the intervals hold?
# ----------------------
#
# Here we know the truth, so we can count. With real data you cannot; :doc:`plot_6_calibration` shows what
# you can do.

low, high = model.predict_interval(X, 0.9).T
print(f"{np.mean((wanted >= low) & (wanted <= high)):.1%} of the true values are inside the 90% intervals")

# %%
# If you do not know the cap
# --------------------------
#
# Perhaps you know only *which* days ran out. Give flags instead. This asks for more: running out must be
# unrelated to demand, given the columns of ``X``.

flagged = CensoredQuantileRegressor(random_state=0).fit(X, rides, censored=~open_days)
print(f"recovered from flags alone {flagged.predict(X).mean():.2f}")

# %%
# Where next
# ----------
#
# - Sales and stock: :doc:`plot_2_lost_sales`.
# - Values below a detection limit: :doc:`plot_3_detection_limits`.
# - Trips of a bike or scooter service: :doc:`plot_4_one_city`.
# - Pipelines, searches and saving: :doc:`/how-to/scikit-learn`.
# - What no method can know: :doc:`/explanation/not-identified`.
