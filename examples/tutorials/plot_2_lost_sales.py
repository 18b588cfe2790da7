"""
Retail: how many sales were lost?
=================================

A shop records units sold and the stock in the morning. On days when the shelf ran empty, demand was *at
least* the stock. We estimate what people wanted, add up the lost sales, and set the stock for the coming
week.

You need ``pip install 'unmet[report,plots]'`` and pandas.
"""

# %%
# Sales and stock
# ---------------
#
# Forty products over twelve weeks, with promotions. In your own table the columns would come from a file;
# here we draw them, so that we can compare with the truth in the end.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

rng = np.random.default_rng(7)
days = pd.date_range("2026-01-05", periods=84)
table = pd.MultiIndex.from_product([range(40), days], names=["product", "day"]).to_frame(index=False)
size = rng.lognormal(2.4, 0.4, 40)[table["product"]]
table["promotion"] = (rng.random(len(table)) < 0.15).astype(float)
table["saturday"] = (table["day"].dt.day_of_week == 5).astype(float)
table["usual"] = size  # for instance the mean of last year
mean = size * np.exp(0.5 * table["promotion"] + 0.3 * table["saturday"])
wanted = rng.negative_binomial(8, 8 / (8 + mean))
table["stock"] = np.round(size * rng.uniform(0.8, 2.2, len(table)))
table["sold"] = np.minimum(wanted, table["stock"])
table["ran_out"] = table["sold"] >= table["stock"]
print(table.head())
print(f"ran out: {table['ran_out'].mean():.0%} of the product-days")

# %%
# Fit demand
# ----------
#
# ``threshold=`` is the stock of each row. Demand grows with the size of the product, and so does its
# spread, so we model sales relative to the usual level.

from unmet import CensoredQuantileRegressor

columns = ["promotion", "saturday"]
X = table[columns].to_numpy(float)
levels = (0.01, 0.05, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99)
model = CensoredQuantileRegressor(quantiles=levels, random_state=0)
model.fit(X, table["sold"] / table["usual"], threshold=table["stock"] / table["usual"])

# %%
# Lost sales
# ----------
#
# Where the shelf ran out, demand is known to lie above the stock. Its expected value is the average of the
# quantiles that do. The total comes out a little low here, because the levels end at 99%.

grid = np.linspace(0.01, 0.99, 99)
curves = model.predict_quantiles(X, grid) * table["usual"].to_numpy()[:, None]
stock = table["stock"].to_numpy()
above = np.maximum(curves - stock[:, None], 0)
reached = curves > stock[:, None]
with np.errstate(invalid="ignore"):
    expected = np.where(reached.any(axis=1), above.sum(axis=1) / reached.sum(axis=1), 0.0)
lost = np.where(table["ran_out"], expected, 0.0)
true_lost = wanted - table["sold"].to_numpy()
print(f"sold {table['sold'].sum():,.0f}, estimated lost {lost.sum():,.0f}, truly lost {true_lost.sum():,.0f}")

# %%
# Which products lost most? The ranking matters more to a buyer than the total.

by_product = pd.DataFrame({"estimated": lost, "true": true_lost}).groupby(table["product"]).sum()
figure, ax = plt.subplots(figsize=(5, 4.4), layout="constrained")
ax.plot(by_product["true"], by_product["estimated"], "o", color="#0072b2")
top = by_product.to_numpy().max() * 1.05
ax.plot([0, top], [0, top], color="0.6", linewidth=1)
ax.set(xlabel="sales truly lost, by product", ylabel="estimated")
plt.show()

# %%
# How much to stock
# -----------------
#
# If a lost sale costs three times as much as a unit left over, hold the 75% quantile of demand: the
# newsvendor's rule.

from unmet.planning import newsvendor_level, stock_target

level = newsvendor_level(cost_lost=3, cost_idle=1)
week = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])  # a plain day, a promotion, a Saturday
demand = model.predict_quantiles(week) * 12  # a product that usually sells 12
print(f"hold the {level:.0%} quantile:", stock_target(demand, levels, level).stock)

# %%
# The same table as a page
# ------------------------
#
# If the table has one row for each product and day, ``unmet.run`` makes everything in one call: demand and
# lost sales with intervals for each product and day, a forecast, tests of the intervals, and a page to send
# around. It needs no columns but the counts and the stock; promotions of single products are not used.
# See :doc:`/how-to/your-panel`.

import tempfile

import unmet

names = {"unique_id": "product", "ds": "day", "y": "sold", "threshold": "stock"}
run = unmet.run(
    panel=table[list(names.values())],
    columns=names,
    noun="sales",
    network="linear",
    progress=False,
    output=f"{tempfile.mkdtemp()}/sales",
)
print(run.summary())
print("page:", run.page.name)

# %%
# What to keep in mind
# --------------------
#
# - The stock must be set before demand is known. If the shop restocks in the afternoon *because* the shelf
#   is empty, the morning's stock is no longer the cap.
# - A customer who takes another product instead shows up there as demand.
# - Above the largest stock that you ever had, the data are silent: see :doc:`/explanation/not-identified`.
